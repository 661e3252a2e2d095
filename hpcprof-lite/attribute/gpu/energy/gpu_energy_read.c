/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_energy.h. Test: tests/unit/prof_gpu/test_gpu_energy.c. */
#include "hpcprof-lite/attribute/gpu/energy/gpu_energy.h"

bool gpu_energy_read(const struct load_file *f, uint32_t process, const uint32_t *device_of,
		     gpu_energy_readings *to)
{
	uint64_t to_real_ns = f->header.start_real_ns - f->header.start_mono_ns;
	for (size_t k = 0; k < f->gpu.energies.n; k++)
		for (uint64_t i = 0; i < f->gpu.energies.at[k].n; i++) {
			const struct msr_gpu_energy *e = load_gpu_at(&f->gpu.energies.at[k], i);
			if (!load_gpu_energy_is_sound(f, e))
				continue;
			struct gpu_energy_reading *new = vec_push(to);
			if (!new)
				return false;
			*new = (struct gpu_energy_reading){
				.meter = f->gpu.counters.at[e->meter].name,
				.device = e->device ? device_of[e->device] : MODEL_NONE,
				.process = process,
				.change = {.time_ns = e->time_ns + to_real_ns,
					   .unchanged_ns = e->unchanged_ns + to_real_ns,
					   .energy_uj = e->energy_uj,
					   .begins = e->flags & MSR_GPU_ENERGY_BEGINS}};
		}
	return true;
}
