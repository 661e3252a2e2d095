/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts calls of functions whose signature is unknown. A slot is a few instructions that count the
 * call and jump to the function. Test: tests/unit/opencl/test_opencl_hidden.c.
 */
#include "common/safe/sys.h"
#include "hpcrun-lite/gpu/opencl/ocl.h"

#define N_SLOTS 32u

/* Slot i counts one call and jumps to the function. It changes no register. */
_Atomic uint64_t ocl_slot_counts[N_SLOTS] __attribute__((visibility("hidden")));
_Atomic(void *) ocl_slot_targets[N_SLOTS] __attribute__((visibility("hidden")));
extern const char ocl_slots[] __attribute__((visibility("hidden")));
MACHINE_SLOTS(ocl_slots, ocl_slot_counts, ocl_slot_targets);

void *ocl_slot_for(struct ocl_state *s, void *function)
{
	void *result = function;
	pthread_mutex_lock(&s->define);
	for (unsigned i = 0; i < N_SLOTS; i++) {
		void *target = atomic_load_explicit(&ocl_slot_targets[i], memory_order_relaxed);
		if (target && target != function)
			continue;
		atomic_store_explicit(&ocl_slot_targets[i], function, memory_order_release);
		result = (void *)(uintptr_t)(ocl_slots + (size_t)i * MACHINE_SLOT_BYTES);
		break;
	}
	pthread_mutex_unlock(&s->define);
	return result;
}

void ocl_slot_count(void)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < N_SLOTS; i++)
		n += atomic_exchange_explicit(&ocl_slot_counts[i], 0, memory_order_relaxed);
	if (n)
		ocl_host->lost_unknown(ocl_host, MSR_GPU_LOSS_UNKNOWN_CALL, n);
}
