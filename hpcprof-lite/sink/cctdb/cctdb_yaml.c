/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * metrics/default.yaml: the table of metrics that hpcviewer and Hatchet show, after METRICS.yaml of
 * HPCToolkit (release 2024.01). Formulas have the form of a map {operator: [left, right]}, the only
 * one that hpcviewer reads. Names of roots equal the metrics' names, as Hatchet expects. Only sums
 * are shown at first; if there are several threads, there is also the mean over them, and for what
 * was measured in each of them minimum, maximum and deviation. All metrics are roots, as HPCToolkit
 * writes them and Hatchet needs them, in the order of the tree that they form: parts follow the
 * whole. People read launch characteristics as means, the sum divided by the number of launches;
 * the sums are only inputs. Test: tests/unit/sink/test_sink_cctdb.c.
 */
#include "common/base/log.h"
#include "common/safe/printable.h"
#include "hpcprof-lite/sink/cctdb/cctdb.h"
#include "hpcprof-lite/sink/cctdb/cctdb_statistics.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/outfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const partial_names[CCTDB_N_PARTIALS] = {"sum", "sumsq", "min", "max"};

static void put_quoted(FILE *out, const char *s)
{
	fputc('"', out);
	for (size_t n; *s; s += n ? n : 1) {
		n = printable_utf8(s);
		bool harmless;
		printable_step(s, &harmless);
		if (!n)
			fputs("\xef\xbf\xbd", out); /* as names_add() in the other files */
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (n == 1 && !harmless)
			fprintf(out, "\\x%02x", *s);
		else if (n == 2 && !harmless && (unsigned char)*s == 0xc2)
			fprintf(out, "\\x%02x",
				/* C1 controls, which YAML does not allow in text */
				(unsigned char)s[1]);
		else if (n == 3 && memcmp(s, "\xef\xbf\xbe", 2) == 0 && (unsigned char)s[2] >= 0xbe)
			fputs((unsigned char)s[2] == 0xbe ? "\\uFFFE" : "\\uFFFF",
			      out); /* YAML does not allow these either */
		else
			fwrite(s, 1, n, out);
	}
	fputc('"', out);
}

static bool put_inputs(FILE *out, const struct cctdb_plan *plan)
{
	const struct model *m = plan->m;
	fputs(m->n_metrics ? "inputs:\n" : "inputs: []\n", out);
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		char *name = names_metric(&m->metrics[i]);
		if (!name)
			return false;
		for (enum cctdb_partial p = CCTDB_SUM; p < CCTDB_N_PARTIALS; p++)
			for (unsigned s = CCTDB_FIRST_SCOPE; s < MODEL_N_SCOPES; s++) {
				if (!cctdb_has_statistic(plan->statistics[i], p, s))
					continue;
				fprintf(out, "  - &m%" PRIu32 "-%s-%s\n    metric: ", i,
					partial_names[p], cctdb_scope_names[s]);
				put_quoted(out, name);
				fprintf(out, "\n    scope: %s\n    formula: %s\n    combine: %s\n",
					cctdb_scope_names[s], cctdb_formulas[p], cctdb_combines[p]);
			}
		free(name);
	}
	return true;
}

/* A mean over launches, as HPCToolkit writes one: the variant has no name. */
static void put_mean(FILE *out, uint32_t metric, uint32_t divisor)
{
	static const struct {
		const char *key, *scope;
	} formulas[] = {{"          inclusive:\n            standard", "execution"},
			{"          exclusive:\n            custom", "lex_aware"},
			{"            standard", "function"}};
	fputs("    format: \"%.1f\"\n    variants:\n      \"\":\n        render: [number]\n        "
	      "formula:\n",
	      out);
	for (unsigned i = 0; i < 3; i++)
		fprintf(out, "%s: {\"/\": [*m%" PRIu32 "-sum-%s , *m%" PRIu32 "-sum-%s ]}\n",
			formulas[i].key, metric, formulas[i].scope, divisor, formulas[i].scope);
}

/*
 * The value of one metric and scope over the profiles that `what` names. Profiles without a value
 * count as 0 in mean and deviation.
 */
static void put_formula(FILE *out, const char *what, uint32_t metric, const char *scope,
			uint32_t n_profiles)
{
	if (strcmp(what, "Mean") == 0)
		fprintf(out, "{\"/\": [*m%" PRIu32 "-sum-%s , %" PRIu32 "]}\n", metric, scope,
			n_profiles);
	else if (strcmp(what, "StdDev") == 0)
		fprintf(out,
			"{sqrt: [{\"-\": [{\"/\": [*m%" PRIu32 "-sumsq-%s , %" PRIu32
			"]}, {\"^\": [{\"/\": [*m%" PRIu32 "-sum-%s , %" PRIu32 "]}, 2]}]}]}\n",
			metric, scope, n_profiles, metric, scope, n_profiles);
	else
		fprintf(out, "*m%" PRIu32 "-%s-%s\n", metric,
			strcmp(what, "Sum") == 0   ? "sum"
			: strcmp(what, "Min") == 0 ? "min"
						   : "max",
			scope);
}

static void put_variant(FILE *out, const char *what, uint32_t metric, uint32_t n_profiles)
{
	bool sum = strcmp(what, "Sum") == 0;
	fprintf(out,
		"      %s:\n        render: [%s]\n        formula:\n          inclusive:\n         "
		"   standard: ",
		what, sum ? "number, percent" : "number, hidden");
	put_formula(out, what, metric, "execution", n_profiles);
	fputs("          exclusive:\n", out);
	if (sum) {
		fputs("            custom: ", out);
		put_formula(out, what, metric, "lex_aware", n_profiles);
	}
	fputs("            standard: ", out);
	put_formula(out, what, metric, "function", n_profiles);
}

static void put_roots(FILE *out, const struct cctdb_plan *plan)
{
	static const char *const variants[] = {"Sum", "Mean", "Min", "Max", "StdDev"};
	const struct model *m = plan->m;
	uint32_t n_threads = model_count_threads(m);
	fputs(m->n_metrics ? "roots:\n" : "roots: []\n", out);
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *metric = &m->metrics[i];
		fputs("  - name: ", out);
		put_quoted(out, metric->name);
		fputs("\n    description: ", out);
		put_quoted(out, metric->description && metric->description[0] ? metric->description
									      : metric->name);
		fputs("\n", out);
		if (metric->kind == MODEL_METRIC_GPU_MEAN) {
			put_mean(out, i, metric->divisor);
			continue;
		}
		const unsigned n_variants = cctdb_has_spread(plan->statistics[i]) ? 5
					    : n_threads > 1                       ? 2
										  : 1;
		fputs("    variants:\n", out);
		for (unsigned v = 0; v < n_variants; v++)
			put_variant(out, variants[v], i, n_threads);
	}
}

enum status cctdb_write_yaml(const struct cctdb_plan *plan, const struct sink_options *o)
{
	char *text = NULL, *directory = outfile_path(o->directory, "metrics");
	size_t n = 0;
	FILE *out = directory ? open_memstream(&text, &n) : NULL;
	enum status status = STATUS_NO_MEMORY;
	if (out) {
		fputs("version: 0\n", out);
		bool ok = put_inputs(out, plan);
		put_roots(out, plan);
		if (fclose(out) == 0 && ok)
			status = STATUS_OK;
	}
	if (status != STATUS_OK)
		log_error(o->directory, "out of memory");
	else if ((status = outdir_make(directory)) == STATUS_OK) {
		struct outfile file;
		status = outfile_create(&file, directory, "default.yaml");
		if (status == STATUS_OK) {
			outfile_write(&file, text, n, 0);
			status = outfile_close(&file);
		}
		if (status != STATUS_OK)
			outdir_remove(directory);
	}
	free(text);
	free(directory);
	return status;
}
