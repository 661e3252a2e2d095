/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of OpenMP's run time in host code. Its exported functions end in jumps to hidden functions,
 * so they leave no frame: GOMP_barrier of a stripped libgomp is never on a call path. But the call
 * instruction shows which function was called. x86-64; only calls through the PLT. Test:
 * tests/cli/struct/struct_openmp.sh.
 */
#include "hpcstruct-lite/scope/scope_internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_BYTES = 5 }; /* e8 rel32 */

static bool is_wanted(const struct image_stub *s)
{
	return (s->target_bytes > 5 && memcmp(s->target, "GOMP_", 5) == 0) ||
	       (s->target_bytes > 4 && memcmp(s->target, "omp_", 4) == 0);
}

static int compare_stubs(const void *a, const void *b)
{
	const struct image_stub *x = a, *y = b;
	return x->link_addr < y->link_addr ? -1 : x->link_addr > y->link_addr;
}

static bool is_stub(const struct image_stubs *stubs, uint64_t link_addr)
{
	const struct image_stub key = {.link_addr = link_addr};
	return bsearch(&key, stubs->at, stubs->n, sizeof *stubs->at, compare_stubs) != NULL;
}

/*
 * Examines every byte. Bytes that only look like a call do no harm, because call paths contain only
 * addresses of real calls.
 */
static enum status read_code(struct scope_map *map, const struct image_section *s, uint64_t start,
			     uint64_t n_bytes, const struct image_stubs *stubs)
{
	const uint8_t *at = s->bytes + (start - s->link_addr), *end = at + n_bytes;
	if (s->n_bytes < CALL_BYTES)
		return STATUS_OK;
	if (end > s->bytes + s->n_bytes - (CALL_BYTES - 1))
		end = s->bytes + s->n_bytes - (CALL_BYTES - 1);
	while (at < end && (at = memchr(at, 0xe8, (size_t)(end - at)))) {
		int32_t distance;
		memcpy(&distance, at + 1, sizeof distance);
		const uint64_t link_addr = s->link_addr + (uint64_t)(at - s->bytes),
			       target = link_addr + CALL_BYTES + (uint64_t)(int64_t)distance;
		if (is_stub(stubs, target) && scope_add_call(map, link_addr, target) != STATUS_OK)
			return STATUS_NO_MEMORY;
		at++;
	}
	return STATUS_OK;
}

/* Reads a section. If the map will be narrowed, code that has a scope is enough. */
static enum status read_section(struct scope_map *map, const struct image_section *s,
				const struct image_stubs *stubs)
{
	enum status status = STATUS_OK;
	const struct scope_intervals *v = &map->intervals;
	if (!map->is_to_narrow)
		return read_code(map, s, s->link_addr, s->n_bytes, stubs);
	for (size_t i = 0; i + 1 < v->n && status == STATUS_OK; i++) {
		uint64_t start = image_address(map->image, v->at[i].offset),
			 end = start + (v->at[i + 1].offset - v->at[i].offset),
			 last = s->link_addr + s->n_bytes;
		start = start > s->link_addr ? start : s->link_addr;
		end = end < last ? end : last;
		if (v->at[i].scope != SCOPE_NONE && start < end)
			status = read_code(map, s, start, end - start, stubs);
	}
	return status;
}

bool scope_read_library_calls(struct scope_map *map, const struct image_stubs *all)
{
	const struct image *image = map->image;
	struct image_stubs wanted = {0};
	bool ok = true;
	for (size_t i = 0; i < all->n && ok; i++) {
		struct image_stub *s = is_wanted(&all->at[i]) ? vec_push(&wanted) : NULL;
		if (s)
			*s = all->at[i];
		ok = s || !is_wanted(&all->at[i]);
	}
	if (wanted.n > 1)
		qsort(wanted.at, wanted.n, sizeof *wanted.at, compare_stubs);
	for (size_t i = 0; i < image->sections.n && wanted.n > 0 && ok; i++) {
		const struct image_section *s = &image->sections.at[i];
		if ((s->flags & SHF_EXECINSTR) && s->bytes)
			ok = read_section(map, s, &wanted) == STATUS_OK;
	}
	vec_free(&wanted);
	return ok;
}
