/* SPDX-License-Identifier: BSD-3-Clause */
/* See openmp_glue.h. Tests: tests/cli/openmp/omp_paths.sh, tests/cli/openmp/omp_report.sh. */
#include "hpcrun-lite/openmp/openmp_glue.h"

#include "common/safe/find_object.h"
#include "hpcrun-lite/openmp/gomp_real.h"
#include "hpcrun-lite/openmp/ompt.h"
#include "hpcrun-lite/regions/region_path.h"
#include "hpcrun-lite/regions/region_sums.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/process.h"


/*
 * Returns the packed address of code in the process, or 0 for our own code: then a region's
 * function was called and has made a tail call. Regions ask for this outside handlers.
 */
static uint64_t packed_address(uintptr_t runtime_pc)
{
	struct dl_find_object object;
	uintptr_t bias = 0, lo, hi;
	uint16_t module = MSR_MODULE_UNKNOWN;
	module_own_range(&lo, &hi);
	if (runtime_pc >= lo && runtime_pc < hi)
		return 0;
	const bool bus = file_fault_open();
	if (find_object((void *)runtime_pc, &object) == 0)
		module = module_of(&object, &bias);
	file_fault_close(bus);
	return msr_addr_make(module, runtime_pc - bias, false);
}

struct region_thread *runtime_regions(void)
{
	struct thread *t = thread_self;
	return t && process.config.openmp && process_is_alive() ? &t->regions : NULL;
}

bool runtime_is_counting(void)
{
	return !atomic_load_explicit(&process.off, memory_order_relaxed);
}

void openmp_glue_start(void)
{
	gomp_start(); /* the hooks need it even if regions are not measured */
	if (process.config.openmp)
		ompt_start();
	region_path_start(process.config.max_depth);
	region_sums_start(packed_address);
}

void openmp_glue_thread_reset(struct thread *t)
{
	region_sums_reset(&t->regions);
}

void openmp_glue_thread_begins(struct thread *t, const struct thread_room *room)
{
	region_reset(&t->regions, &t->stack, room->base, t->is_main);
}

void openmp_glue_thread_ends(struct thread *t)
{
	region_sums_finish(&t->regions, t->record);
}

void openmp_glue_write(void)
{
	for (struct thread *t = thread_first(); t; t = t->next_made) {
		struct msr_thread *r = thread_live_record(t);
		if (!r)
			continue;
		if (t == thread_self)
			region_sums_finish(&t->regions, r);
		else if (!atomic_load_explicit(&t->in_handler, memory_order_seq_cst))
			region_sums_write(&t->regions, r);
		region_sums_count_open(&t->regions, r);
	}
}
