/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_regions.h. Test: tests/unit/prof/test_load.c. */
#include "hpcprof-lite/load/load_regions.h"

#include <stdatomic.h>

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

/*
 * The words of a record may be inconsistent, because the process may have been killed between two
 * writes.
 */
static bool is_plausible(const struct load_region *r)
{
	return r->instances <= LOAD_LONGEST_NS && r->elapsed_ns <= LOAD_LONGEST_NS &&
	       r->n_timed <= LOAD_LONGEST_NS && r->busy_ns <= LOAD_LONGEST_NS &&
	       r->max_ns <= LOAD_LONGEST_NS && r->min_ns <= LOAD_LONGEST_NS;
}

enum status load_regions(struct load_file *f, const struct msr_view *v)
{
	const uint32_t stride = v->extent->record_bytes;
	if (stride < sizeof(struct msr_omp_region) || stride % 8) {
		f->bytes_damaged += v->n_bytes;
		return STATUS_OK;
	}
	for (uint64_t at = 0; v->n_bytes - at >= stride; at += stride) {
		const struct msr_omp_region *r = (const void *)(v->content + at);
		const struct load_region region = {.call = r->call,
						   .function = r->function,
						   .n_threads = r->n_threads,
						   .schedule = atomic_load_explicit(
							   &r->schedule, memory_order_relaxed),
						   .instances = get(&r->instances),
						   .elapsed_ns = get(&r->elapsed_ns),
						   .n_timed = get(&r->n_timed),
						   .busy_ns = get(&r->busy_ns),
						   .max_ns = get(&r->max_ns),
						   .min_ns = get(&r->min_ns)};
		if (!is_plausible(&region)) {
			f->bytes_damaged += stride;
			continue;
		}
		struct load_region *new = vec_push(&f->regions);
		if (!new)
			return STATUS_NO_MEMORY;
		*new = region;
	}
	f->bytes_damaged += v->n_bytes % stride;
	return STATUS_OK;
}

/* Address 0 means unknown. */
static bool is_sound(const struct load_file *f, msr_addr addr)
{
	return addr == 0 || (!msr_addr_marked(addr) && msr_addr_module(addr) != MSR_MODULE_NONE &&
			     load_knows_module(f, msr_addr_module(addr)));
}

void load_check_regions(struct load_file *f)
{
	size_t kept = 0;
	for (size_t i = 0; i < f->regions.n; i++) {
		const struct load_region *r = &f->regions.at[i];
		if (is_sound(f, r->call) && is_sound(f, r->function))
			f->regions.at[kept++] = *r;
		else
			f->bytes_damaged += sizeof(struct msr_omp_region);
	}
	f->regions.n = kept;
}
