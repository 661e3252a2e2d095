/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jitdumps (Linux, tools/perf/Documentation/jitdump-specification.txt, version 1). A record of
 * lines comes before the record of the code that it describes. The reader handles these quirks of
 * real programs:
 * - V8 and LLVM add 64 to all addresses of lines, the size of the ELF header that `perf inject`
 *   adds before the code.
 * - V8 (node 20) writes file names from memory that it has freed: these lines are garbage and are
 *   left out.
 * - V8 writes bytecode offsets instead of lines for interpreted and baseline-compiled code: these
 *   are left out, too.
 * - V8's header has the time of day in microseconds; only the times of records are used.
 * Tests: tests/unit/prof/test_jit.c, tests/fuzz/fuzz_jit.c.
 */
#include "hpcprof-lite/load/jit/load_jit.h"

#include "common/base/cursor.h"
#include "common/base/map.h"

#include <ctype.h>
#include <string.h>

#define DUMP_MAGIC 0x4A695444u
enum { DUMP_VERSION = 1, HEADER_BYTES = 40, FLAG_ARCH_TIMESTAMP = 1, NAME_BYTES_MAX = 4096,
	PADDING_MAX = 8 };
enum record_kind { RECORD_LOAD = 0, RECORD_MOVE = 1, RECORD_DEBUG_INFO = 2, RECORD_CLOSE = 3 };

struct reader {
	struct jit_names *names;
	bool has_times;
	uint64_t lines_of;          /* code address of the last record of lines */
	uint32_t first_line, n_lines;
	uint64_t least_distance;    /* distance of a code's first line from its start */
	struct map by_number;       /* (number, address) -> code in names->dump */
};

static bool is_plain_text(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	return true;
}

/*
 * The id of a file's name, or JIT_NO_FILE with *ok false if memory is short. "file:" URLs of V8
 * become paths.
 */
static uint32_t file_id(struct jit_names *names, const char *name, bool *ok)
{
	static const char url[] = "file:///";
	if (strncmp(name, url, sizeof url - 1) == 0)
		name += sizeof url - 2;
	uint32_t id = strtab_add_z(&names->strings, name);
	*ok = id != STRTAB_FAILED;
	return *ok ? id : JIT_NO_FILE;
}

/*
 * Appends the lines of one record. False: the record is damaged, and the caller removes the lines.
 * If memory is short, also sets *ok to false.
 */
static bool read_lines(struct reader *r, struct cursor *c, uint64_t n_entries, uint64_t code_addr,
	bool *ok)
{
	uint64_t last = code_addr;
	uint32_t file = JIT_NO_FILE;
	for (uint64_t i = 0; i < n_entries; i++) {
		uint64_t addr = cursor_u64(c);
		uint32_t line = cursor_u32(c);
		cursor_u32(c); /* column, or discriminator */
		const char *name = cursor_string(c);
		if (!cursor_ok(c) || addr < last || line > INT32_MAX ||
		    strlen(name) > NAME_BYTES_MAX)
			return false;
		bool is_same = strcmp(name, "\xff") == 0 && i > 0;
		if (!is_same && (!name[0] || !is_plain_text(name)))
			return false;
		if (!is_same)
			file = file_id(r->names, name, ok);
		struct jit_line *to =
			*ok && r->names->lines.n < UINT32_MAX ? vec_push(&r->names->lines) : NULL;
		if (!to)
			return *ok = false;
		*to = (struct jit_line){addr, file, line};
		last = addr;
	}
	return cursor_left(c) < PADDING_MAX;
}

static bool read_debug_info(struct reader *r, struct cursor *c)
{
	bool ok = true;
	uint64_t code_addr = cursor_u64(c), n_entries = cursor_u64(c);
	r->first_line = (uint32_t)r->names->lines.n;
	r->n_lines = 0;
	if (!cursor_ok(c) || !read_lines(r, c, n_entries, code_addr, &ok)) {
		r->names->lines.n = r->first_line;
		return ok;
	}
	r->n_lines = (uint32_t)(r->names->lines.n - r->first_line);
	r->lines_of = code_addr;
	return true;
}

/* True for "JS:~f" and "JS:^f": V8 marks code whose lines are bytecode offsets in this way. */
static bool has_bytecode_lines(const char *name)
{
	while (isalpha((unsigned char)*name))
		name++;
	return name[0] == ':' && (name[1] == '~' || name[1] == '^');
}

/* Gives the lines to the next code, if they are inside of it. */
static void take_lines(struct reader *r, struct jit_code *code, const char *name)
{
	uint32_t n = r->lines_of == code->start ? r->n_lines : 0;
	r->n_lines = 0;
	if (n == 0 || has_bytecode_lines(name))
		return;
	const struct jit_line *lines = &r->names->lines.at[r->first_line];
	if (lines[n - 1].addr > code->end + JIT_SHIFT_BYTES)
		return;
	code->first_line = r->first_line;
	code->n_lines = n;
	if (lines[0].addr - code->start < r->least_distance)
		r->least_distance = lines[0].addr - code->start;
}

static struct jit_code *add_code(struct reader *r, const struct jit_code *code)
{
	size_t n = r->names->dump.n;
	struct jit_code *to = map_put(&r->by_number, code->index, code->start, n) != MAP_NONE
		? vec_push(&r->names->dump) : NULL;
	if (to)
		*to = *code;
	return to;
}

static bool read_load(struct reader *r, struct cursor *c, uint64_t time_ns)
{
	cursor_u32(c); /* pid */
	cursor_u32(c); /* tid */
	cursor_u64(c); /* vma */
	uint64_t start = cursor_u64(c), n_bytes = cursor_u64(c), index = cursor_u64(c);
	const char *name = cursor_string(c);
	if (!cursor_ok(c) || n_bytes == 0 || start + n_bytes < start || !name[0])
		return true;
	size_t name_bytes = strnlen(name, NAME_BYTES_MAX);
	uint32_t id = strtab_add(&r->names->strings, name, name_bytes);
	if (id == STRTAB_FAILED)
		return false;
	struct jit_code *code = add_code(r, &(struct jit_code){.start = start,
							       .end = start + n_bytes,
							       .time_ns = time_ns,
							       .name = id,
							       .index = index});
	if (code)
		take_lines(r, code, name);
	return code != NULL;
}

static bool read_move(struct reader *r, struct cursor *c, uint64_t time_ns)
{
	cursor_u32(c);
	cursor_u32(c);
	cursor_u64(c);
	uint64_t from = cursor_u64(c), to = cursor_u64(c), n_bytes = cursor_u64(c),
		index = cursor_u64(c);
	if (!cursor_ok(c) || n_bytes == 0 || to + n_bytes < to)
		return true;
	uint64_t id = map_get(&r->by_number, index, from);
	if (id == MAP_NONE)
		return true;
	/* leaves out the lines, because their addresses are those of the old place */
	return add_code(r, &(struct jit_code){.start = to, .end = to + n_bytes, .time_ns = time_ns,
		.name = r->names->dump.at[id].name, .index = index}) != NULL;
}

static bool read_records(struct reader *r, struct cursor *c)
{
	bool ok = true;
	while (ok && cursor_ok(c) && cursor_left(c) >= 16) {
		uint32_t kind = cursor_u32(c), record_bytes = cursor_u32(c);
		uint64_t time_ns = r->has_times ? cursor_u64(c) : (cursor_u64(c), 0);
		if (record_bytes < 16)
			break;
		struct cursor record =
			cursor_sub(c, record_bytes - 16); /* the last record may be cut off */
		if (!cursor_ok(&record) || kind == RECORD_CLOSE)
			break;
		if (kind == RECORD_LOAD)
			ok = read_load(r, &record, time_ns);
		else if (kind == RECORD_MOVE)
			ok = read_move(r, &record, time_ns);
		else if (kind == RECORD_DEBUG_INFO)
			ok = read_debug_info(r, &record);
	}
	return ok;
}

bool jit_read_dump(struct jit_names *names, const uint8_t *bytes, size_t n_bytes)
{
	struct reader r = {.names = names, .least_distance = UINT64_MAX};
	struct cursor c = cursor_make(bytes, n_bytes);
	bool is_ours = cursor_u32(&c) == DUMP_MAGIC && cursor_u32(&c) == DUMP_VERSION;
	uint32_t header_bytes = cursor_u32(&c);
	cursor_seek(&c, HEADER_BYTES - 8);
	r.has_times = !(cursor_u64(&c) & FLAG_ARCH_TIMESTAMP);
	if (!is_ours || !cursor_ok(&c) || header_bytes < HEADER_BYTES)
		return true;
	cursor_seek(&c, header_bytes);
	bool ok = read_records(&r, &c);
	names->entries_are_shifted = r.least_distance == JIT_SHIFT_BYTES;
	map_free(&r.by_number);
	return ok;
}
