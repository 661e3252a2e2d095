/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over processes and threads (view_run.h), of a model that is written down here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcprof-lite/view/view_run.h"

#include <stdlib.h>

static const struct model_process processes[] = {
	{.host = "a", .rank = 0, .start_ns = 10, .end_ns = 110, .off_ns = 30, .n_stops = 2},
	{.host = "b", .rank = 1, .start_ns = 10, .end_ns = 60, .off_ns = 50},
	{.host = "a", .rank = -1, .start_ns = 20, .end_ns = 30},
};
static const struct model_ledger ledgers[] = {
	{.handler_ns = 10}, {.handler_ns = 20}, {.handler_ns = 40}};
static const struct model_profile profiles[] = {
	{.cpu_ns = 1000, .ledger = &ledgers[0], .source_use = {.event_ns = 900,
								 .event_samples = 9,
								 .event_switches = 5}},
	{.cpu_ns = 500, .ledger = &ledgers[1], .source_use = {.timer_ns = 400,
								.timer_samples = 4}},
	/* killed: no CPU clock, and only the first samples by the timer */
	{.ledger = &ledgers[2], .source_use = {.event_ns = 200,
						 .event_samples = 2,
						 .timer_ns = 100,
						 .timer_samples = 2}},
};
static const struct model_context contexts[] = {{.module = MODEL_NONE}, {.module = 1},
						{.module = 0}, {.module = 1}};
static const struct model_metric metrics[] = {
	{.kind = MODEL_METRIC_SAMPLED,
	 .event = "CPUTIME",
	 .measures = MODEL_EVENT_CPUTIME,
	 .period = 1000000},
	{.kind = MODEL_METRIC_SAMPLED, .event = "PAPI_TOT_CYC"},
};
static const struct model_total totals[] = {{.context = 1, .metric = 0, .n_samples = 3},
					    {.context = 1, .metric = 1, .n_samples = 50},
					    {.context = 2, .metric = 0, .n_samples = 4}};
static const struct model model = {
	.processes = processes, .n_processes = 3, .profiles = profiles, .n_profiles = 3,
	.contexts = contexts,   .n_contexts = 4,  .metrics = metrics,   .n_metrics = 2,
	.totals = totals,       .n_totals = 3,    .n_modules = 2,
};

static void processes_add_up(void **state)
{
	(void)state;
	struct view_run r;
	assert_true(view_run_make(&model, &r));
	assert_true(r.n_hosts == 2 && r.n_ranks == 2);
	assert_true(r.lifetime_ns == 160 && r.off_ns == 80);
	assert_true(r.n_off == 2 && r.n_stops == 2 && r.n_never == 1);
	assert_true(r.cpu_ns == 1500 && r.handler_ns == 30);
}

static void sources_add_up(void **state)
{
	(void)state;
	struct view_sources s;
	view_sources_make(&model, &s);
	assert_true(s.event.ns == 1100 && s.event.n_samples == 11 && s.event.n_threads == 2);
	assert_true(s.timer.ns == 500 && s.timer.n_samples == 6 && s.timer.n_threads == 1);
	assert_true(s.n_switches == 5 && s.switch_seconds > 0);
	assert_true(s.cpu_seconds > 1799e-9 && s.cpu_seconds < 1801e-9);
	assert_true(view_sampled_by_both(&model, 0));
	assert_false(view_sampled_by_both(&model, 1));
}

static void values_add_up(void **state)
{
	(void)state;
	double self[] = {1, 2, 4, 8};
	const struct view_values v = {.self = self};
	double *of_module = view_sum_modules(&model, &v);
	assert_non_null(of_module);
	assert_true(of_module[0] == 4 && of_module[1] == 10);
	free(of_module);
	assert_int_equal(view_count_samples(&model, 0), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_add_up),
		cmocka_unit_test(sources_add_up),
		cmocka_unit_test(values_add_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
