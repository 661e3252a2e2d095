/* SPDX-License-Identifier: BSD-3-Clause */
/* See needed_structures.h. Test: tests/cli/prof/prof_structs.sh. */
#include "hpcprof-lite/needed_structures.h"

#include "common/base/log.h"
#include "hpcprof-lite/database.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>
#include <string.h>

static int compare_frames(const void *pa, const void *pb)
{
	const struct attribute_frame *a = pa, *b = pb;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->link_addr < b->link_addr ? -1 : a->link_addr > b->link_addr;
}

/* Gives each module of the list its addresses. False: memory is short. */
static bool find_addrs(struct needed_structures *s, const bool *needed, size_t n_modules,
		       const struct attribute_frame *frames, size_t n)
{
	struct attribute_frame *sorted = malloc((n + 1) * sizeof *sorted);
	s->link_addrs = malloc((n + 1) * sizeof *s->link_addrs);
	bool ok = sorted && s->link_addrs;
	if (ok && n > 0) {
		memcpy(sorted, frames, n * sizeof *sorted);
		qsort(sorted, n, sizeof *sorted, compare_frames);
	}
	for (size_t i = 0, k = 0, at = 0; ok && i < n_modules; i++) {
		const size_t first = at;
		for (; at < n && sorted[at].module == i; at++)
			s->link_addrs[at] = sorted[at].link_addr;
		if (needed[i]) {
			s->list[k].link_addrs = s->link_addrs + first;
			s->list[k++].n_link_addrs = at - first;
		}
	}
	free(sorted);
	return ok;
}

static void find(struct needed_structures *s, const struct merge_modules *all,
		 const bool *needed, const struct attribute_frame *frames, size_t n_frames,
		 const struct structure **structures, enum model_structure *states)
{
	s->list = calloc(all->list.n + 1, sizeof *s->list);
	if (!s->list || !find_addrs(s, needed, all->list.n, frames, n_frames)) {
		log_error(NULL, "out of memory");
		s->status = STATUS_NO_MEMORY;
		return;
	}
	for (size_t i = 0; i < all->list.n; i++)
		if (needed[i]) {
			s->list[s->n].module = all->list.at[i].record;
			s->list[s->n++].path = all->list.at[i].path;
		}
	struct load_structures_options o = {s->directories, s->n_directories,
					    s->n_workers,   s->make,
					    s->quiet,       database_begin_scratch};
	load_structures_open(&o, s->list, s->n);
	database_end_scratch();
	for (size_t i = 0, k = 0; i < all->list.n; i++)
		if (needed[i]) {
			structures[i] = s->list[k].structure;
			states[i] = s->list[k++].state;
		}
	free(s->link_addrs);
	s->link_addrs = NULL;
}

void needed_structures_find(void *arg, const struct merge_modules *all, const bool *needed,
			    const struct attribute_frame *frames, size_t n_frames,
			    const struct structure **structures, enum model_structure *states)
{
	struct needed_structures *s = arg;
	const bool waits = s->all && s->all->part != 0;
	if (waits && (s->status = comm_agree_both(s->comm, s->all, STATUS_OK)) != STATUS_OK)
		return;
	s->make = s->make && !waits;
	find(s, all, needed, frames, n_frames, structures, states);
	if (s->all && !waits)
		s->status = comm_agree_both(s->comm, s->all, s->status);
}

void needed_structures_close(struct needed_structures *s)
{
	if (s->list)
		load_structures_close(s->list, s->n);
	free(s->list);
	s->list = NULL;
}
