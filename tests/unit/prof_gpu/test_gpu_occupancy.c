/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/gpu_occupancy: known cases, and where CUDA's headers are, all
 * shapes of a sweep against NVIDIA's own calculator. */
#include "hpcprof-lite/attribute/gpu/metrics/gpu_occupancy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#if __has_include(<cuda_occupancy.h>)
#define HAVE_CUDA_OCCUPANCY
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wconversion"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#endif

struct device {
	struct msr_gpu_def_device d;
	struct msr_gpu_def_device_limits l;
};

/* As the driver tells it of these devices. */
static const struct device devices[] = {
	{{.lanes = 32,
	  .group_max = 1024,
	  .threads_per_unit = 2048,
	  .registers_per_unit = 65536,
	  .shared_bytes_per_unit = 65536,
	  .groups_per_unit = 32,
	  .n_units = 56},
	 {.compute_major = 6,
	  .compute_minor = 0,
	  .registers_per_group = 65536,
	  .shared_bytes_per_group = 49152,
	  .shared_bytes_per_group_optin = 49152}},
	{{.lanes = 32,
	  .group_max = 1024,
	  .threads_per_unit = 2048,
	  .registers_per_unit = 65536,
	  .shared_bytes_per_unit = 98304,
	  .groups_per_unit = 32,
	  .n_units = 28},
	 {.compute_major = 6,
	  .compute_minor = 1,
	  .registers_per_group = 65536,
	  .shared_bytes_per_group = 49152,
	  .shared_bytes_per_group_optin = 49152}},
	{{.lanes = 32,
	  .group_max = 1024,
	  .threads_per_unit = 2048,
	  .registers_per_unit = 65536,
	  .shared_bytes_per_unit = 98304,
	  .groups_per_unit = 32,
	  .n_units = 80},
	 {.compute_major = 7,
	  .compute_minor = 0,
	  .registers_per_group = 65536,
	  .shared_bytes_per_group = 49152,
	  .shared_bytes_per_group_optin = 98304}},
	{{.lanes = 32,
	  .group_max = 1024,
	  .threads_per_unit = 1024,
	  .registers_per_unit = 65536,
	  .shared_bytes_per_unit = 65536,
	  .groups_per_unit = 16,
	  .n_units = 40},
	 {.compute_major = 7,
	  .compute_minor = 5,
	  .registers_per_group = 65536,
	  .shared_bytes_per_group = 49152,
	  .shared_bytes_per_group_optin = 65536}},
	{{.lanes = 32,
	  .group_max = 1024,
	  .threads_per_unit = 2048,
	  .registers_per_unit = 65536,
	  .shared_bytes_per_unit = 167936,
	  .groups_per_unit = 32,
	  .n_units = 108},
	 {.compute_major = 8,
	  .compute_minor = 0,
	  .registers_per_group = 65536,
	  .reserved_shared_bytes = 1024,
	  .shared_bytes_per_group = 49152,
	  .shared_bytes_per_group_optin = 166912}},
	{{.lanes = 32,
	  .group_max = 1024,
	  .threads_per_unit = 1536,
	  .registers_per_unit = 65536,
	  .shared_bytes_per_unit = 102400,
	  .groups_per_unit = 16,
	  .n_units = 84},
	 {.compute_major = 8,
	  .compute_minor = 6,
	  .registers_per_group = 65536,
	  .reserved_shared_bytes = 1024,
	  .shared_bytes_per_group = 49152,
	  .shared_bytes_per_group_optin = 101376}},
	{{.lanes = 32,
	  .group_max = 1024,
	  .threads_per_unit = 2048,
	  .registers_per_unit = 65536,
	  .shared_bytes_per_unit = 233472,
	  .groups_per_unit = 32,
	  .n_units = 132},
	 {.compute_major = 9,
	  .compute_minor = 0,
	  .registers_per_group = 65536,
	  .reserved_shared_bytes = 1024,
	  .shared_bytes_per_group = 49152,
	  .shared_bytes_per_group_optin = 232448}},
	{{.lanes = 32,
	  .group_max = 1024,
	  .threads_per_unit = 1536,
	  .registers_per_unit = 65536,
	  .shared_bytes_per_unit = 102400,
	  .groups_per_unit = 24,
	  .n_units = 170},
	 {.compute_major = 12,
	  .compute_minor = 0,
	  .registers_per_group = 65536,
	  .reserved_shared_bytes = 1024,
	  .shared_bytes_per_group = 49152,
	  .shared_bytes_per_group_optin = 101376}},
};
enum { H200 = 6, N_DEVICES = sizeof devices / sizeof *devices };

static struct gpu_occupancy on_h200(struct msr_gpu_shape s)
{
	struct gpu_occupancy o;
	assert_true(gpu_occupancy(&devices[H200].d, &devices[H200].l, &s, &o));
	assert_int_equal(o.warps_most, 64);
	return o;
}

static void test_known_cases(void **state)
{
	(void)state;
	struct gpu_occupancy o =
		on_h200((struct msr_gpu_shape){.block = {256, 1, 1}, .registers = 32});
	assert_int_equal(o.warps, 64);
	assert_int_equal(o.limit, MODEL_LIMIT_WARPS);
	o = on_h200((struct msr_gpu_shape){.block = {32, 0, 0}, .registers = 16});
	assert_int_equal(o.warps, 32); /* 32 blocks of one warp */
	assert_int_equal(o.limit, MODEL_LIMIT_GROUPS);
	o = on_h200((struct msr_gpu_shape){.block = {16, 16, 1},
					   .registers = 33}); /* as 40: pieces of 256 to a warp */
	assert_int_equal(o.groups, 6);
	assert_int_equal(o.limit, MODEL_LIMIT_REGISTERS);
	o = on_h200((struct msr_gpu_shape){
		.block = {128, 1, 1}, .registers = 255, .dynamic_shared_bytes = 100000});
	assert_int_equal(o.groups, 2);
	o = on_h200((struct msr_gpu_shape){.block = {128, 1, 1},
					   .registers = 32,
					   .static_shared_bytes = 40000,
					   .dynamic_shared_bytes = 36000});
	assert_int_equal(o.groups, 3); /* 77,056 of 233,472 each: 1,024 are the run time's */
	assert_int_equal(o.limit, MODEL_LIMIT_SHARED);
	assert_string_equal(model_gpu_limit_name(o.limit), "shared memory");
}

/* One step: what must change, and that less of a change is not enough. */
static void test_ease(void **state)
{
	static const struct {
		struct msr_gpu_shape shape;
		uint32_t eased, warps;
	} cases[] = {
		{{.block = {128, 1, 1}, .registers = 164}, 128, 16}, /* 3 blocks; 160 are as 164 */
		{{.block = {256, 1, 1}, .dynamic_shared_bytes = 64 << 10, .registers = 16},
		 57344,
		 32}, /* 3 blocks; 233,472 / 4 less 1,024, in pieces of 128 */
		{{.block = {32, 1, 1}, .registers = 16}, 64, 64},
		{{.block = {768, 1, 1}, .registers = 16}, 672, 63},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct gpu_occupancy now = on_h200(cases[i].shape), more;
		uint32_t eased = 0;
		assert_true(gpu_occupancy_ease(&devices[H200].d, &devices[H200].l, &cases[i].shape,
					       &now, &eased, &more));
		assert_int_equal(eased, cases[i].eased);
		assert_int_equal(more.warps, cases[i].warps);
	}
	const struct msr_gpu_shape full = {.block = {256, 1, 1}, .registers = 32};
	struct gpu_occupancy now = on_h200(full), more;
	uint32_t eased;
	assert_false(
		gpu_occupancy_ease(&devices[H200].d, &devices[H200].l, &full, &now, &eased, &more));
}

static void test_what_is_not_known(void **state)
{
	(void)state;
	struct gpu_occupancy o;
	struct device d = devices[H200];
	const struct msr_gpu_shape s = {.block = {256, 1, 1}, .registers = 32};
	assert_false(gpu_occupancy(&d.d, &d.l, &(struct msr_gpu_shape){.registers = 32},
				   &o)); /* the run time chose the block */
	assert_false(gpu_occupancy(
		&d.d, &d.l, &(struct msr_gpu_shape){.block = {1024, 2, 1}, .registers = 32}, &o));
	assert_false(gpu_occupancy(&d.d, &d.l,
				   &(struct msr_gpu_shape){.block = {1024, 1, 1}, .registers = 128},
				   &o)); /* cannot run */
	d.l.compute_major = 0; /* not NVIDIA's */
	assert_false(gpu_occupancy(&d.d, &d.l, &s, &o));
	d.l.compute_major = 99;
	assert_false(gpu_occupancy(&d.d, &d.l, &s, &o));
}

#ifdef HAVE_CUDA_OCCUPANCY
static uint32_t nvidia_says(const struct device *d, const struct msr_gpu_shape *s)
{
	const struct cudaOccDeviceProp p = {
		.computeMajor = (int)d->l.compute_major,
		.computeMinor = (int)d->l.compute_minor,
		.maxThreadsPerBlock = (int)d->d.group_max,
		.maxThreadsPerMultiprocessor = (int)d->d.threads_per_unit,
		.regsPerBlock = (int)d->l.registers_per_group,
		.regsPerMultiprocessor = (int)d->d.registers_per_unit,
		.warpSize = (int)d->d.lanes,
		.sharedMemPerBlock = d->l.shared_bytes_per_group,
		.sharedMemPerMultiprocessor = d->d.shared_bytes_per_unit,
		.numSms = (int)d->d.n_units,
		.sharedMemPerBlockOptin = d->l.shared_bytes_per_group_optin,
		.reservedSharedMemPerBlock = d->l.reserved_shared_bytes};
	const struct cudaOccFuncAttributes f = {.maxThreadsPerBlock = 1024,
						.numRegs = (int)s->registers,
						.sharedSizeBytes = s->static_shared_bytes,
						.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
						.maxDynamicSharedSizeBytes =
							s->dynamic_shared_bytes};
	const struct cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
	struct cudaOccResult r = {0};
	assert_int_equal(cudaOccMaxActiveBlocksPerMultiprocessor(
				 &r, &p, &f, &state, (int)s->block[0], s->dynamic_shared_bytes),
			 CUDA_OCC_SUCCESS);
	return (uint32_t)r.activeBlocksPerMultiprocessor;
}
#endif

static void test_against_nvidia(void **state)
{
	(void)state;
#ifdef HAVE_CUDA_OCCUPANCY
	uint64_t n = 0;
	for (unsigned i = 0; i < N_DEVICES; i++)
		for (uint32_t threads = 1; threads <= 1024; threads += threads < 64 ? 1 : 31)
			for (uint32_t registers = 0; registers <= 255; registers += 3)
				for (uint32_t k = 0; k <= 60; k++) {
					uint32_t shared = k * 4001;
					const struct msr_gpu_shape s = {
						.block = {threads, 1, 1},
						.registers = registers,
						.static_shared_bytes = shared / 3,
						.dynamic_shared_bytes = shared - shared / 3};
					struct gpu_occupancy o = {0};
					bool runs =
						gpu_occupancy(&devices[i].d, &devices[i].l, &s, &o);
					uint32_t expected = nvidia_says(&devices[i], &s);
					if (expected != (runs ? o.groups : 0))
						fail_msg("%u.%u, %u threads, %u registers, %u "
							 "bytes: %u, not %u",
							 devices[i].l.compute_major,
							 devices[i].l.compute_minor, threads,
							 registers, shared, expected,
							 runs ? o.groups : 0);
					n++;
				}
	print_message("%llu shapes\n", (unsigned long long)n);
#else
	print_message("not tested: CUDA's headers are not here\n"); /* skip() of cmocka 1.1.5 counts
								       as a failure in TAP */
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_cases),
		cmocka_unit_test(test_ease),
		cmocka_unit_test(test_what_is_not_known),
		cmocka_unit_test(test_against_nvidia),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
