/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See live.h. Once a second, what grew is read and shown as the last seconds. The whole run is
 * analysed as the report does it, which takes longer the longer the run lasts. So both have a share
 * of a processor that they do not exceed, and the screen says how old the whole is.
 */
#include "hpcprof-lite/live/live.h"

#include "common/base/log.h"
#include "common/base/now.h"
#include "hpcprof-lite/attribute/attribute.h"
#include "hpcprof-lite/live/live_names.h"
#include "hpcprof-lite/live/live_prometheus.h"
#include "hpcprof-lite/live/live_screen.h"
#include "hpcprof-lite/live/live_terminal.h"
#include "hpcprof-lite/live/live_window.h"
#include "hpcprof-lite/load/load_running.h"
#include "hpcprof-lite/sink/text/text_style.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
#define WAIT_NS (10 * SECOND_NS) /* for the first measurement */
#define LOOK_NS (SECOND_NS / 5)  /* between looks for it */
enum { LOOKS_AFTER_END = 2 };    /* further processes of the run may start so late */

/*
 * CPU time that a part of the work may use, in ns. It grows by a share of the elapsed time. The
 * work is done when it is positive, so it may become negative.
 */
struct allowance {
	double ns;
};
static const double SHARE = 0.0125; /* of each of the two parts */

struct live {
	char *const *directories;
	size_t n_directories;
	const struct live_options *o;
	struct live_names names;
	struct live_window *window;
	struct live_prometheus prometheus;
	struct model *whole, *last; /* last: NULL if not known */
	double last_seconds;
	uint64_t whole_ns; /* CLOCK_MONOTONIC of `whole` */
	struct allowance for_whole, for_last;
	uint64_t paid_ns; /* CLOCK_MONOTONIC up to which allowances were given */
	size_t n_running; /* processes that may still run, at the last look */
	size_t n_unknown; /* those of them of which nobody here knows it */
	unsigned n_idle;  /* looks since none ran */
	bool has_screen;
};

/* ---- CPU time ---- */

static uint64_t cpu_ns(void)
{
	return now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void pay(struct live *l)
{
	const uint64_t now = now_mono_ns();
	const double more = (double)(now - l->paid_ns) * SHARE, most = (double)SECOND_NS * SHARE;
	l->paid_ns = now;
	l->for_whole.ns += more;
	l->for_last.ns += more;
	if (l->for_last.ns > most) { /* what it does not need is for the other part */
		l->for_whole.ns += l->for_last.ns - most;
		l->for_last.ns = most;
	}
	if (l->for_whole.ns > 2 * most)
		l->for_whole.ns = 2 * most;
}

/* ---- looking ---- */

static struct attribute_options options(struct live *l)
{
	return (struct attribute_options){
		.n_workers = 1, .find_structures = live_names_find, .arg = &l->names};
}

/* Messages of the same kind would come each second. */
static enum status open_job(const struct live *l, struct load_job *job)
{
	log_set_silent(true);
	const enum status s = load_job_open(l->directories, l->n_directories, 1, job);
	log_set_silent(false);
	return s;
}

static enum status make_model(struct live *l, struct load_job *job, struct model **m)
{
	const struct attribute_options o = options(l);
	log_set_silent(true);
	const enum status s = attribute_run(job, &o, m);
	log_set_silent(false);
	return s;
}

static enum status look_at_whole(struct live *l)
{
	struct load_job job = {.files = {0}};
	struct model *m = NULL;
	const uint64_t cpu_before = cpu_ns();
	enum status s = open_job(l, &job);
	if (s == STATUS_OK)
		s = make_model(l, &job, &m);
	load_job_close(&job);
	if (s == STATUS_OK) {
		model_free(l->whole);
		l->whole = m;
		l->whole_ns = now_mono_ns();
		if (l->o->prometheus_file)
			live_prometheus_write(&l->prometheus, m);
	}
	l->for_whole.ns -= (double)(cpu_ns() - cpu_before);
	return s;
}

/* Looks at the processes that still run. Sets n_running; and, if somebody sees it, `last`. */
static enum status look_at_last(struct live *l)
{
	struct load_job job = {.skipped = live_window_ended(l->window), .leaves_lines = true};
	struct model *m = NULL;
	enum status s = open_job(l, &job);
	l->n_running = l->n_unknown = 0;
	for (size_t i = 0; s == STATUS_OK && i < job.files.n; i++) {
		l->n_running += job.files.at[i].running != LOAD_ENDED;
		l->n_unknown += job.files.at[i].running == LOAD_UNKNOWN;
	}
	if (s == STATUS_NOT_FOUND) /* all have ended */
		s = STATUS_OK;
	if (s == STATUS_OK && !live_window_cut(l->window, &job, now_mono_ns(), &l->last_seconds))
		s = STATUS_NO_MEMORY;
	if (s == STATUS_OK && job.files.n && l->last_seconds > 0 &&
	    (l->has_screen || !l->o->prometheus_file))
		s = make_model(l, &job, &m);
	load_job_close(&job);
	model_free(l->last);
	l->last = m;
	return s;
}

/* Waits for the first measurement. */
static enum status look_first(struct live *l)
{
	const uint64_t until_ns = now_mono_ns() + WAIT_NS;
	enum status s = look_at_whole(l);
	const bool waits = s == STATUS_NOT_FOUND || s == STATUS_IO;
	if (waits)
		log_note(l->directories[0], "no measurement yet: waiting %d s for one",
			 (int)(WAIT_NS / SECOND_NS));
	while ((s == STATUS_NOT_FOUND || s == STATUS_IO) && now_mono_ns() < until_ns) {
		if (live_terminal_wait(now_mono_ns() + LOOK_NS))
			return s;
		s = look_at_whole(l);
	}
	if (s == STATUS_NOT_FOUND || s == STATUS_IO)
		log_error(l->directories[0],
			  "no measurement of a run that began: start the program with hpcrun-lite "
			  "-o %s",
			  l->directories[0]);
	else if (s != STATUS_OK)
		log_say_held();
	return s;
}

/* ---- showing ---- */

static struct live_screen screen_of(const struct live *l)
{
	const struct text_style style = text_style_of(stdout);
	return (struct live_screen){.whole = l->whole,
				    .last = l->last,
				    .last_seconds = l->last_seconds,
				    .age = (double)(now_mono_ns() - l->whole_ns) / 1e9,
				    .width = style.width,
				    .n_rows = 40,
				    .colour = style.colour,
				    .n_unknown = l->n_unknown,
				    .n_by_symbols = l->names.n_by_symbols};
}

static enum status show(const struct live *l)
{
	struct live_screen s = screen_of(l);
	char *text = NULL;
	size_t n = 0;
	if (!l->has_screen && l->o->prometheus_file)
		return STATUS_OK;
	FILE *to = open_memstream(&text, &n);
	live_terminal_size(&s.width, &s.n_rows);
	bool ok = to && (l->has_screen ? live_screen_write(&s, to) : live_screen_line(&s, to));
	ok = to && fclose(to) == 0 && ok;
	if (ok && l->has_screen)
		live_terminal_show(text, n);
	else if (ok)
		fputs(text, stdout);
	fflush(stdout);
	free(text);
	return ok ? STATUS_OK : STATUS_NO_MEMORY;
}

/* The whole run, when the terminal is as it was. */
static enum status show_end(struct live *l, bool has_ended)
{
	model_free(l->last);
	l->last = NULL;
	const struct live_screen s = screen_of(l);
	if ((l->has_screen || !l->o->prometheus_file) &&
	    (!live_screen_write(&s, stdout) || fflush(stdout) != 0))
		return STATUS_IO;
	if (has_ended)
		log_note(l->directories[0], "the run has ended; hpcprof-lite %s shows all of it",
			 l->directories[0]);
	else if (l->n_unknown == l->n_running)
		log_note(l->directories[0], "nobody here knows whether the run goes on");
	else
		log_note(l->directories[0], "the run goes on");
	return STATUS_OK;
}

/* ---- the whole ---- */

/* One second. Sets *has_ended. */
static enum status look_again(struct live *l, bool *has_ended)
{
	enum status s = STATUS_OK;
	pay(l);
	const uint64_t cpu_before = cpu_ns();
	if (l->for_last.ns > 0) {
		s = look_at_last(l);
		l->n_idle = l->n_running ? 0 : l->n_idle + 1;
		l->for_last.ns -= (double)(cpu_ns() - cpu_before);
	}
	*has_ended = l->n_idle > LOOKS_AFTER_END;
	if (s == STATUS_OK && (l->for_whole.ns > 0 || *has_ended))
		s = look_at_whole(l);
	const uint64_t cpu_shown = cpu_ns();
	if (s == STATUS_OK && l->n_running)
		s = show(l);
	l->for_last.ns -= (double)(cpu_ns() - cpu_shown);
	return s;
}

static enum status follow(struct live *l)
{
	bool has_ended = false;
	enum status s = look_first(l);
	if (s != STATUS_OK)
		return s;
	l->has_screen = live_terminal_begin();
	l->for_whole.ns = l->for_last.ns = 0; /* the start may cost what it needs */
	l->paid_ns = now_mono_ns();
	s = look_at_last(l);
	if (s == STATUS_OK && l->n_running)
		s = show(l);
	else
		has_ended = true;
	uint64_t next_ns = l->paid_ns;
	while (s == STATUS_OK && !has_ended) {
		const uint64_t now = now_mono_ns();
		next_ns = next_ns + SECOND_NS > now ? next_ns + SECOND_NS : now;
		if (live_terminal_wait(next_ns))
			break;
		s = look_again(l, &has_ended);
	}
	live_terminal_end();
	if (s == STATUS_OK)
		s = show_end(l, has_ended);
	else if (s != STATUS_NO_MEMORY)
		log_say_held();
	return s == STATUS_OK && l->prometheus.failed ? STATUS_IO : s;
}

enum status live_run(char *const *directories, size_t n, const struct live_options *o)
{
	struct live l = {.directories = directories,
			 .n_directories = n,
			 .o = o,
			 .names = {.directories = directories, .n_directories = n},
			 .window = live_window_new(),
			 .prometheus = {.path = o->prometheus_file,
					.directory = directories[0],
					.version = o->version}};
	enum status s = STATUS_NO_MEMORY;
	/* each look needs the memory again that the one before gave back */
	log_hold_progress(true);
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	if (l.window)
		s = follow(&l);
	if (s == STATUS_NO_MEMORY)
		log_error(NULL, "out of memory");
	model_free(l.whole);
	model_free(l.last);
	live_window_free(l.window);
	live_names_close(&l.names);
	live_prometheus_close(&l.prometheus);
	live_terminal_obey();
	return s;
}
