/* SPDX-License-Identifier: BSD-3-Clause */
/* How the text writes shapes of launches (text_gpu.h) and the losses of GPUs. */
#include "hpcprof-lite/sink/text/text_gpu.h"
#include "hpcprof-lite/sink/text/text_all.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "tests/unit/sink/model_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
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

static void shapes(void **state)
{
	const struct msr_gpu_shape all[] = {
		{.grid = {64, 1, 1}, .block = {256, 1, 1}},
		{.grid = {16, 16, 1}, .block = {8, 8, 2}},
		{.grid = {1, 1, 4}, .block = {0}},
		{.grid = {0}},
		{.global = {4096, 2, 1}},
	};
	static const char *const expected[] = {"64 x 256", "16,16 x 8,8,2", "1,1,4 x ?", "",
					       "4096,2 items"};
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

/* What could not be written is in the report and in the complete text, and only where there is
 * any. */
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
		assert_int_equal(
			strstr(report,
			       "also 2 names, queues or shapes that could not be written") != NULL,
			round);
		assert_int_equal(strstr(report, "also 3 code objects that could not be kept") !=
					 NULL,
				 round);
		assert_int_equal(
			strstr(report, "also 4 values of counters, ranges of PC sampling") != NULL,
			round);
		assert_int_equal(strstr(all, "\ngpu-unwritten\tall\t-\t-\t2\t3\t4\n") != NULL,
				 round);
		free(report);
		free(all);
	}
	fixture_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes),
		cmocka_unit_test(unwritten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
