/* SPDX-License-Identifier: BSD-3-Clause */
/* See needed_structures.h. Test: tests/cli/prof/prof_structs.sh. */
#include "hpcprof-lite/needed_structures.h"

#include "common/base/log.h"
#include "hpcprof-lite/database.h"

#include <stdlib.h>

void needed_structures_find(void *arg, const struct merge_modules *all, const bool *needed,
			    const struct structure **structures, enum model_structure *states)
{
	struct needed_structures *s = arg;
	s->list = calloc(all->list.n + 1, sizeof *s->list);
	if (!s->list) {
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
}

void needed_structures_close(struct needed_structures *s)
{
	if (s->list)
		load_structures_close(s->list, s->n);
	free(s->list);
	s->list = NULL;
}
