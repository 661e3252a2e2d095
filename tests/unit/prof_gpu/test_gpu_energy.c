/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/gpu/energy: made meters and time lines whose energy is known. */
#include "hpcprof-lite/filter/filter.h"
#include "hpcprof-lite/view/view_energy.h"
#include "tests/unit/prof_gpu/gpu_fixture.h"

#include <math.h>

#define MS(x) ((uint64_t)((x)*1e6 + 0.5))

struct energy_run {
	struct run r;
	uint32_t meter, other_shape;
	uint64_t next_id;
};

static void begin_as(struct energy_run *e, char *directory, uint32_t pid)
{
	*e = (struct energy_run){.next_id = 1};
	run_begin_as(&e->r, directory, pid, 0);
	e->meter = gen_gpu_counter(e->r.g, "NVML", "energy", MSR_UNIT_UJ);
	uint32_t other = gen_gpu_function(e->r.g, e->r.code, "triad", "");
	e->other_shape = gen_gpu_shape(
		e->r.g,
		(struct msr_gpu_shape){.function = other, .grid = {1, 1, 1}, .block = {32, 1, 1}});
}

static void begin(struct energy_run *e)
{
	begin_as(e, fixture_directory(), 3);
}

static void operate(struct energy_run *e, uint32_t node, uint32_t shape, double start, double end)
{
	uint64_t id = e->next_id++;
	gen_gpu_launch(e->r.g, e->r.thread, node, id, MSR_GPU_KERNEL, MS(start) - 1000);
	gen_gpu_op(e->r.g, &(struct gen_gpu_op){.id = id,
						.kind = MSR_GPU_KERNEL,
						.start_ns = MS(start),
						.end_ns = MS(end),
						.queue = e->r.queue,
						.shape = shape});
}

static void kernel(struct energy_run *e, double start, double end)
{
	operate(e, e->r.call, e->r.shape, start, end);
}

static void other_kernel(struct energy_run *e, double start, double end)
{
	operate(e, e->r.other_call, e->other_shape, start, end);
}

static void read_at(struct energy_run *e, double time, uint64_t uj, uint32_t flags)
{
	gen_gpu_energy(e->r.g, &(struct msr_gpu_energy){.time_ns = MS(time),
							.unchanged_ns = MS(time) - 5000,
							.energy_uj = uj,
							.meter = e->meter,
							.device = e->r.device,
							.flags = flags});
}

/*
 * Changes at 10, 20, ... 100 ms: idle at 100 W, 300 W more while busy in [30, 50) and [72, 77).
 */
static void read_ten(struct energy_run *e)
{
	static const uint64_t mj[] = {0,     1000,  2000,  6000,  10000,
				      11000, 12000, 14500, 15500, 16500};
	for (unsigned i = 0; i < 10; i++)
		read_at(e, 10.0 * (i + 1), 5000000 + 1000 * mj[i], i ? 0 : MSR_GPU_ENERGY_BEGINS);
}

static double joules(const struct model *m, const char *kernel, const char *metric)
{
	double sum = 0;
	for (uint32_t c = 1; c < m->n_contexts; c++)
		if (m->contexts[c].kind == MODEL_CONTEXT_FUNCTION &&
		    strcmp(m->functions[m->contexts[c].function].name, kernel) == 0)
			sum += fmax(0, run_value(m, c, metric, MODEL_EXECUTION));
	return sum;
}

static double whole(const struct model *m, const char *metric)
{
	return run_value(m, 0, metric, MODEL_EXECUTION);
}

static void check_sums(const struct model *m)
{
	double operations = 0, shared = 0;
	for (uint32_t i = 0; i < m->n_meters; i++) {
		const struct model_energy *s = &m->meters[i].sum;
		assert_int_equal(s->total_uj, s->operations_uj + s->idle_uj + s->unknown_uj);
		assert_true(s->shared_uj <= s->operations_uj);
		operations += (double)s->operations_uj / 1e6;
		shared += (double)s->shared_uj / 1e6;
	}
	if (m->part)
		return;
	assert_true(fabs(fmax(0, whole(m, "GENERGY (J)")) - operations) < 1e-9);
	assert_true(fabs(fmax(0, whole(m, "GENERGY:SHARED (J)")) - shared) < 1e-9);
}

static struct model *finish(struct energy_run *e)
{
	struct model *m = run_finish(&e->r);
	check_sums(m);
	return m;
}

#define assert_about(a, b) assert_true(fabs((a) - (b)) < 2e-6)

static void test_busy_and_idle(void **state)
{
	(void)state;
	struct energy_run e;
	begin(&e);
	kernel(&e, 30, 50);
	kernel(&e, 72, 77);
	read_ten(&e);
	struct model *m = finish(&e);
	assert_int_equal(m->n_meters, 1);
	const struct model_energy *s = &m->meters[0].sum;
	assert_string_equal(m->meters[0].name, "NVML");
	assert_int_equal(m->meters[0].device, 0);
	assert_int_equal(s->covered_ns, MS(90));
	assert_int_equal(s->total_uj, 16500000);
	assert_int_equal(s->busy_ns, MS(25));
	assert_int_equal(s->idle_ns, MS(65));
	assert_int_equal(s->idle_mw, 100000);
	assert_int_equal(s->idle_uj, 6500000);
	assert_int_equal(s->operations_uj, 10000000);
	assert_int_equal(s->shared_uj, 0);
	assert_int_equal(s->step_ns, MS(10));
	assert_int_equal(s->late_ns, 5000);
	assert_int_equal(s->error_uj, (uint64_t)(2 * 16500000.0 / 9 + 0.5));
	assert_about(joules(m, "saxpy", "GENERGY (J)"), 10.0);
	assert_int_equal(run_metric(m, "GENERGY:SHARED (J)"), MODEL_NONE);
	assert_about(joules(m, "saxpy", "GENERGY:TIME (sec)"), 0.025);
	run_clean(&e.r, m);
}

/* Power is energy divided by the time in which the meter was read. */
static void test_time_without_a_meter(void **state)
{
	(void)state;
	struct energy_run e;
	struct view_energy_rows rows;
	begin(&e);
	kernel(&e, 5, 9); /* before the first change */
	kernel(&e, 30, 50);
	kernel(&e, 95, 115); /* 5 ms of it before the last */
	read_ten(&e);
	struct model *m = finish(&e);
	assert_about(joules(m, "saxpy", "GENERGY:TIME (sec)"), 0.025);
	assert_true(view_energy_rows_make(m, &rows));
	assert_int_equal(rows.n, 1);
	assert_about(rows.at[0].seconds, 0.044);
	assert_about(rows.at[0].read_seconds, 0.025);
	view_energy_rows_free(&rows);
	run_clean(&e.r, m);
}

static void test_contexts_share_by_time(void **state)
{
	(void)state;
	struct energy_run e;
	struct view_energy_rows rows;
	begin(&e);
	kernel(&e, 30, 40);
	kernel(&e, 40, 46);
	other_kernel(&e, 46, 50);
	read_ten(&e);
	struct model *m = finish(&e);
	/* alone in [30, 40); in [40, 50) 6 ms and 4 ms of 4 J */
	assert_about(joules(m, "saxpy", "GENERGY (J)"), 4.0 + 2.4);
	assert_about(joules(m, "triad", "GENERGY (J)"), 1.6);
	assert_about(joules(m, "saxpy", "GENERGY:SHARED (J)"), 2.4);
	assert_about(joules(m, "triad", "GENERGY:SHARED (J)"), 1.6);
	assert_true(view_energy_rows_make(m, &rows));
	assert_int_equal(rows.n, 2);
	assert_string_equal(m->functions[rows.at[0].function].name, "saxpy");
	assert_about(rows.at[0].joules, 6.4);
	assert_about(rows.at[0].shared_joules, 2.4);
	assert_about(rows.at[1].seconds, 0.004);
	assert_about(rows.joules, 8.0);
	view_energy_rows_free(&rows);
	run_clean(&e.r, m);
}

static void test_concurrent_operations(void **state)
{
	(void)state;
	struct energy_run e;
	begin(&e);
	uint32_t queue = e.r.queue;
	kernel(&e, 30, 50);
	e.r.queue =
		gen_gpu_queue(e.r.g, "queue 1",
			      (struct msr_gpu_def_queue){
				      .context = e.r.context, .device = e.r.device, .ordinal = 1});
	other_kernel(&e, 40, 50);
	e.r.queue = queue;
	read_ten(&e);
	struct model *m = finish(&e);
	assert_int_equal(m->meters[0].sum.busy_ns, MS(20));
	assert_about(joules(m, "saxpy", "GENERGY (J)"), 6.0);
	assert_about(joules(m, "triad", "GENERGY (J)"), 2.0);
	run_clean(&e.r, m);
}

static void test_never_idle_for_long(void **state)
{
	(void)state;
	struct energy_run e;
	begin(&e);
	for (unsigned i = 1; i < 10; i++)
		kernel(&e, 10 * i, 10 * i + 5);
	for (unsigned i = 1; i <= 10; i++)
		read_at(&e, 10.0 * i, i * 2000000, i == 1 ? MSR_GPU_ENERGY_BEGINS : 0);
	struct model *m = finish(&e);
	assert_int_equal(m->meters[0].sum.idle_mw, 0);
	assert_int_equal(m->meters[0].sum.idle_uj, 9000000);
	assert_about(joules(m, "saxpy", "GENERGY (J)"), 9.0);
	run_clean(&e.r, m);
}

static void test_a_gap_is_not_counted(void **state)
{
	(void)state;
	struct energy_run e;
	begin(&e);
	kernel(&e, 15, 60);
	read_at(&e, 10, 1000000, MSR_GPU_ENERGY_BEGINS);
	read_at(&e, 20, 2000000, 0);
	read_at(&e, 50, 9000000, MSR_GPU_ENERGY_BEGINS);
	read_at(&e, 60, 11000000, 0);
	struct model *m = finish(&e);
	assert_int_equal(m->meters[0].sum.covered_ns, MS(20));
	assert_int_equal(m->meters[0].sum.total_uj, 3000000);
	run_clean(&e.r, m);
}

static void test_processes_share_a_device(void **state)
{
	(void)state;
	struct energy_run a, b;
	begin(&a);
	begin_as(&b, a.r.directory, 4);
	kernel(&a, 30, 40);
	other_kernel(&b, 40, 50);
	/* Both read the same meter, one of them late and not for long. */
	read_ten(&a);
	read_at(&b, 32, 5000000 + 2000000, MSR_GPU_ENERGY_BEGINS);
	read_at(&b, 42, 5000000 + 6000000, 0);
	read_at(&b, 52, 5000000 + 10000000, 0);
	free(gen_close(a.r.g, MSR_EXIT_RETURN, 0));
	struct model *m = finish(&b);
	assert_int_equal(m->n_gpu_devices, 1);
	assert_int_equal(m->n_meters, 1);
	assert_int_equal(m->meters[0].n_changes, 10);
	assert_int_equal(m->meters[0].sum.total_uj, 16500000);
	assert_about(joules(m, "saxpy", "GENERGY (J)"), 4.0);
	assert_about(joules(m, "triad", "GENERGY (J)"), 4.0);
	run_clean(&a.r, m);
}

static void test_processes_follow_each_other(void **state)
{
	(void)state;
	struct energy_run a, b;
	begin(&a);
	begin_as(&b, a.r.directory, 4);
	read_at(&a, 10, 1000000, MSR_GPU_ENERGY_BEGINS);
	read_at(&a, 20, 2000000, 0);
	read_at(&a, 30, 3000000, 0);
	read_at(&b, 60, 50000000, MSR_GPU_ENERGY_BEGINS);
	read_at(&b, 70, 51000000, 0);
	free(gen_close(a.r.g, MSR_EXIT_RETURN, 0));
	struct model *m = finish(&b);
	assert_int_equal(m->meters[0].sum.total_uj, 3000000);
	assert_int_equal(m->meters[0].sum.covered_ns, MS(30));
	assert_int_equal(m->meters[0].sum.error_uj, 3000000); /* all of it */
	run_clean(&a.r, m);
}

/* A driver that no process uses may be unloaded, and its meter start again. */
static void test_a_meter_starts_again(void **state)
{
	(void)state;
	struct energy_run a, b;
	begin(&a);
	begin_as(&b, a.r.directory, 4);
	read_at(&a, 10, 50000000, MSR_GPU_ENERGY_BEGINS);
	read_at(&a, 20, 51000000, 0);
	read_at(&b, 60, 1000000, MSR_GPU_ENERGY_BEGINS);
	read_at(&b, 70, 3000000, 0);
	free(gen_close(a.r.g, MSR_EXIT_RETURN, 0));
	struct model *m = finish(&b);
	assert_int_equal(m->meters[0].n_changes, 4);
	assert_int_equal(m->meters[0].sum.total_uj, 3000000);
	assert_int_equal(m->meters[0].sum.covered_ns, MS(20));
	run_clean(&a.r, m);
}

static void read_host(struct energy_run *e, uint32_t meter, double time, uint64_t uj,
		      uint32_t flags)
{
	gen_gpu_energy(e->r.g, &(struct msr_gpu_energy){.time_ns = MS(time),
							.unchanged_ns = MS(time) - 1000,
							.energy_uj = uj,
							.meter = meter,
							.flags = flags});
}

static void test_a_host_counts_once(void **state)
{
	(void)state;
	struct energy_run a, b;
	begin(&a);
	begin_as(&b, a.r.directory, 4);
	uint32_t at_a = gen_gpu_counter(a.r.g, "RAPL package-0", "", MSR_UNIT_UJ),
		 at_b = gen_gpu_counter(b.r.g, "RAPL package-0", "", MSR_UNIT_UJ);
	read_host(&a, at_a, 10, 1000000, MSR_GPU_ENERGY_BEGINS);
	read_host(&a, at_a, 30, 2000000, 0);
	read_host(&b, at_b, 5, 500000, MSR_GPU_ENERGY_BEGINS);
	read_host(&b, at_b, 45, 3000000, 0);
	free(gen_close(a.r.g, MSR_EXIT_RETURN, 0));
	struct model *m = finish(&b);
	assert_int_equal(m->n_meters, 1);
	assert_int_equal(m->meters[0].device, MODEL_NONE);
	assert_int_equal(m->meters[0].sum.total_uj, 2500000);
	assert_int_equal(m->meters[0].sum.unknown_uj, 2500000);
	assert_int_equal(m->meters[0].sum.covered_ns, MS(40));
	run_clean(&a.r, m);
}

static void test_operations_without_times(void **state)
{
	(void)state;
	struct energy_run e;
	begin(&e);
	kernel(&e, 30, 50);
	e.r.tally->aggregate_from_ns = MS(65);
	read_ten(&e);
	struct model *m = finish(&e);
	/* from 60 ms on it is not known what ran */
	assert_int_equal(m->meters[0].sum.unknown_uj, 1000000 + 2500000 + 2000000);
	assert_about(joules(m, "saxpy", "GENERGY (J)"), 8.0);
	run_clean(&e.r, m);
}

/* Then nobody knows when the device was busy, and not that it was idle. */
static void test_no_operation_has_times(void **state)
{
	(void)state;
	struct energy_run e;
	begin(&e);
	e.r.queue = 0;
	kernel(&e, 30, 50);
	read_ten(&e);
	struct model *m = finish(&e);
	assert_int_equal(m->meters[0].sum.idle_uj, 0);
	assert_int_equal(m->meters[0].sum.unknown_uj, 16500000);
	run_clean(&e.r, m);
}

static void test_untimed_operations_of_processes_add_up(void **state)
{
	(void)state;
	struct energy_run a, b;
	begin(&a);
	begin_as(&b, a.r.directory, 4);
	for (unsigned i = 0; i < 75; i++) {
		kernel(&a, 30, 50);
		kernel(&b, 30, 50);
	}
	a.r.queue = b.r.queue = 0;
	kernel(&a, 30, 50);
	kernel(&b, 30, 50); /* 2 of 152 */
	read_ten(&a);
	free(gen_close(a.r.g, MSR_EXIT_RETURN, 0));
	struct model *m = finish(&b);
	assert_int_equal(m->meters[0].sum.unknown_uj, 16500000);
	run_clean(&a.r, m);
}

static void test_damaged_readings(void **state)
{
	(void)state;
	struct energy_run e;
	begin(&e);
	kernel(&e, 30, 50);
	read_ten(&e);
	const struct msr_gpu_energy good = {.time_ns = MS(200),
					    .unchanged_ns = MS(199),
					    .energy_uj = 30000000,
					    .meter = e.meter,
					    .device = e.r.device};
	struct msr_gpu_energy bad[] = {good, good, good, good, good};
	bad[0].meter = 99;
	bad[1].device = 99;
	bad[2].unchanged_ns = MS(201);
	bad[3].energy_uj = UINT64_MAX;
	bad[4].time_ns = UINT64_MAX;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		gen_gpu_energy(e.r.g, &bad[i]);
	struct model *m = finish(&e);
	assert_int_equal(m->ledger.bytes_damaged, 5 * sizeof *bad);
	assert_int_equal(m->meters[0].n_changes, 10);
	assert_int_equal(m->meters[0].sum.total_uj, 16500000);
	run_clean(&e.r, m);
}

/* The meter of a damaged file may go back, or stand still. */
static void test_a_meter_never_goes_back(void **state)
{
	(void)state;
	struct energy_run e;
	begin(&e);
	kernel(&e, 30, 50);
	read_at(&e, 10, 5000000, MSR_GPU_ENERGY_BEGINS);
	read_at(&e, 20, 4000000, 0);
	read_at(&e, 30, 5000000, 0);
	read_at(&e, 30, 6000000, 0);
	read_at(&e, 30, 7000000, 0);
	read_at(&e, 50, 9000000, 0);
	struct model *m = finish(&e);
	assert_int_equal(m->meters[0].n_changes, 3);
	assert_int_equal(m->meters[0].sum.total_uj, 4000000);
	run_clean(&e.r, m);
}

static struct model *part(struct energy_run *e, struct filter f)
{
	struct model *m = fixture_model(e->r.directory, 1);
	assert_int_equal(filter_apply(&m, &f, 1), STATUS_OK);
	check_sums(m);
	return m;
}

static void test_ranges_add_up(void **state)
{
	(void)state;
	struct energy_run e;
	begin(&e);
	kernel(&e, 30, 50);
	kernel(&e, 72, 75);
	other_kernel(&e, 75, 77);
	read_ten(&e);
	struct model *m = finish(&e), *a = part(&e, (struct filter){.time = ":0.0444"}),
		     *b = part(&e, (struct filter){.time = "0.0444:0.0741"}),
		     *c = part(&e, (struct filter){.time = "0.0741:"});
	static const char *const kernels[] = {"saxpy", "triad"};
	for (size_t i = 0; i < 2; i++)
		assert_about(joules(a, kernels[i], "GENERGY (J)") +
				     joules(b, kernels[i], "GENERGY (J)") +
				     joules(c, kernels[i], "GENERGY (J)"),
			     joules(m, kernels[i], "GENERGY (J)"));
	const struct model_energy *s[] = {&a->meters[0].sum, &b->meters[0].sum, &c->meters[0].sum};
	uint64_t total = s[0]->total_uj + s[1]->total_uj + s[2]->total_uj;
	assert_true(total + 3 >= 16500000 && total <= 16500000 + 3);
	assert_int_equal(s[0]->busy_ns + s[1]->busy_ns + s[2]->busy_ns, MS(25));
	/* of [10, 44.401), 14.401 ms at 400 W, the rest idle */
	assert_about((double)s[0]->operations_uj / 1e6, 5.7604);
	assert_about((double)s[0]->idle_uj / 1e6, 2.0);
	model_free(a);
	model_free(b);
	model_free(c);
	/* what else ran does not matter */
	struct model *d = part(&e, (struct filter){.below = "triad"});
	assert_about(joules(d, "triad", "GENERGY (J)"), joules(m, "triad", "GENERGY (J)"));
	assert_about(joules(d, "saxpy", "GENERGY (J)"), 0);
	assert_int_equal(d->meters[0].sum.total_uj, 16500000);
	model_free(d);
	run_clean(&e.r, m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy_and_idle),
		cmocka_unit_test(test_time_without_a_meter),
		cmocka_unit_test(test_contexts_share_by_time),
		cmocka_unit_test(test_concurrent_operations),
		cmocka_unit_test(test_never_idle_for_long),
		cmocka_unit_test(test_a_gap_is_not_counted),
		cmocka_unit_test(test_processes_share_a_device),
		cmocka_unit_test(test_processes_follow_each_other),
		cmocka_unit_test(test_a_meter_starts_again),
		cmocka_unit_test(test_a_host_counts_once),
		cmocka_unit_test(test_operations_without_times),
		cmocka_unit_test(test_no_operation_has_times),
		cmocka_unit_test(test_untimed_operations_of_processes_add_up),
		cmocka_unit_test(test_damaged_readings),
		cmocka_unit_test(test_a_meter_never_goes_back),
		cmocka_unit_test(test_ranges_add_up),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
