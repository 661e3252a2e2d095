/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the model of model_fixture.c through a sink, for the shell tests and judges:
 *
 *	sink_fixture SINK DIRECTORY [NAME=NUMBER ...] [source=FILE] [kernels=FILE] [form=FORM]
 *[metric=NAME] sink_fixture sums - [NAME=NUMBER ...]
 *
 * Names are those of struct fixture_options, workers, and all, width and threshold of the text;
 *peak=1 prints the largest resident set in KiB. "sums" prints what every output must hold, in the
 *form of the judges: one fact a line, fields separated by tabs. Not a test by itself.
 */
#include "config.h"

#include "common/base/log.h"
#include "hpcprof-lite/sink/cctdb/cctdb_sink.h"
#include "hpcprof-lite/sink/folded_sink.h"
#include "hpcprof-lite/sink/html/html_sink.h"
#include "hpcprof-lite/sink/json/json_sink.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/otf2/otf2_sink.h"
#include "hpcprof-lite/sink/perfetto/perfetto_sink.h"
#include "hpcprof-lite/sink/pprof/pprof_sink.h"
#include "hpcprof-lite/sink/sqlite/sqlite_sink.h"
#include "hpcprof-lite/sink/text/text_sink.h"
#include "tests/unit/sink/model_fixture.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static bool print_peak;
static struct sink_text_options text_settings = {.threshold = -1};
static struct sink_otf2_options otf2_settings;

static bool set(struct fixture_options *o, struct sink_options *so, const char *argument)
{
	const char *value = strchr(argument, '=');
	if (!value)
		return false;
	size_t n = (size_t)(value++ - argument);
	unsigned long long number = strtoull(value, NULL, 10);
	const struct {
		const char *name;
		uint32_t *number;
	} numbers[] = {{"n_processes", &o->n_processes}, {"n_threads", &o->n_threads},
		       {"n_metrics", &o->n_metrics},     {"n_extra", &o->n_extra},
		       {"recursion", &o->recursion},     {"gpu_depth", &o->gpu_depth},
		       {"n_gpu_ops", &o->n_gpu_ops}};
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {{"ranks", &o->ranks},
		     {"traces", &o->traces},
		     {"loops", &o->loops},
		     {"peak", &print_peak},
		     {"all", &text_settings.all}};
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (strncmp(argument, numbers[i].name, n) == 0 && numbers[i].name[n] == '\0') {
			*numbers[i].number = (uint32_t)number;
			return true;
		}
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (strncmp(argument, flags[i].name, n) == 0 && flags[i].name[n] == '\0') {
			*flags[i].flag = number != 0;
			return true;
		}
	if (n == 9 && memcmp(argument, "n_samples", n) == 0)
		o->n_samples = number;
	else if (n == 7 && memcmp(argument, "workers", n) == 0)
		so->n_workers = (unsigned)number;
	else if (n == 5 && memcmp(argument, "width", n) == 0)
		text_settings.width = (unsigned)number;
	else if (n == 6 && memcmp(argument, "metric", n) == 0)
		text_settings.metric = value;
	else if (n == 9 && memcmp(argument, "threshold", n) == 0)
		text_settings.threshold = (double)number;
	else if (n == 6 && memcmp(argument, "source", n) == 0)
		o->source = value;
	else if (n == 7 && memcmp(argument, "kernels", n) == 0)
		o->kernels = value;
	else if (n == 4 && memcmp(argument, "form", n) == 0)
		otf2_settings.form = value;
	else
		return false;
	return true;
}

/* Bytes that are no printable ASCII do not take part in comparisons of names. */
static void print_name(const char *name)
{
	for (; *name; name++)
		if (*name >= ' ' && *name <= '~')
			putchar(*name);
}

static void print_sums(const struct model *m)
{
	double *by_function =
		calloc((size_t)m->n_functions * m->n_metrics + 1, sizeof *by_function);
	printf("contexts\t%" PRIu32 "\nprofiles\t%" PRIu32 "\n", m->n_contexts, m->n_profiles);
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_total *t = model_find_total(m, 0, i);
		char *name = names_metric(&m->metrics[i]);
		printf("total\t%s\t%.12g\n", name, t ? t->sum[MODEL_EXECUTION] : 0);
		free(name);
	}
	for (size_t i = 0; i < m->n_totals && by_function; i++)
		if (m->totals[i].sum[MODEL_POINT] != 0 &&
		    m->contexts[m->totals[i].context].function != MODEL_NONE)
			by_function[(size_t)m->contexts[m->totals[i].context].function *
					    m->n_metrics +
				    m->totals[i].metric] += m->totals[i].sum[MODEL_POINT];
	for (uint32_t f = 0; f < m->n_functions && by_function; f++)
		for (uint32_t i = 0; i < m->n_metrics; i++)
			if (by_function[(size_t)f * m->n_metrics + i] != 0) {
				char *name = names_metric(&m->metrics[i]);
				printf("function\t%s\t", name);
				print_name(m->functions[f].name);
				printf("\t%.12g\n", by_function[(size_t)f * m->n_metrics + i]);
				free(name);
			}
	for (uint32_t p = 0; p < m->n_profiles; p++)
		printf("samples\t%" PRIu32 "\t%" PRIu64 "\n", p, m->profiles[p].n_trace_records);
	free(by_function);
}

int main(int argc, char **argv)
{
	signal(SIGXFSZ, SIG_IGN); /* as in hpcprof-lite */
	struct fixture_options o = {.n_processes = 2,
				    .n_threads = 2,
				    .n_metrics = 2,
				    .recursion = 4,
				    .n_samples = 200,
				    .ranks = true,
				    .traces = true};
	struct sink_options so = {.n_workers = 2};
	static const struct {
		const struct sink_ops *ops;
		const void *settings;
	} sinks[] = {
		{&sink_text, &text_settings},
		{&sink_cctdb, NULL},
		{&sink_html, NULL},
		{&sink_folded, NULL},
		{&sink_pprof, NULL},
		{&sink_json, NULL},
#ifdef HAVE_SQLITE3
		{&sink_sqlite, NULL},
#endif
		{&sink_perfetto, NULL},
#ifdef HAVE_OTF2
		{&sink_otf2, &otf2_settings},
#endif
	};
	log_set_program("sink_fixture");
	bool ok = argc >= 3;
	for (int i = 3; ok && i < argc; i++)
		ok = set(&o, &so, argv[i]);
	if (!ok || o.n_metrics < 1 || o.n_metrics > 3 || !o.n_processes || !o.n_threads) {
		fputs("usage: sink_fixture SINK|sums DIRECTORY [NAME=VALUE ...]\n", stderr);
		return 2;
	}
	struct model *m = fixture_make(&o);
	so.directory = argv[2];
	int status = 2;
	if (strcmp(argv[1], "sums") == 0) {
		print_sums(m);
		status = 0;
	}
	for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++)
		if (strcmp(argv[1], sinks[i].ops->name) == 0) {
			so.settings = sinks[i].settings;
			status = status_exit_code(sinks[i].ops->write(m, &so));
		}
	fixture_free(m);
	struct rusage usage;
	if (print_peak && getrusage(RUSAGE_SELF, &usage) == 0)
		printf("%ld\n", usage.ru_maxrss);
	return status;
}
