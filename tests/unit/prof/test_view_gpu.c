/* SPDX-License-Identifier: BSD-3-Clause */
/* What GPUs did (view_gpu.h, view_hot.h, view_waits.h), against a second computation from the
 * operations and totals of a hand-made model. */
#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_hot.h"
#include "hpcprof-lite/view/view_waits.h"
#include "tests/unit/sink/model_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct model *make(uint32_t n_gpu_ops)
{
	return fixture_make(&(struct fixture_options){.n_processes = 2,
						      .n_threads = 2,
						      .n_metrics = 1,
						      .n_samples = 20,
						      .n_gpu_ops = n_gpu_ops,
						      .traces = true});
}

/* All operations of the model, those of one lane one behind the other. Owned by the caller. */
static struct model_gpu_op *all_ops(const struct model *m, size_t *n, uint32_t device)
{
	struct model_gpu_op *ops = calloc(1000, sizeof *ops);
	*n = 0;
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		struct model_gpu_cursor cursor = {0};
		if (m->profiles[i].kind != MODEL_PROFILE_QUEUE ||
		    (device != MODEL_NONE && m->gpu_queues[m->profiles[i].queue].device != device))
			continue;
		for (size_t k; (k = model_gpu_read(m, i, &cursor, ops + *n, 7));)
			*n += k;
	}
	return ops;
}

static void kernels_and_copies(void **state)
{
	struct model *m = make(41);
	struct view_gpu g;
	size_t n;
	struct model_gpu_op *ops = all_ops(m, &n, MODEL_NONE);
	double seconds = 0, count = 0;
	(void)state;
	assert_int_equal(n, 2 * 3 * 41);
	assert_true(view_gpu_open(m, &g));
	for (size_t i = 0; i < g.kernels.n; i++) {
		const struct view_gpu_kernel *k = &g.kernels.at[i];
		uint64_t min = UINT64_MAX, max = 0, sum = 0, n_ops = 0;
		for (size_t j = 0; j < n; j++)
			if (m->contexts[ops[j].context].function == k->function) {
				uint64_t length = ops[j].end_ns - ops[j].start_ns;
				min = length < min ? length : min;
				max = length > max ? length : max;
				sum += length;
				n_ops++;
			}
		assert_int_equal(k->n_ops, n_ops);
		assert_int_equal(k->min_ns, min);
		assert_int_equal(k->max_ns, max);
		assert_float_equal(k->seconds, (double)sum * 1e-9, 1e-9);
		assert_true(k->n == (double)n_ops); /* nothing was summed up in the run */
		assert_true(i == 0 || k->seconds <= g.kernels.at[i - 1].seconds);
		seconds += k->seconds;
		count += k->n;
	}
	assert_float_equal(seconds, view_total(m, view_find_metric(m, MODEL_ROLE_KERNEL_TIME)),
			   1e-9);
	assert_true(count == view_total(m, view_find_metric(m, MODEL_ROLE_KERNELS)));
	assert_true(g.kernels.n == 3 && g.kernels.at[0].more_shapes &&
		    !g.kernels.at[2].more_shapes);
	assert_true(
		(double)g.copies[MSR_GPU_COPY_H2D].bytes ==
		view_total(m, view_find_metric(m, MODEL_ROLE_COPY_BYTES))); /* the first of them */
	assert_true((double)g.copies[MSR_GPU_COPY_D2H].bytes ==
		    view_total(m, view_find_metric(m, MODEL_ROLE_COPY_BYTES) + 1));
	assert_true((double)(g.copies[MSR_GPU_COPY_H2D].n + g.copies[MSR_GPU_COPY_D2H].n) ==
		    view_total(m, view_find_metric(m, MODEL_ROLE_COPIES)));
	assert_int_equal(g.sets.n + g.copies[MSR_GPU_COPY_UNKNOWN].n, 0);
	view_gpu_close(&g);
	free(ops);
	fixture_free(m);
}

/* Time with an operation: where a moment lies in one, moment by moment between all starts and ends.
 */
static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static uint64_t busy_by_moments(const struct model_gpu_op *ops, size_t n)
{
	uint64_t *times = calloc(2 * n + 1, sizeof *times), busy = 0;
	for (size_t i = 0; i < n; i++) {
		times[2 * i] = ops[i].start_ns;
		times[2 * i + 1] = ops[i].end_ns;
	}
	qsort(times, 2 * n, sizeof *times, compare_times);
	for (size_t t = 0; t + 1 < 2 * n; t++)
		for (size_t i = 0; i < n; i++)
			if (ops[i].start_ns <= times[t] && times[t + 1] <= ops[i].end_ns) {
				busy += times[t + 1] - times[t];
				break;
			}
	free(times);
	return busy;
}

static void devices_are_busy_once(void **state)
{
	struct model *m = make(100); /* more than a chunk of the merge */
	struct view_gpu g;
	(void)state;
	assert_true(view_gpu_open(m, &g));
	for (uint32_t d = 0; d < m->n_gpu_devices; d++) {
		size_t n;
		struct model_gpu_op *ops = all_ops(m, &n, d);
		assert_int_equal(g.device_busy_ns[d], busy_by_moments(ops, n));
		free(ops);
	}
	for (uint32_t q = 0; q < m->n_gpu_queues; q++)
		assert_int_equal(g.queues[q].n, (q % 2 + 1) * 100);
	view_gpu_close(&g);
	fixture_free(m);
}

static void without_gpus(void **state)
{
	struct model *m = make(0);
	struct view_gpu g;
	(void)state;
	assert_true(view_gpu_open(m, &g));
	assert_int_equal(g.kernels.n, 0);
	view_gpu_close(&g);
	assert_int_equal(view_find_metric(m, MODEL_ROLE_KERNEL_TIME), MODEL_NONE);
	assert_true(view_total(m, MODEL_NONE) == 0);
	fixture_free(m);
}

/* Lines, launchers and stall reasons of the kernels have all samples, once each. */
static void inside_of_kernels(void **state)
{
	struct model *m = make(41);
	struct view_hot h;
	double samples = 0, stalled = 0;
	(void)state;
	assert_true(view_hot_open(m, &h));
	assert_true(h.kernels.n > 0 && h.n_stalls > 0);
	for (size_t i = 0; i < h.kernels.n; i++) {
		const struct view_hot_kernel *k = &h.kernels.at[i];
		double of_lines = 0, of_launchers = 0, seconds = 0, of_stall = 0;
		for (size_t j = 0; j < k->n_lines; j++) {
			const struct view_hot_line *l = &h.lines.at[k->first_line + j];
			of_lines += l->samples;
			of_stall += h.values.at[l->stalls];
			assert_true(j == 0 || l->samples <= l[-1].samples);
		}
		for (size_t j = 0; j < k->n_launchers; j++) {
			const struct view_hot_launcher *l = &h.launchers.at[k->first_launcher + j];
			of_launchers += l->samples;
			seconds += l->seconds;
			assert_int_equal(
				m->contexts[l->context].kind,
				MODEL_CONTEXT_LINE); /* of the program, not of the run time */
		}
		assert_true(of_lines == k->samples && of_launchers == k->samples);
		assert_float_equal(seconds, k->seconds, 1e-9);
		assert_true(of_stall == h.values.at[k->stalls]);
		assert_true(i == 0 || k->seconds <= h.kernels.at[i - 1].seconds);
		samples += k->samples;
		stalled += h.values.at[k->stalls];
	}
	assert_true(samples == view_total(m, view_find_metric(m, MODEL_ROLE_SAMPLES)));
	assert_true(stalled == view_total(m, h.stalls[0]));
	view_hot_close(&h);
	fixture_free(m);
}

/* Time is neither made nor lost where it is shared out inside of kernels. */
static void time_inside_of_kernels(void **state)
{
	struct model *m = make(41);
	struct view_values time, samples;
	(void)state;
	assert_true(view_values_open(m, view_find_metric(m, MODEL_ROLE_KERNEL_TIME), &time));
	assert_true(view_values_open(m, view_find_metric(m, MODEL_ROLE_SAMPLES), &samples));
	view_gpu_spread(m, &time, &samples);
	double sum = 0;
	for (uint32_t c = 0; c < m->n_contexts; c++)
		sum += time.self[c];
	assert_float_equal(sum, time.whole, 1e-9);
	view_values_close(&time);
	view_values_close(&samples);
	fixture_free(m);
}

/* Threads wait in the call of one line. */
static void waits(void **state)
{
	struct model *m = make(41);
	struct view_waits w;
	(void)state;
	assert_true(view_waits_make(m, &w));
	assert_int_equal(w.n, 1);
	assert_string_equal(m->functions[m->contexts[w.at[0].api].function].name,
			    "clEnqueueNDRangeKernel");
	assert_int_equal(m->contexts[w.at[0].call].line, 15);
	assert_float_equal(w.at[0].seconds,
			   view_total(m, view_find_metric(m, MODEL_ROLE_SYNC_TIME)), 1e-9);
	view_waits_free(&w);
	fixture_free(m);
}

/* Of the root, and of a context without samples. */
static void top_stalls(void **state)
{
	struct model *m = make(41);
	struct view_gpu_stall top[2];
	(void)state;
	assert_int_equal(view_gpu_stalls(m, 0, MODEL_EXECUTION, top), 1);
	assert_string_equal(m->metrics[top[0].metric].reason, "GMEM");
	assert_float_equal(top[0].value / top[0].whole, 0.6, 1e-9);
	assert_int_equal(view_gpu_stalls(m, 1, MODEL_POINT, top), 0);
	fixture_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_and_copies),
		cmocka_unit_test(devices_are_busy_once),
		cmocka_unit_test(without_gpus),
		cmocka_unit_test(inside_of_kernels),
		cmocka_unit_test(time_inside_of_kernels),
		cmocka_unit_test(waits),
		cmocka_unit_test(top_stalls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
