/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_memory.h. Test: tests/unit/memory/test_memory_model.c. */
#include "hpcprof-lite/load/load_memory.h"

#include "hpcprof-lite/load/load_records.h"

#define MOST_BYTES (UINT64_C(1) << 50) /* sums of them fit into 64 bits */

bool load_memory_is_sound(const struct load_file *f, const struct load_thread *t,
			  const struct msr_memory *record, struct msr_memory *copy)
{
	const uint64_t latest_ns = f->header.start_mono_ns + LOAD_LONGEST_NS,
		       free_ns = atomic_load_explicit(&record->free_ns, memory_order_acquire);
	*copy = (struct msr_memory){.alloc_ns = record->alloc_ns,
				    .free_ns = free_ns,
				    .bytes = record->bytes,
				    .node = record->node,
				    .flags = record->flags};
	return copy->node && copy->node < t->n_nodes &&
	       (!t->node_to || t->node_to[copy->node] != LOAD_DAMAGED) && copy->bytes &&
	       copy->bytes <= MOST_BYTES && copy->alloc_ns <= latest_ns &&
	       (!free_ns || (free_ns >= copy->alloc_ns && free_ns <= latest_ns));
}

void load_memory_finish(struct load_file *f)
{
	struct msr_memory copy;
	for (size_t i = 0; i < f->threads.n; i++)
		for (size_t k = 0; k < f->threads.at[i].memory.n; k++) {
			const struct load_part *p = &f->threads.at[i].memory.at[k];
			const struct msr_memory *all = (const void *)p->content;
			for (size_t n = 0; n < p->n_bytes / sizeof *all; n++)
				if (!load_memory_is_sound(f, &f->threads.at[i], &all[n], &copy))
					f->bytes_damaged += sizeof *all;
			load_release(f, p->n_bytes);
		}
}
