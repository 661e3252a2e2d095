/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink brief: what ran, where its time went and what matters most, in at most BRIEF_BYTES of
 * JSON, for people in a hurry and for programs. Format: doc/formats/brief.schema.json. Test:
 * tests/cli/parallel/findings.sh.
 */
#include "hpcprof-lite/sink/json/brief_sink.h"

#include "common/base/log.h"
#include "hpcprof-lite/record/words.h"
#include "hpcprof-lite/sink/json/json_write.h"
#include "hpcprof-lite/sink/unread.h"
#include "hpcprof-lite/view/findings/findings.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/view/parallel/view_pop.h"
#include "hpcprof-lite/view/parallel/view_processors.h"
#include "hpcprof-lite/view/view_run.h"
#include "hpcprof-lite/view/view_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	BRIEF_BYTES = 8192,
	ROOM = 64 << 10, /* of a text before it is shortened */
	MOST_FUNCTIONS = 5,
	MOST_TEXT = 160 /* bytes of a name or command; longer ones are cut */
};

/* With five digits, which is more than samples give. */
static void put_real(struct json *j, const char *key, double value)
{
	char text[32];
	snprintf(text, sizeof text, "%.5g", value);
	json_real(j, key, strtod(text, NULL));
}

/* Text of at most MOST_TEXT bytes; the cut may leave half a character, which becomes U+FFFD. */
static void put_text(struct json *j, const char *key, const char *text)
{
	char cut[MOST_TEXT + 4];
	if (strlen(text) <= MOST_TEXT) {
		json_text(j, key, text);
		return;
	}
	snprintf(cut, sizeof cut, "%.*s...", MOST_TEXT, text);
	json_text(j, key, cut);
}

/* The directory of the first measurement file. */
static void find_directory(const struct model *m, char *to, size_t n_bytes)
{
	const char *path = m->n_processes ? m->processes[0].path : ".", *slash = strrchr(path, '/');
	snprintf(to, n_bytes, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
}

/* ---- what ran ---- */

static void put_ends(struct json *j, const struct model *m)
{
	enum { MOST = 4 };
	unsigned n = 0;
	json_begin(j, "failed", '[');
	for (uint32_t i = 0; i < m->n_processes && n < MOST; i++) {
		const struct model_process *p = &m->processes[i];
		char text[128];
		const bool is_well =
			p->exit_kind == MSR_EXIT_EXEC || p->exit_kind == MSR_EXIT_DETACHED ||
			((p->exit_kind == MSR_EXIT_RETURN || p->exit_kind == MSR_EXIT_QUICK) &&
			 !p->exit_code);
		if (p->is_live || p->is_blank || is_well)
			continue;
		n++;
		json_begin(j, NULL, '{');
		if (p->rank >= 0)
			json_i64(j, "rank", p->rank);
		json_u64(j, "pid", p->pid);
		json_text(j, "end", ends_text(p->exit_kind, p->exit_code, text, sizeof text));
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_events(struct json *j, const struct model *m)
{
	json_begin(j, "events", '[');
	for (uint32_t i = 0; m->n_processes && i < m->processes[0].n_events && i < 8; i++)
		put_text(j, NULL, m->processes[0].events[i]);
	json_end(j, ']');
}

static bool put_run(struct json *j, const struct model *m)
{
	struct view_run run;
	if (!view_run_make(m, &run))
		return false;
	json_begin(j, "run", '{');
	put_text(j, "command", m->n_processes ? m->processes[0].command_line : m->title);
	if (m->part)
		put_text(j, "part", m->part);
	json_u64(j, "processes", m->n_processes);
	json_u64(j, "ranks", run.n_ranks);
	json_u64(j, "hosts", run.n_hosts);
	json_u64(j, "threads", model_count_threads(m));
	put_real(j, "elapsed_sec", (double)m->elapsed_ns / 1e9);
	put_events(j, m);
	put_ends(j, m);
	json_end(j, '}');
	return true;
}

/* ---- where the time went ---- */

static bool put_account(struct json *j, const struct model *m)
{
	struct view_processors p;
	if (!view_processors_apply(m))
		return true;
	if (!view_processors_make(m, &p))
		return false;
	json_begin(j, "account", '{');
	json_u64(j, "threads", p.n_threads);
	if (p.quota.n_allowed)
		put_real(j, "processors", p.quota.n_given);
	put_real(j, "capacity_sec", p.capacity);
	put_real(j, "cpu_sec", p.cpu_seconds);
	json_begin(j, "uses", '[');
	for (unsigned k = 0; k < VIEW_N_USES; k++) {
		if (p.seconds[k] <= 0.001 * p.capacity)
			continue;
		json_begin(j, NULL, '{');
		json_text(j, "use", words_use(k));
		json_text(j, "words", view_use_name(&p, k));
		put_real(j, "seconds", p.seconds[k]);
		put_real(j, "share", p.seconds[k] / p.capacity);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
	view_processors_free(&p);
	return true;
}

static bool put_efficiency(struct json *j, const struct model *m)
{
	struct view_pops p;
	if (!view_pop_make(m, &p))
		return false;
	if (!p.n)
		return true;
	json_begin(j, "efficiency", '{');
	put_real(j, "parallel", p.at[0].parallel);
	put_real(j, "load_balance", p.at[0].load_balance);
	put_real(j, "communication", p.at[0].communication);
	json_end(j, '}');
	return true;
}

/* ---- findings ---- */

static void put_facts(struct json *j, const struct finding *f)
{
	json_begin(j, "evidence", '[');
	for (unsigned i = 0; i < f->n_facts; i++) {
		json_begin(j, NULL, '{');
		json_text(j, "what", f->facts[i].what);
		json_text(j, "unit", model_unit_name(f->facts[i].unit));
		put_real(j, "value", f->facts[i].value);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_places(struct json *j, const struct model *m, const struct finding *f)
{
	json_begin(j, "places", '[');
	for (unsigned i = 0; i < f->n_places; i++) {
		const struct model_context *c = &m->contexts[f->places[i].context];
		json_begin(j, NULL, '{');
		if (c->function < m->n_functions)
			put_text(j, "function", m->functions[c->function].name);
		if (c->file < m->n_files) {
			put_text(j, "file", m->files[c->file].path);
			json_u64(j, "line", c->line);
		}
		put_real(j, "share", f->places[i].share);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_finding(struct json *j, const struct model *m, const struct finding *f,
			const char *directory)
{
	char command[2048];
	json_begin(j, NULL, '{');
	json_text(j, "cause", f->key);
	json_text(j, "title", f->title);
	if (*f->subject)
		put_text(j, "subject", f->subject);
	put_real(j, "cost_sec", f->cost);
	json_begin(j, "gain_sec", '{');
	put_real(j, "low", f->low);
	put_real(j, "likely", f->likely);
	put_real(j, "high", f->high);
	json_end(j, '}');
	json_text(j, "do", f->cure);
	put_facts(j, f);
	put_places(j, m, f);
	if (findings_command(m, f, directory, command, sizeof command) &&
	    strlen(command) <= 2 * MOST_TEXT)
		json_text(j, "look", command);
	json_end(j, '}');
}

static void put_findings(struct json *j, const struct model *m, const struct findings *f, size_t n,
			 const char *directory)
{
	json_begin(j, "findings", '[');
	for (size_t i = 0; i < n; i++)
		put_finding(j, m, &f->list.at[i], directory);
	json_end(j, ']');
	json_u64(j, "findings_left_out", f->list.n - n);
}

/* ---- functions ---- */

static uint32_t find_time(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].kind == MODEL_METRIC_SAMPLED)
			return i;
	return m->n_metrics ? 0 : MODEL_NONE;
}

static bool put_functions(struct json *j, const struct model *m)
{
	struct view_values v;
	struct view_rows rows;
	const uint32_t metric = find_time(m);
	if (metric == MODEL_NONE)
		return true;
	if (!view_values_open(m, metric, &v))
		return false;
	if (!view_rows_make(m, &v, VIEW_BY_FUNCTION, &rows)) {
		view_values_close(&v);
		return false;
	}
	put_text(j, "metric", m->metrics[metric].name);
	json_begin(j, "functions", '[');
	for (size_t i = 0; i < rows.n && i < MOST_FUNCTIONS && rows.at[i].self > 0; i++) {
		json_begin(j, NULL, '{');
		put_text(j, "function",
			 names_function(m, m->contexts[rows.at[i].context].function));
		put_real(j, "self", v.whole > 0 ? rows.at[i].self / v.whole : 0);
		put_real(j, "total", v.whole > 0 ? rows.at[i].total / v.whole : 0);
		json_end(j, '}');
	}
	json_end(j, ']');
	view_rows_free(&rows);
	view_values_close(&v);
	return true;
}

/* ---- the whole ---- */

/* Into a buffer that is large enough, so that nothing is written to a file. False: no memory. */
static bool make_text(struct json *j, const struct model *m, const struct findings *f, size_t n)
{
	char directory[2048];
	find_directory(m, directory, sizeof directory);
	j->out.n = 0;
	j->depth = 0;
	j->has_values = false;
	json_begin(j, NULL, '{');
	json_text(j, "format", "hpctoolkit-lite brief");
	json_u64(j, "version", 1);
	if (!put_run(j, m) || !put_account(j, m) || !put_efficiency(j, m))
		return false;
	put_findings(j, m, f, n, directory);
	if (!put_functions(j, m))
		return false;
	json_end(j, '}');
	return true;
}

static enum status put_brief(struct json *j, const struct model *m)
{
	struct findings f;
	if (!findings_make(m, &f))
		return STATUS_NO_MEMORY;
	size_t n = f.list.n;
	bool ok = make_text(j, m, &f, n);
	while (ok && j->out.n > BRIEF_BYTES - 1 && n > 0)
		ok = make_text(j, m, &f, --n);
	findings_free(&f);
	if (!ok)
		return STATUS_NO_MEMORY;
	fwrite(j->out.bytes, 1, j->out.n, stdout);
	putchar('\n');
	return fflush(stdout) == 0 && !ferror(stdout) ? STATUS_OK : STATUS_IO;
}

static enum status write_brief(const struct model *m, const struct sink_options *o)
{
	struct outfile nowhere = {.fd = -1};
	struct json j = {.depth = 0};
	(void)o;
	enum status s = outstream_open(&j.out, &nowhere, 0, ROOM);
	if (s != STATUS_OK)
		return s;
	s = put_brief(&j, m);
	free(j.out.bytes);
	if (s == STATUS_IO && !unread_is_output())
		log_error("brief", "cannot be written: %s", strerror(errno));
	else if (s == STATUS_NO_MEMORY)
		log_error("brief", "out of memory");
	return s;
}

const struct sink_ops sink_brief = {
	.name = "brief",
	.what = "what matters most, as 8 KB of JSON",
	.on_request = true,
	.write = write_brief,
};
