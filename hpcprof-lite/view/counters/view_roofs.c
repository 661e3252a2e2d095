/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_roofs.h. Test: tests/unit/prof_gpu/test_counters.c. */
#include "hpcprof-lite/view/counters/view_roofs.h"

#include <string.h>

const char *view_work_name(enum view_work w)
{
	static const char *const names[VIEW_N_WORKS] = {
		[VIEW_FP64] = "FP64",
		[VIEW_FP32] = "FP32",
		[VIEW_FP16] = "FP16",
		[VIEW_TENSOR_FP64] = "tensor FP64",
		[VIEW_TENSOR_TF32] = "tensor TF32",
		[VIEW_TENSOR_BF16] = "tensor BF16",
		[VIEW_TENSOR_FP16] = "tensor FP16",
		[VIEW_TENSOR_FP8] = "tensor FP8",
		[VIEW_TENSOR_INT8] = "tensor INT8",
	};
	return names[w];
}

/*
 * Operations of an SM in a cycle, dense, a multiply-add counted as two, from NVIDIA's descriptions
 * of the architectures. 0: it has none, or it is unknown.
 */
static const struct rates {
	uint32_t major, minor;
	uint16_t operations[VIEW_N_WORKS];
} rates[] = {
	/* FP64, FP32, FP16; tensor: FP64, TF32, BF16, FP16, FP8, INT8 */
	{7, 0, {64, 128, 256, 0, 0, 0, 1024, 0, 0}},
	{7, 5, {4, 128, 256, 0, 0, 0, 1024, 0, 2048}},
	{8, 0, {64, 128, 512, 128, 1024, 2048, 2048, 0, 4096}},
	{8, 6, {4, 256, 256, 0, 0, 0, 0, 0, 0}},
	{8, 9, {4, 256, 256, 0, 0, 0, 0, 0, 0}},
	{9, 0, {128, 256, 512, 256, 2048, 4096, 4096, 8192, 8192}},
	{12, 0, {4, 256, 256, 0, 0, 0, 0, 0, 0}},
};

static struct view_roofs of_device(const struct model_gpu_device *d)
{
	struct view_roofs r = {0};
	if (d->rates) {
		r.memory_mhz = d->rates->memory_khz / 1000;
		r.memory_bits = d->rates->memory_bits;
		/* memory transfers on both edges of the clock */
		r.bytes = 2e3 * d->rates->memory_khz * d->rates->memory_bits / 8;
	}
	r.clock_mhz = d->definition ? d->definition->clock_mhz : 0;
	for (size_t i = 0; d->limits && i < sizeof rates / sizeof *rates; i++)
		for (unsigned w = 0; w < VIEW_N_WORKS; w++)
			if (rates[i].major == d->limits->compute_major &&
			    rates[i].minor == d->limits->compute_minor)
				r.operations[w] = 1e6 * r.clock_mhz * d->definition->n_units *
						  rates[i].operations[w];
	return r;
}

struct view_roofs view_roofs_of(const struct model *m)
{
	struct view_roofs r = {0};
	for (uint32_t i = 0; i < m->n_gpu_devices; i++) {
		struct view_roofs other = of_device(&m->gpu_devices[i]);
		if (i && memcmp(&r, &other, sizeof r) != 0)
			return (struct view_roofs){0};
		r = other;
	}
	return r;
}
