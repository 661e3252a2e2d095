/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/view/counters: kernels whose counters are known. */
#include "hpcprof-lite/view/counters/view_counters.h"
#include "tests/unit/prof_gpu/gpu_fixture.h"

#include <math.h>

#define FFMA "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
#define FADD "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"
#define BF16 "sm__ops_path_tensor_src_bf16_dst_fp32.sum"
#define TF32 "sm__ops_path_tensor_src_tf32_dst_fp32.sum"

struct counted_run {
	struct run r;
	uint32_t read, written, hit, miss, ffma, fadd, bf16, tf32;
};

static uint32_t define(struct counted_run *c, const char *name, enum msr_unit unit)
{
	return gen_gpu_counter(c->r.g, name, "", unit);
}

/* An H200's numbers, of which some are round: 132 SMs at 1000 MHz, 4 TB/s. */
static void begin(struct counted_run *c, uint32_t major)
{
	run_begin(&c->r);
	struct msr_gpu_def_device device = {
		.type = MSR_GPU_DEVICE_GPU, .n_units = 132, .clock_mhz = 1000, .ordinal = 1};
	struct msr_gpu_def_device_rates rates = {.memory_khz = 2000000, .memory_bits = 8000};
	c->r.device = gen_gpu_device(c->r.g, "Another", "driver 1", device);
	gen_gpu_limits(c->r.g, c->r.device,
		       (struct msr_gpu_def_device_limits){.compute_major = major});
	gen_gpu_rates(c->r.g, c->r.device, rates);
	c->read = define(c, "dram__bytes_read.sum", MSR_UNIT_BYTES);
	c->written = define(c, "dram__bytes_write.sum", MSR_UNIT_BYTES);
	c->hit = define(c, "lts__t_sectors_lookup_hit.sum", MSR_UNIT_COUNT);
	c->miss = define(c, "lts__t_sectors_lookup_miss.sum", MSR_UNIT_COUNT);
	c->ffma = define(c, FFMA, MSR_UNIT_COUNT);
	c->fadd = define(c, FADD, MSR_UNIT_COUNT);
	c->bf16 = define(c, BF16, MSR_UNIT_COUNT);
	c->tf32 = define(c, TF32, MSR_UNIT_COUNT);
}

static void value(struct counted_run *c, uint64_t id, uint32_t counter, uint64_t v)
{
	gen_gpu_value(c->r.g, &(struct msr_gpu_value){.id = id, .value = v, .counter = counter});
}

static const struct view_counters_row *only_row(const struct view_counters *v)
{
	assert_int_equal(v->n, 1);
	return &v->at[0];
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

static void test_sums_of_counted_launches(void **state)
{
	(void)state;
	struct counted_run c;
	struct view_counters v;
	begin(&c, 9);
	for (uint64_t id = 1; id <= 3; id++)
		run_kernel(&c.r, c.r.call, id, 1000 + id * 20000, 2000 + id * 20000,
			   12000 + id * 20000);
	for (uint64_t id = 1; id <= 2; id++) { /* and not of the third */
		value(&c, id, c.read, 1000);
		value(&c, id, c.written, 500);
		value(&c, id, c.hit, 30);
		value(&c, id, c.miss, 10);
		value(&c, id, c.ffma, 700);
		value(&c, id, c.fadd, 0);
		value(&c, id, c.bf16, 8000);
	}
	struct model *m = run_finish(&c.r);
	assert_true(view_counters_make(m, &v));
	const struct view_counters_row *r = only_row(&v);
	assert_true(r->launches == 3 && r->counted == 2 && v.launches == 3 && v.counted == 2);
	assert_true(is_near(r->seconds, 20e-6));
	assert_true(r->bytes_read == 2000 && r->bytes_written == 1000);
	assert_true(r->hits == 60 && r->misses == 20);
	assert_true(r->work[VIEW_FP32] == 2800 && r->work[VIEW_TENSOR_BF16] == 16000);
	assert_true(r->operations == 18800);
	assert_true(v.has_bytes && v.has_hits && v.has_work && v.has_tensor);
	assert_int_equal(run_value(m, run_find(m, 0, "saxpy"), "GCTR:COUNT", MODEL_POINT), 2);
	assert_true(
		is_near(run_value(m, run_find(m, 0, "saxpy"), "GCTR (sec)", MODEL_POINT), 20e-6));
	view_counters_free(&v);
	run_clean(&c.r, m);
}

static struct view_bounds bounds_of(uint32_t major, uint64_t bytes, uint64_t ffma, uint64_t bf16,
				    uint64_t tf32)
{
	struct counted_run c;
	struct view_counters v;
	begin(&c, major);
	run_kernel(&c.r, c.r.call, 1, 1000, 2000, 12000);
	value(&c, 1, c.read, bytes);
	value(&c, 1, c.ffma, ffma);
	value(&c, 1, c.bf16, bf16);
	value(&c, 1, c.tf32, tf32);
	struct model *m = run_finish(&c.r);
	assert_true(view_counters_make(m, &v));
	assert_true(v.roofs.bytes == 0); /* two devices differ */
	struct model one = *m;
	one.gpu_devices++;
	one.n_gpu_devices = 1;
	v.roofs = view_roofs_of(&one);
	struct view_bounds b = view_counters_bounds(&v, only_row(&v));
	view_counters_free(&v);
	run_clean(&c.r, m);
	return b;
}

static void test_roofs(void **state)
{
	(void)state;
	/* memory: 2 x 2 GHz x 8000 bits = 4 TB/s */
	struct view_bounds b = bounds_of(9, 4000000, 100, 0, 0);
	assert_true(b.by == VIEW_BOUND_MEMORY && is_near(b.seconds, 1e-6));
	/* FP32: 132 x 256 operations in a cycle of 1 ns, and an FFMA is two */
	b = bounds_of(9, 1000, 132 * 128 * 5, 0, 0);
	assert_true(b.by == VIEW_BOUND_WORK && b.work == VIEW_FP32 && is_near(b.seconds, 5e-9));
	/* tensor cores take turns: 132 x 4096 of BF16 and 132 x 2048 of TF32 in a cycle */
	b = bounds_of(9, 1000, 1, 132 * 4096 * 3, 132 * 2048 * 4);
	assert_true(b.by == VIEW_BOUND_TENSOR && b.work == VIEW_TENSOR_TF32 &&
		    is_near(b.seconds, 7e-9));
	/* unknown: what this GPU can do of what was done */
	b = bounds_of(8, 1000, 1, 1, 0);
	assert_true(b.by != VIEW_BOUND_UNKNOWN);
	b = bounds_of(6, 4000000, 1, 0, 0);
	assert_true(b.by == VIEW_BOUND_UNKNOWN && b.seconds == 0);
	b = bounds_of(6, 4000000, 0, 0, 0);
	assert_true(b.by == VIEW_BOUND_MEMORY);
}

static void test_nothing_counted(void **state)
{
	(void)state;
	struct run r;
	struct view_counters v;
	run_begin(&r);
	run_kernel(&r, r.call, 1, 1000, 2000, 12000);
	struct model *m = run_finish(&r);
	assert_true(view_counters_make(m, &v));
	assert_int_equal(v.n, 0);
	view_counters_free(&v);
	run_clean(&r, m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_of_counted_launches),
		cmocka_unit_test(test_roofs),
		cmocka_unit_test(test_nothing_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
