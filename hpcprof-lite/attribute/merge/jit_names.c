/* SPDX-License-Identifier: BSD-3-Clause */
/* See jit_names.h. Tests: tests/unit/prof/test_jit.c, tests/cli/jit/jit_names.sh. */
#include "hpcprof-lite/attribute/merge/jit_names.h"

#include "hpcprof-lite/attribute/merge/merge_modules.h"
#include "hpcprof-lite/load/jit/load_jit.h"
#include "hpcprof-lite/model/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Places by number. A place's number is its index and also its link address in the logical module.
 */
struct jit_part {
	VEC(struct jit_place) places;
	struct map by_identity;
};

struct candidate {
	uint64_t time_ns, index;
	uint32_t place;
};

struct namer {
	struct jit_part *part;
	struct strtab *strings; /* of the model */
	struct load_file *file;
	struct jit_names names;
	struct jit_addresses addresses;
	uint64_t addr;          /* the address that is being looked up */
	VEC(struct candidate) candidates;
	bool failed;
};

static uint32_t copy_string(struct namer *r, uint32_t id)
{
	uint32_t copy = strtab_add_z(r->strings, strtab_get(&r->names.strings, id));
	r->failed |= copy == STRTAB_FAILED;
	return copy;
}

static uint32_t get_place(struct namer *r, const struct jit_place *place)
{
	struct jit_part *p = r->part;
	uint64_t id = map_put(&p->by_identity, (uint64_t)place->name << 32 | place->file,
			      place->line, p->places.n);
	if (id == p->places.n) {
		struct jit_place *to = p->places.n < JIT_NO_PLACE ? vec_push(&p->places) : NULL;
		if (to)
			*to = *place;
		r->failed |= !to;
	}
	r->failed |= id == MAP_NONE;
	return r->failed ? JIT_NO_PLACE : (uint32_t)id;
}

static bool add_candidate(void *arg, const struct jit_code *code)
{
	struct namer *r = arg;
	struct jit_place place = {.name = copy_string(r, code->name), .file = JIT_NO_FILE};
	if (jit_line_at(&r->names, code, r->addr, &place.file, &place.line))
		place.file = copy_string(r, place.file);
	struct candidate *c = r->failed ? NULL : vec_push(&r->candidates);
	if (c)
		*c = (struct candidate){code->time_ns, code->index, get_place(r, &place)};
	r->failed |= !c;
	return !r->failed;
}

static int compare_candidates(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* Drops candidates that equal the one before. */
static void drop_repeated(struct namer *r)
{
	size_t kept = 0;
	for (size_t i = 0; i < r->candidates.n; i++)
		if (kept == 0 || r->candidates.at[i].place != r->candidates.at[kept - 1].place)
			r->candidates.at[kept++] = r->candidates.at[i];
	r->candidates.n = kept;
}

static const char *name_of(const struct namer *r, size_t candidate)
{
	return strtab_get(r->strings, r->part->places.at[r->candidates.at[candidate].place].name);
}

/* Finds the other names by time, each once and at most two of them. Returns how many there are. */
static size_t other_names(const struct namer *r, size_t *first_other)
{
	size_t n = 0;
	for (size_t i = 1; i < r->candidates.n; i++) {
		uint32_t name = r->part->places.at[r->candidates.at[i].place].name;
		bool seen = false;
		for (size_t k = 0; k < i && !seen; k++)
			seen = r->part->places.at[r->candidates.at[k].place].name == name;
		if (!seen && n++ == 0)
			*first_other = i;
	}
	return n;
}

/* Names a place that may be in several functions: "f or g", "f or one of 3 others". */
static uint32_t unsure_place(struct namer *r)
{
	size_t other = 0, n = r->candidates.n <= 64 ? other_names(r, &other) : r->candidates.n - 1;
	char *name = NULL;
	int length;
	if (n == 0)
		return get_place(r, &(struct jit_place){.file = JIT_NO_FILE,
			.name = r->part->places.at[r->candidates.at[0].place].name});
	if (n == 1)
		length = asprintf(&name, "%s or %s", name_of(r, 0), name_of(r, other));
	else
		length = asprintf(&name, "%s or one of %zu others", name_of(r, 0), n);
	struct jit_place place = {.name = length < 0 ? STRTAB_FAILED
						     : strtab_add_z(r->strings, name),
				  .file = JIT_NO_FILE};
	if (length >= 0)
		free(name);
	r->failed |= place.name == STRTAB_FAILED;
	return r->failed ? JIT_NO_PLACE : get_place(r, &place);
}

static bool add_choices(struct namer *r, struct jit_address *a)
{
	a->first_choice = (uint32_t)r->addresses.choices.n;
	for (size_t i = 0; i < r->candidates.n; i++) {
		struct jit_choice *c = r->addresses.choices.n < UINT32_MAX
					       ? vec_push(&r->addresses.choices)
					       : NULL;
		if (!c)
			return false;
		*c = (struct jit_choice){r->candidates.at[i].time_ns, r->candidates.at[i].place};
	}
	a->n_choices = (uint32_t)r->candidates.n;
	return true;
}

/* Searches the perf map only if the jitdump has nothing, because the jitdump knows more. */
static void find_candidates(struct namer *r)
{
	jit_find(&r->names.dump, r->addr, add_candidate, r);
	if (r->candidates.n == 0)
		jit_find(&r->names.map, r->addr, add_candidate, r);
}

static bool look_up(struct namer *r, struct jit_address *a)
{
	vec_clear(&r->candidates);
	find_candidates(r);
	if (r->candidates.n == 0) {
		r->addr |= MSR_ADDR_MARK; /* what a record cannot hold of an address of aarch64 */
		find_candidates(r);
	}
	if (r->failed || r->candidates.n == 0)
		return !r->failed;
	if (r->candidates.n > 1)
		qsort(r->candidates.at, r->candidates.n, sizeof *r->candidates.at,
		      compare_candidates);
	drop_repeated(r);
	a->place = r->candidates.at[0].place;
	if (r->candidates.n == 1)
		return true;
	a->place = unsure_place(r);
	return !r->failed && (r->candidates.at[0].time_ns == 0 || add_choices(r, a));
}

static bool note_address(struct namer *r, uint64_t addr)
{
	uint64_t id = map_put(&r->addresses.ids, addr, 0, r->addresses.list.n);
	if (id != r->addresses.list.n)
		return id != MAP_NONE;
	struct jit_address a = {.place = JIT_NO_PLACE}, *to;
	r->addr = addr;
	if (!look_up(r, &a) || !(to = vec_push(&r->addresses.list)))
		return false;
	*to = a;
	return true;
}

static bool note_addresses(struct namer *r, const struct load_thread *t)
{
	for (size_t p = 0; p < t->nodes.n; p++) {
		const struct msr_node *nodes = (const void *)t->nodes.at[p].content;
		for (size_t i = 0; i < t->nodes.at[p].n_bytes / sizeof *nodes; i++)
			if (msr_addr_module(nodes[i].addr) == MSR_MODULE_UNKNOWN
				&& !note_address(r, msr_addr_link(nodes[i].addr)))
				return false;
	}
	return true;
}

/* Adds the logical module to the file's table. */
static bool add_module(struct namer *r, struct model *m)
{
	struct msr_module *record = model_own(m, calloc(1, sizeof *record));
	struct load_module *module = record ? vec_push(&r->file->modules) : NULL;
	if (!module)
		return false;
	record->flags = JIT_MODULE;
	*module = (struct load_module){record, JIT_MODULE_NAME};
	r->addresses.module = (uint16_t)(r->file->modules.n - 1);
	return true;
}

static bool name_file(struct namer *r, struct model *m)
{
	bool ok = jit_load(r->file, &r->names);
	if (!ok || (r->names.dump.n == 0 && r->names.map.n == 0)
		|| r->file->modules.n >= MSR_MODULE_UNKNOWN)
		return ok;
	if (r->file->modules.n == 0 && !vec_push(&r->file->modules)) /* id 0 means no module */
		return false;
	for (size_t i = 0; ok && i < r->file->threads.n; i++)
		ok = note_addresses(r, &r->file->threads.at[i]);
	ok = ok && add_module(r, m);
	for (size_t i = 0; ok && i < r->file->threads.n; i++)
		ok = jit_rename_nodes(r->file, &r->file->threads.at[i], &r->addresses);
	return ok;
}

static bool name_all(void *state, struct topic_run *run)
{
	bool ok = true;
	for (size_t i = 0; ok && i < run->job->files.n; i++) {
		struct namer r = {.part = state,
				  .strings = &run->m->private_->strings,
				  .file = &run->job->files.at[i]};
		if (!r.file->has_unknown_code)
			continue;
		ok = name_file(&r, run->m);
		jit_names_free(&r.names);
		map_free(&r.addresses.ids);
		vec_free(&r.addresses.list);
		vec_free(&r.addresses.choices);
		vec_free(&r.candidates);
	}
	return ok;
}

static bool give_places(void *state, struct topic_run *r)
{
	const struct jit_part *p = state;
	r->modules->jit = p->places.at;
	r->modules->n_jit = p->places.n;
	return true;
}

static void close_jit(void *state)
{
	struct jit_part *p = state;
	vec_free(&p->places);
	map_free(&p->by_identity);
}

const struct topic_ops topic_jit = {.state_bytes = sizeof(struct jit_part),
				    .steps = {[TOPIC_OPEN] = name_all, [TOPIC_NAME] = give_places},
				    .close = close_jit};
