/* SPDX-License-Identifier: BSD-3-Clause */
/* See live_prometheus.h. */
#include "hpcprof-lite/live/live_prometheus.h"

#include "common/base/log.h"
#include "hpcprof-lite/live/live_tables.h"
#include "hpcprof-lite/record/words.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_style.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/view/parallel/view_balance.h"
#include "hpcprof-lite/view/parallel/view_processors.h"
#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MOST_SERIES = 20,
	MOST_ROWS = 200, /* that are looked at for them */
	LABEL_BYTES = 200
};

struct writer {
	struct live_prometheus *p;
	const struct model *m;
	FILE *out;
	char *directory; /* the label, escaped */
	bool failed;     /* memory is short */
};

/* ---- the format ---- */

/* A copy without what ends a label value or a line, and not too long. NULL: memory is short. */
static char *escape(const char *text)
{
	char *clean = names_clean(text), *to = clean ? malloc(2 * LABEL_BYTES + 16) : NULL;
	size_t n = 0;
	const char *at = clean;
	for (; to && *at && (at - clean < LABEL_BYTES || (*at & 0xc0) == 0x80); at++) {
		const unsigned char c = (unsigned char)*at;
		if (c == '\n' || c == '"' || c == '\\')
			to[n++] = '\\';
		to[n++] = c == '\n' ? 'n' : c < 0x20 || c == 0x7f ? '?' : *at;
	}
	if (to)
		strcpy(to + n, *at ? ".." : "");
	free(clean);
	return to;
}

static void begin(const struct writer *w, const char *name, const char *type, const char *help)
{
	fprintf(w->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A label and its value go together; key NULL: there is none. */
struct label {
	const char *key, *value;
};

/* One sample; the values of labels are escaped. */
static void put_series(struct writer *w, const char *name, struct label a, struct label b,
		       double value)
{
	struct live_prometheus *p = w->p;
	const size_t n = strlen(name);
	char *series = NULL;
	if (asprintf(&series, "%s{measurement=\"%s\"%s%s%s%s%s%s%s%s%s%s}", name, w->directory,
		     a.key ? "," : "", a.key ? a.key : "", a.key ? "=\"" : "", a.key ? a.value : "",
		     a.key ? "\"" : "", b.key ? "," : "", b.key ? b.key : "", b.key ? "=\"" : "",
		     b.key ? b.value : "", b.key ? "\"" : "") < 0) {
		w->failed = true;
		return;
	}
	if (n > 6 && !strcmp(name + n - 6, "_total")) {
		const uint64_t next = p->values.n,
			       i = map_put(&p->counters, hash_bytes(series, strlen(series)), 0,
					   next);
		double *last = i == next       ? vec_push(&p->values)
			       : i == MAP_NONE ? NULL
					       : &p->values.at[i];
		w->failed |= !last;
		value = last && *last > value ? *last : value;
		if (last)
			*last = value;
	}
	fprintf(w->out, "%s %.15g\n", series, value);
	free(series);
}

static void put(struct writer *w, const char *name, struct label a, struct label b, double value)
{
	char *x = escape(a.value), *y = escape(b.value);
	w->failed |= !x || !y;
	if (x && y)
		put_series(w, name, (struct label){a.key, x}, (struct label){b.key, y}, value);
	free(x);
	free(y);
}

/*
 * The largest of many: at most MOST_SERIES, with different labels. Static functions may have one
 * name, and names that are cut may become one.
 */
struct top {
	struct {
		char *a, *b; /* owned; escaped */
		double value;
	} at[MOST_SERIES];
	size_t n;
};

/* Larger ones must come first. */
static void top_add(struct writer *w, struct top *t, const char *a, const char *b, double value)
{
	char *x = escape(a), *y = escape(b);
	size_t i = 0;
	w->failed |= !x || !y;
	while (x && y && i < t->n && (strcmp(t->at[i].a, x) != 0 || strcmp(t->at[i].b, y) != 0))
		i++;
	if (x && y && i < t->n) {
		t->at[i].value += value;
	} else if (x && y && i < MOST_SERIES) {
		t->at[t->n].a = x;
		t->at[t->n].b = y;
		t->at[t->n++].value = value;
		return;
	}
	free(x);
	free(y);
}

static void top_put(struct writer *w, struct top *t, const char *name, const char *help,
		    const char *key_a, const char *key_b)
{
	if (t->n)
		begin(w, name, "counter", help);
	for (size_t i = 0; i < t->n; i++) {
		put_series(w, name, (struct label){key_a, t->at[i].a},
			   (struct label){key_b, t->at[i].b}, t->at[i].value);
		free(t->at[i].a);
		free(t->at[i].b);
	}
}

static const struct label no_label = {NULL, NULL};

static void put_one(struct writer *w, const char *name, const char *help, double value)
{
	const size_t n = strlen(name);
	begin(w, name, n > 6 && !strcmp(name + n - 6, "_total") ? "counter" : "gauge", help);
	put_series(w, name, no_label, no_label, value);
}

/* ---- the run ---- */

static double cpu_seconds(const struct model *m)
{
	double sum = 0;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].kind == MODEL_METRIC_SAMPLED &&
		    m->metrics[i].measures == MODEL_EVENT_CPUTIME)
			sum += view_total(m, i);
	return sum;
}

static void put_run(struct writer *w)
{
	const struct model *m = w->m;
	const char *command = m->n_processes ? m->processes[0].command_line : "";
	uint32_t n_live = 0;
	for (uint32_t i = 0; i < m->n_processes; i++)
		n_live += m->processes[i].is_live;
	begin(w, "hpctoolkit_run_info", "gauge",
	      "The run: its command, and the version of the tool.");
	put(w, "hpctoolkit_run_info", (struct label){"command", command},
	    (struct label){"version", w->p->version}, 1);
	put_one(w, "hpctoolkit_processes_running", "Processes that were still running.", n_live);
	put_one(w, "hpctoolkit_processes_seen", "Processes that were measured so far.",
		m->n_processes);
	put_one(w, "hpctoolkit_threads_seen", "Threads that were measured so far.",
		model_count_threads(m));
	put_one(w, "hpctoolkit_elapsed_seconds", "Time since the start of the run.",
		(double)m->elapsed_ns / 1e9);
	put_one(w, "hpctoolkit_updated_timestamp_seconds",
		"When this was read, in seconds since 1970.", (double)m->end_ns / 1e9);
}

static bool put_processors(struct writer *w)
{
	struct live_prometheus *p = w->p;
	struct view_quota q;
	const double cpu = cpu_seconds(w->m), at = (double)w->m->end_ns / 1e9,
		     before = p->at > 0 ? p->at : (double)w->m->start_ns / 1e9;
	if (!view_quota_make(w->m, &q))
		return false;
	put_one(w, "hpctoolkit_cpu_seconds_total", "CPU time of all threads, by samples.", cpu);
	put_one(w, "hpctoolkit_processors_in_use",
		"Processors that the run used since the file was written before.",
		at > before && cpu > p->cpu_seconds ? (cpu - p->cpu_seconds) / (at - before) : 0);
	if (q.n_allowed)
		put_one(w, "hpctoolkit_processors_available",
			"Processors that the run may use, or what its CPU quota gives.", q.n_given);
	p->cpu_seconds = cpu;
	p->at = at;
	return true;
}

/* Sums of samples never go down; shares of the account do. */
static bool put_account(struct writer *w)
{
	static const char name[] = "hpctoolkit_thread_seconds_total",
			  ratio[] = "hpctoolkit_account_ratio";
	struct view_processors a;
	bool any = false;
	for (uint32_t i = 0; i < w->m->n_metrics; i++) {
		if (w->m->metrics[i].kind != MODEL_METRIC_ACTIVITY)
			continue;
		if (!any)
			begin(w, name, "counter", "Time of threads, by what they did.");
		any = true;
		put(w, name, (struct label){"use", words_use(w->m->metrics[i].activity)}, no_label,
		    view_total(w->m, i));
	}
	if (!view_processors_apply(w->m))
		return true;
	if (!view_processors_make(w->m, &a))
		return false;
	begin(w, ratio, "gauge", "Share of the time of the threads at one time, by what they did.");
	for (unsigned use = 0; a.capacity > 0 && use < VIEW_N_USES; use++)
		if (a.seconds[use] > 0)
			put(w, ratio, (struct label){"use", words_use(use)}, no_label,
			    a.seconds[use] / a.capacity);
	view_processors_free(&a);
	return true;
}

static bool put_functions(struct writer *w)
{
	struct top top = {.n = 0};
	const struct model *m = w->m;
	const uint32_t metric = live_metric(m);
	struct view_values v;
	struct view_rows rows;
	if (metric == MODEL_NONE || m->metrics[metric].unit != MODEL_SECONDS)
		return true;
	if (!view_values_open(m, metric, &v))
		return false;
	const bool ok = view_rows_make(m, &v, VIEW_BY_FUNCTION, &rows);
	for (size_t i = 0; ok && i < rows.n && i < MOST_ROWS && rows.at[i].self > 0; i++) {
		const uint32_t f = m->contexts[rows.at[i].context].function;
		top_add(w, &top, names_function(m, f),
			text_base(text_module_path(m, m->functions[f].module)), rows.at[i].self);
	}
	top_put(w, &top, "hpctoolkit_function_seconds_total",
		"Time in the hottest functions, without what they called.", "function", "module");
	if (ok)
		view_rows_free(&rows);
	view_values_close(&v);
	return ok;
}

/* ---- GPUs ---- */

static void put_kernels(struct writer *w, const struct view_gpu *g, const char *name,
			const char *help, bool counts)
{
	struct top top = {.n = 0};
	for (size_t i = 0; i < g->kernels.n && i < MOST_ROWS; i++) {
		const struct view_gpu_kernel *k = &g->kernels.at[i];
		top_add(w, &top, names_function(w->m, k->function), "", counts ? k->n : k->seconds);
	}
	top_put(w, &top, name, help, "kernel", NULL);
}

/* Processes number their devices in different ways, so the uuid names one, if it has one. */
static void name_device(const struct model *m, uint32_t device, char *to, size_t n_bytes)
{
	const struct msr_gpu_def_device *d = m->gpu_devices[device].definition;
	unsigned any = 0;
	to[0] = 0;
	for (size_t i = 0; d && i < sizeof d->uuid; i++) {
		any |= d->uuid[i];
		snprintf(to + 2 * i, n_bytes - 2 * i, "%02x", d->uuid[i]);
	}
	if (!any)
		snprintf(to, n_bytes, "%" PRIu32, device);
}

static bool put_gpus(struct writer *w)
{
	static const char name[] = "hpctoolkit_gpu_busy_seconds_total";
	struct view_gpu g;
	char uuid[64];
	if (!w->m->has_gpu)
		return true;
	if (!view_gpu_open(w->m, &g))
		return false;
	if (w->m->n_gpu_devices)
		begin(w, name, "counter", "Time in which a GPU did something for the run.");
	for (uint32_t i = 0; i < w->m->n_gpu_devices; i++) {
		name_device(w->m, i, uuid, sizeof uuid);
		put(w, name, (struct label){"device", uuid},
		    (struct label){"name", w->m->gpu_devices[i].name},
		    (double)g.device_busy_ns[i] / 1e9);
	}
	put_kernels(w, &g, "hpctoolkit_kernel_seconds_total", "Time of the largest GPU kernels.",
		    false);
	put_kernels(w, &g, "hpctoolkit_kernel_launches_total",
		    "Launches of the largest GPU kernels.", true);
	view_gpu_close(&g);
	return true;
}

static void put_ledger(struct writer *w)
{
	put_one(w, "hpctoolkit_samples_total", "Samples that were delivered.",
		(double)w->m->ledger.delivered);
	put_one(w, "hpctoolkit_lost_samples_total", "Samples that were lost.",
		(double)view_count_lost(&w->m->ledger));
	put_one(w, "hpctoolkit_handler_seconds_total", "CPU time that the measurement cost.",
		(double)w->m->ledger.handler_ns / 1e9);
}

/* ---- the file ---- */

/* The whole text; the caller frees it. NULL: memory is short. */
static char *make_text(struct live_prometheus *p, const struct model *m, size_t *n_bytes)
{
	char *text = NULL, *whole = strdup(p->directory);
	for (size_t n = whole ? strlen(whole) : 0; n > 1 && whole[n - 1] == '/';)
		whole[--n] = 0;
	struct writer w = {.p = p, .m = m, .directory = whole ? escape(text_base(whole)) : NULL};
	w.out = w.directory ? open_memstream(&text, n_bytes) : NULL;
	bool ok = w.out;
	if (ok) {
		put_run(&w);
		ok = put_processors(&w) && put_account(&w) && put_functions(&w) && put_gpus(&w);
		put_ledger(&w);
		ok = fclose(w.out) == 0 && ok && !w.failed;
	}
	free(whole);
	free(w.directory);
	if (ok)
		return text;
	free(text);
	return NULL;
}

/* Returns 0 or an errno. */
static int write_all(int fd, const char *text, size_t n)
{
	while (n) {
		const ssize_t done = write(fd, text, n);
		if (done < 0 && errno != EINTR)
			return errno;
		text += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

/* Writes beside the file and renames: node_exporter only reads names that end in .prom. */
static int replace(const char *path, const char *text, size_t n)
{
	char beside[PATH_MAX];
	if ((size_t)snprintf(beside, sizeof beside, "%s.%ld.tmp", path, (long)getpid()) >=
	    sizeof beside)
		return ENAMETOOLONG;
	unlink(beside);
	const int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0)
		return errno;
	int cause = write_all(fd, text, n);
	if (close(fd) != 0 && !cause)
		cause = errno;
	if (!cause && rename(beside, path) != 0)
		cause = errno;
	if (cause)
		unlink(beside);
	return cause;
}

enum status live_prometheus_write(struct live_prometheus *p, const struct model *m)
{
	size_t n = 0;
	char *text = make_text(p, m, &n);
	if (!text) {
		log_error(p->path, "out of memory");
		return STATUS_NO_MEMORY;
	}
	const int cause = replace(p->path, text, n);
	free(text);
	if (cause && !p->failed)
		log_warn(p->path,
			 "cannot be written (%s); it keeps what it had, and is tried again",
			 strerror(cause));
	else if (!cause && p->failed)
		log_note(p->path, "written again");
	p->failed = cause;
	return cause ? STATUS_IO : STATUS_OK;
}

void live_prometheus_close(struct live_prometheus *p)
{
	map_free(&p->counters);
	vec_free(&p->values);
}
