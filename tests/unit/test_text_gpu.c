/* SPDX-License-Identifier: BSD-3-Clause */
/* What the text gathers of GPUs (text_gpu.h), against a second computation from the operations and totals of a hand-made model. */
#include "hpcprof-lite/sink/text/text_gpu.h"
#include "hpcprof-lite/sink/text/text_all.h"
#include "hpcprof-lite/sink/text/text_gpu_hot.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/sink/text/text_table.h"
#include "tests/unit/model_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct model *make(uint32_t n_gpu_ops)
{
	return fixture_make(&(struct fixture_options){.n_processes = 2, .n_threads = 2, .n_metrics = 1, .n_samples = 20, .n_gpu_ops = n_gpu_ops, .traces = true});
}

/* All operations of the model, those of one lane one behind the other. Owned by the caller. */
static struct model_gpu_op *all_ops(const struct model *m, size_t *n, uint32_t device)
{
	struct model_gpu_op *ops = calloc(1000, sizeof *ops);
	*n = 0;
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		struct model_gpu_cursor cursor = {0};
		if (m->profiles[i].kind != MODEL_PROFILE_QUEUE || (device != MODEL_NONE && m->gpu_queues[m->profiles[i].queue].device != device))
			continue;
		for (size_t k; (k = model_gpu_read(m, i, &cursor, ops + *n, 7));)
			*n += k;
	}
	return ops;
}

static void kernels_and_copies(void **state)
{
	struct model *m = make(41);
	struct text_gpu g;
	size_t n;
	struct model_gpu_op *ops = all_ops(m, &n, MODEL_NONE);
	double seconds = 0, count = 0;
	(void)state;
	assert_int_equal(n, 2 * 3 * 41);
	assert_true(text_gpu_open(m, &g));
	for (size_t i = 0; i < g.kernels.n; i++) {
		const struct text_gpu_kernel *k = &g.kernels.at[i];
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
	assert_float_equal(seconds, text_metric_total(m, text_find_metric(m, MODEL_ROLE_KERNEL_TIME)), 1e-9);
	assert_true(count == text_metric_total(m, text_find_metric(m, MODEL_ROLE_KERNELS)));
	assert_true(g.kernels.n == 3 && g.kernels.at[0].more_shapes && !g.kernels.at[2].more_shapes);
	assert_true((double)g.copies[MSR_GPU_COPY_H2D].bytes == text_metric_total(m, text_find_metric(m, MODEL_ROLE_COPY_BYTES))); /* the first of them */
	assert_true((double)g.copies[MSR_GPU_COPY_D2H].bytes == text_metric_total(m, text_find_metric(m, MODEL_ROLE_COPY_BYTES) + 1));
	assert_true((double)(g.copies[MSR_GPU_COPY_H2D].n + g.copies[MSR_GPU_COPY_D2H].n) == text_metric_total(m, text_find_metric(m, MODEL_ROLE_COPIES)));
	assert_int_equal(g.sets.n + g.copies[MSR_GPU_COPY_UNKNOWN].n, 0);
	text_gpu_close(&g);
	free(ops);
	fixture_free(m);
}

/* Time with an operation: where a moment lies in one, moment by moment between all starts and ends. */
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
	struct text_gpu g;
	(void)state;
	assert_true(text_gpu_open(m, &g));
	for (uint32_t d = 0; d < m->n_gpu_devices; d++) {
		size_t n;
		struct model_gpu_op *ops = all_ops(m, &n, d);
		assert_int_equal(g.device_busy_ns[d], busy_by_moments(ops, n));
		free(ops);
	}
	for (uint32_t q = 0; q < m->n_gpu_queues; q++)
		assert_int_equal(g.queues[q].n, (q % 2 + 1) * 100);
	text_gpu_close(&g);
	fixture_free(m);
}

static void shapes(void **state)
{
	const struct msr_gpu_shape all[] = {
		{.grid = {64, 1, 1}, .block = {256, 1, 1}}, {.grid = {16, 16, 1}, .block = {8, 8, 2}}, {.grid = {1, 1, 4}, .block = {0}}, {.grid = {0}},
		{.global = {4096, 2, 1}},
	};
	static const char *const expected[] = {"64 x 256", "16,16 x 8,8,2", "1,1,4 x ?", "", "4096,2 items"};
	const struct model m = {.gpu_shapes = all, .n_gpu_shapes = 5};
	char text[64];
	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		text_gpu_shape(text, sizeof text, &m, i, false);
		assert_string_equal(text, expected[i]);
	}
	text_gpu_shape(text, sizeof text, &m, 0, true);
	assert_string_equal(text, "64 x 256 *");
	text_gpu_shape(text, sizeof text, &m, MODEL_NONE, false);
	assert_string_equal(text, "");
	text_gpu_shape(text, 8, &m, 1, true); /* cut, and ended */
	assert_string_equal(text, "16,16 x");
}

static void without_gpus(void **state)
{
	struct model *m = make(0);
	struct text_gpu g;
	(void)state;
	assert_true(text_gpu_open(m, &g));
	assert_int_equal(g.kernels.n, 0);
	text_gpu_close(&g);
	assert_int_equal(text_find_metric(m, MODEL_ROLE_KERNEL_TIME), MODEL_NONE);
	assert_true(text_metric_total(m, MODEL_NONE) == 0);
	fixture_free(m);
}

/* Lines, launchers and stall reasons of the kernels have all samples, once each. */
static void inside_of_kernels(void **state)
{
	struct model *m = make(41);
	struct text_gpu_hot h;
	double samples = 0, stalled = 0;
	(void)state;
	assert_true(text_gpu_hot_open(m, &h));
	assert_true(h.kernels.n > 0 && h.n_stalls > 0);
	for (size_t i = 0; i < h.kernels.n; i++) {
		const struct text_gpu_hot_kernel *k = &h.kernels.at[i];
		double of_lines = 0, of_launchers = 0, seconds = 0, of_stall = 0;
		for (size_t j = 0; j < k->n_lines; j++) {
			const struct text_gpu_line *l = &h.lines.at[k->first_line + j];
			of_lines += l->samples;
			of_stall += h.values.at[l->stalls];
			assert_true(j == 0 || l->samples <= l[-1].samples);
		}
		for (size_t j = 0; j < k->n_launchers; j++) {
			const struct text_gpu_launcher *l = &h.launchers.at[k->first_launcher + j];
			of_launchers += l->samples;
			seconds += l->seconds;
			assert_int_equal(m->contexts[l->context].kind, MODEL_CONTEXT_LINE); /* of the program, not of the run time */
		}
		assert_true(of_lines == k->samples && of_launchers == k->samples);
		assert_float_equal(seconds, k->seconds, 1e-9);
		assert_true(of_stall == h.values.at[k->stalls]);
		assert_true(i == 0 || k->seconds <= h.kernels.at[i - 1].seconds);
		samples += k->samples;
		stalled += h.values.at[k->stalls];
	}
	assert_true(samples == text_metric_total(m, text_find_metric(m, MODEL_ROLE_SAMPLES)));
	assert_true(stalled == text_metric_total(m, h.stalls[0]));
	text_gpu_hot_close(&h);
	fixture_free(m);
}

/* Time is neither made nor lost where it is shared out inside of kernels. */
static void time_inside_of_kernels(void **state)
{
	struct model *m = make(41);
	struct text_metric time, samples;
	(void)state;
	assert_true(text_metric_open(m, text_find_metric(m, MODEL_ROLE_KERNEL_TIME), &time));
	assert_true(text_metric_open(m, text_find_metric(m, MODEL_ROLE_SAMPLES), &samples));
	text_gpu_spread(m, &time, &samples);
	double sum = 0;
	for (uint32_t c = 0; c < m->n_contexts; c++)
		sum += time.self[c];
	assert_float_equal(sum, time.whole, 1e-9);
	text_metric_close(&time);
	text_metric_close(&samples);
	fixture_free(m);
}

/* What could not be written is in the report and in the complete text, and only where there is any. */
static void unwritten(void **state)
{
	(void)state;
	struct model *m = make(3);
	for (unsigned round = 0; round < 2; round++) {
		char *report = NULL, *all = NULL;
		size_t n;
		FILE *to_report = open_memstream(&report, &n), *to_all = open_memstream(&all, &n);
		m->gpu_ledger.n_lost_definitions = round * 2;
		m->gpu_ledger.n_lost_contents = round * 3;
		m->gpu_ledger.n_lost_values = round * 4;
		text_report_gpu_ledger(m, &(struct text_style){.out = to_report, .width = 120});
		assert_int_equal(sink_text_all(m, to_all), STATUS_OK);
		fclose(to_report);
		fclose(to_all);
		assert_int_equal(strstr(report, "also 2 names, queues or shapes that could not be written") != NULL, round);
		assert_int_equal(strstr(report, "also 3 code objects that could not be kept") != NULL, round);
		assert_int_equal(strstr(report, "also 4 values of counters, ranges of PC sampling") != NULL, round);
		assert_int_equal(strstr(all, "\ngpu-unwritten\tall\t-\t-\t2\t3\t4\n") != NULL, round);
		free(report);
		free(all);
	}
	fixture_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_and_copies),
		cmocka_unit_test(devices_are_busy_once),
		cmocka_unit_test(shapes),
		cmocka_unit_test(without_gpus),
		cmocka_unit_test(inside_of_kernels),
		cmocka_unit_test(time_inside_of_kernels),
		cmocka_unit_test(unwritten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
