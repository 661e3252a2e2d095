/* SPDX-License-Identifier: BSD-3-Clause */
/* See gen_structure.h. One region from the first interval to the last. */
#include "tests/gen/gen_structure.h"

#include "common/base/strtab.h"
#include "common/format/structure_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BINARY_BYTES = 4096 }; /* as gen_module() says of every module */

struct gen_structure {
	VEC(char) strings;
	VEC(uint32_t) files;
	VEC(struct structure_definition_record) definitions;
	VEC(struct structure_scope_record) scopes;
	VEC(struct structure_interval_record) intervals;
	VEC(struct structure_call_record) calls;
	VEC(struct structure_resources_record) resources;
	VEC(struct structure_wait_record) waits;
	VEC(struct structure_cause_record) causes;
	struct structure_region_record region;
	char *binary;
	uint8_t build_id[STRUCTURE_BUILD_ID_MAX];
	size_t build_id_bytes;
	bool has_lines;
};

static void *check(void *p)
{
	if (!p) {
		fprintf(stderr, "gen_structure: out of memory\n");
		exit(99);
	}
	return p;
}

static void must(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "gen_structure: %s: %s\n", what, strerror(errno));
		exit(99);
	}
}

static uint32_t add_string(struct gen_structure *s, const char *text)
{
	if (!*text)
		return 0;
	uint32_t at = (uint32_t)s->strings.n;
	size_t n = strlen(text) + 1;
	memcpy(check(vec_extend(&s->strings, n)), text, n);
	return at;
}

struct gen_structure *gen_structure_new(const char *binary, const uint8_t *build_id,
					size_t build_id_bytes)
{
	struct gen_structure *s = check(calloc(1, sizeof *s));
	check(vec_push(&s->strings));
	s->binary = check(strdup(binary));
	s->build_id_bytes = build_id_bytes;
	if (build_id_bytes)
		memcpy(s->build_id, build_id, build_id_bytes);
	return s;
}

uint32_t gen_structure_file(struct gen_structure *s, const char *path)
{
	*(uint32_t *)check(vec_push(&s->files)) = add_string(s, path);
	return (uint32_t)s->files.n - 1;
}

uint32_t gen_structure_definition(struct gen_structure *s, const char *name, uint32_t file,
				  uint32_t line)
{
	struct structure_definition_record *d = check(vec_push(&s->definitions));
	*d = (struct structure_definition_record){add_string(s, name), 0, file, line};
	return (uint32_t)s->definitions.n - 1;
}

static uint32_t add_scope(struct gen_structure *s, struct structure_scope_record r)
{
	*(struct structure_scope_record *)check(vec_push(&s->scopes)) = r;
	return (uint32_t)s->scopes.n - 1;
}

uint32_t gen_structure_function(struct gen_structure *s, uint32_t definition, uint64_t entry)
{
	return add_scope(s, (struct structure_scope_record){.kind = STRUCTURE_FUNCTION,
							    .parent = STRUCTURE_NONE,
							    .definition = definition,
							    .call_file = STRUCTURE_NONE,
							    .entry = entry});
}

uint32_t gen_structure_inline(struct gen_structure *s, uint32_t parent, uint32_t definition,
			      uint32_t call_file, uint32_t call_line, uint64_t entry)
{
	return add_scope(s, (struct structure_scope_record){.kind = STRUCTURE_INLINE,
							    .parent = parent,
							    .definition = definition,
							    .call_file = call_file,
							    .call_line = call_line,
							    .entry = entry});
}

uint32_t gen_structure_loop(struct gen_structure *s, uint32_t parent, uint32_t file, uint32_t line,
			    uint64_t entry)
{
	uint32_t definition = gen_structure_definition(s, "", file, line);
	return add_scope(s, (struct structure_scope_record){.kind = STRUCTURE_LOOP,
							    .parent = parent,
							    .definition = definition,
							    .call_file = STRUCTURE_NONE,
							    .entry = entry});
}

void gen_structure_interval(struct gen_structure *s, uint64_t start, uint32_t scope, uint32_t file,
			    uint32_t line)
{
	if (!s->intervals.n)
		s->region.start = start;
	s->region.n_bytes = start + 16 - s->region.start;
	s->has_lines |= line != 0;
	/* a gap of no length gives way to what follows it */
	struct structure_interval_record *last =
		s->intervals.n ? &s->intervals.at[s->intervals.n - 1] : NULL;
	struct structure_interval_record *i = last && last->offset == start - s->region.start
						      ? last
						      : check(vec_push(&s->intervals));
	*i = (struct structure_interval_record){(uint32_t)(start - s->region.start), scope, file,
						line};
}

void gen_structure_call(struct gen_structure *s, uint64_t at, uint32_t target)
{
	struct structure_call_record *c = check(vec_push(&s->calls));
	c->link_addr = at;
	c->target = target;
}

void gen_structure_wait(struct gen_structure *s, uint64_t at)
{
	struct structure_wait_record *w = check(vec_push(&s->waits));
	w->link_addr = (uint32_t)at;
	w->first = (uint32_t)s->causes.n;
}

void gen_structure_cause(struct gen_structure *s, const struct structure_cause *c)
{
	struct structure_cause_record *r = check(vec_push(&s->causes));
	*r = (struct structure_cause_record){
		.link_addr = (uint32_t)c->link_addr,
		.cycles = (uint16_t)c->cycles,
		.operation =
			(uint8_t)(c->operation | (c->is_chained ? STRUCTURE_CAUSE_CHAINED : 0)),
		.flags = (uint8_t)(c->kind | (c->is_used ? STRUCTURE_CAUSE_USED : 0) |
				   (c->is_carried ? STRUCTURE_CAUSE_CARRIED : 0) |
				   ffs((int)c->bytes) << STRUCTURE_CAUSE_BYTES)};
}

static void write_file(const char *path, const struct structure_content *c)
{
	struct structure_pieces pieces;
	structure_lay_out(c, &pieces);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	must(fd >= 0, path);
	for (int i = 0; i < pieces.n; i++)
		must(write(fd, pieces.at[i].iov_base, pieces.at[i].iov_len) ==
			     (ssize_t)pieces.at[i].iov_len,
		     path);
	must(close(fd) == 0, path);
}

void gen_structure_kernel(struct gen_structure *s, uint32_t function)
{
	struct structure_resources_record *r = check(vec_push(&s->resources));
	*r = (struct structure_resources_record){.scope = function,
						 .flags = STRUCTURE_RESOURCES_KERNEL};
}

char *gen_structure_close(struct gen_structure *s, const char *directory)
{
	char *path, key[STRUCTURE_KEY_BYTES];
	must(asprintf(&path, "%s/structs", directory) > 0 &&
		     (mkdir(path, 0777) == 0 || errno == EEXIST),
	     directory);
	free(path);
	structure_key(key, s->build_id, s->build_id_bytes, s->binary, BINARY_BYTES, 0, 0);
	must(asprintf(&path, "%s/structs/%s" STRUCTURE_SUFFIX, directory, key) > 0, directory);
	s->region.n_intervals = (uint32_t)s->intervals.n;
	struct structure_content c = {
		.fingerprint = 1,
		.flags = s->has_lines ? STRUCTURE_FLAG_LINES | STRUCTURE_FLAG_DWARF : 0,
		.binary = add_string(s, s->binary),
		.producer = add_string(s, "gen_structure"),
		.build_id = s->build_id, .build_id_bytes = s->build_id_bytes,
		.binary_bytes = BINARY_BYTES,
		.strings = s->strings.at, .strings_bytes = s->strings.n,
		.files = s->files.at, .n_files = s->files.n,
		.definitions = s->definitions.at, .n_definitions = s->definitions.n,
		.scopes = s->scopes.at, .n_scopes = s->scopes.n,
		.regions = &s->region, .n_regions = s->intervals.n ? 1 : 0,
		.intervals = s->intervals.at, .n_intervals = s->intervals.n,
		.calls = s->calls.at, .n_calls = s->calls.n,
		.resources = s->resources.at, .n_resources = s->resources.n,
		.waits = s->waits.at, .n_waits = s->waits.n,
		.causes = s->causes.at, .n_causes = s->causes.n,
	};
	write_file(path, &c);
	vec_free(&s->strings);
	vec_free(&s->files);
	vec_free(&s->definitions);
	vec_free(&s->scopes);
	vec_free(&s->intervals);
	vec_free(&s->calls);
	vec_free(&s->resources);
	vec_free(&s->waits);
	vec_free(&s->causes);
	free(s->binary);
	free(s);
	return path;
}
