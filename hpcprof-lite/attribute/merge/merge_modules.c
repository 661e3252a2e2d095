/* SPDX-License-Identifier: BSD-3-Clause */
/* See merge_modules.h. Test: tests/unit/prof/test_merge.c. */
#include "hpcprof-lite/attribute/merge/merge_modules.h"

#include <string.h>

static bool same_module(const struct msr_module *a, const char *a_path, const struct msr_module *b,
			const char *b_path)
{
	if (a->build_id_bytes != b->build_id_bytes)
		return false;
	if (a->build_id_bytes)
		return memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
	return a->file_bytes == b->file_bytes &&
	       msr_module_content(a) == msr_module_content(b) && strcmp(a_path, b_path) == 0;
}

uint32_t merge_add_module(struct merge_modules *all, const struct load_module *m)
{
	const struct msr_module *r = m->record;
	uint64_t hash = r->build_id_bytes ? hash_bytes(r->build_id, r->build_id_bytes)
					  : hash_bytes(m->path, strlen(m->path)) + r->file_bytes;
	/* The map knows only hashes. Modules with equal hashes take the next free second word. */
	for (uint64_t probe = 0;; probe++) {
		uint64_t id = map_put(&all->by_identity, hash, probe, all->list.n);
		if (id == MAP_NONE)
			return UINT32_MAX;
		if (id == all->list.n) {
			struct merge_module *new = vec_push(&all->list);
			if (!new)
				return UINT32_MAX;
			*new = (struct merge_module){r, m->path, r->flags};
			return (uint32_t)id;
		}
		struct merge_module *old = &all->list.at[id];
		if (!same_module(old->record, old->path, r, m->path))
			continue;
		old->flags |= r->flags;
		if (strcmp(m->path, old->path) < 0) {
			old->path = m->path;
			old->record = r;
		}
		return (uint32_t)id;
	}
}

void merge_free_modules(struct merge_modules *all)
{
	vec_free(&all->list);
	map_free(&all->by_identity);
}
