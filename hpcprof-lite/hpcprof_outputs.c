/* SPDX-License-Identifier: BSD-3-Clause */
/* See hpcprof_outputs.h. Test: tests/cli/prof/prof_output.sh. */
#include "hpcprof-lite/hpcprof_outputs.h"

#include "common/base/log.h"
#include "common/base/pool.h"
#include "hpcprof-lite/code/code.h"
#include "hpcprof-lite/database.h"
#include "hpcprof-lite/parts/comm.h"
#include "hpcprof-lite/sink/html/html_sink.h"
#include "hpcprof-lite/sink/unread.h"
#include "hpcprof-lite/sinks.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool shows(const struct arguments *a)
{
	for (size_t i = 0; sinks[i]; i++)
		if (!sinks[i]->makes_files && arguments_want(a, sinks[i]))
			return true;
	return false;
}

/*
 * Writes the outputs that go to standard output. The stream is fully buffered, even to a terminal,
 * because a complete report has very many lines.
 */
static enum status write_shown(const struct model *m, const struct arguments *a)
{
	enum status s = STATUS_OK;
	setvbuf(stdout, NULL, _IOFBF, 64 << 10);
	for (size_t i = 0; sinks[i] && s == STATUS_OK; i++)
		if (!sinks[i]->makes_files && arguments_want(a, sinks[i]))
			s = sinks[i]->write(m, &(struct sink_options){.n_workers = a->n_workers,
								      .settings = a->settings[i]});
	return s;
}

/*
 * Does the same in a thread of its own, while the files are written. People see the report at once,
 * and if they use a pager, the files should be complete before they have read it.
 */
struct showing {
	const struct model *m;
	const struct arguments *a;
	pthread_t thread;
	bool is_apart, is_over; /* has a thread; it has ended */
	bool is_closed;         /* nobody reads standard output any more */
	enum status status;
};

static void *show(void *arg)
{
	struct showing *s = arg;
	sigset_t pipes;
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipes, NULL);
	s->status = write_shown(s->m, s->a);
	s->is_closed = unread_is_output();
	return NULL;
}

/*
 * True if a person may be looking: a pipe may lead to a pager, on the same terminal as standard
 * error.
 */
static bool is_watched(int fd)
{
	struct stat st;
	return isatty(fd) ||
	       (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)));
}

static void begin_showing(struct showing *s, const struct model *m, const struct arguments *a)
{
	*s = (struct showing){.m = m, .a = a};
	s->is_apart = shows(a) && pthread_create(&s->thread, NULL, show, s) == 0;
	log_hold_progress(s->is_apart && is_watched(STDOUT_FILENO));
}

static void end_showing(struct showing *s)
{
	if (s->is_apart && !s->is_over)
		pthread_join(s->thread, NULL);
	else if (!s->is_apart)
		s->status = write_shown(s->m, s->a);
	log_hold_progress(false);
}

/* Waits until everything is shown, or until a reader, such as a pager, keeps it waiting. */
static void await_shown(struct showing *s)
{
	enum { LOOK_NS = 20000000 };
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
	while (s->is_apart && !s->is_over && poll(&out, 1, 0) != 0) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		s->is_over = pthread_timedjoin_np(s->thread, NULL, &until) == 0;
	}
}

enum { MOST_OUTPUTS = 32 }; /* more than there are sinks */

/*
 * The outputs in files, as many at a time as there are workers. Most sinks have work for only one
 * thread at times; the threads of other sinks go on meanwhile.
 */
struct writing {
	const struct model *m;
	struct file_output {
		const struct sink_ops *sink;
		struct sink_options options;
		bool is_private;
		enum status status;
	} outputs[MOST_OUTPUTS];
	size_t n, n_done;
	char names[128];   /* of all outputs in files, but for the one with `opens` */
	const char *opens; /* as in struct sink_ops; NULL: none */
};

static void write_one(void *arg, size_t i, unsigned worker)
{
	struct writing *w = arg;
	struct file_output *f = &w->outputs[w->n_done + i];
	struct code code = {0};
	(void)worker;
	f->options.is_private = &f->is_private;
	if (f->sink == &sink_html && w->m->n_instructions && !f->options.no_sources) {
		const struct code_options o = {f->options.directory, f->options.source_dirs,
					       f->options.n_source_dirs};
		f->options.code = code_make(w->m, &o, &code) ? &code : NULL;
	}
	f->status = f->sink->write(w->m, &f->options);
	code_free(&code);
}

/*
 * With fewer processors than outputs, the report and what people open come first. Ranks write one
 * output together; other ranks do not wait for that. Only the main thread may send its messages.
 */
static void write_all(struct writing *w, const struct arguments *a, struct showing *shown)
{
	const unsigned n_workers = w->m->share ? 1 : a->n_workers;
	if (shown && !w->m->share && n_workers <= w->n) {
		const size_t n = w->n && w->outputs[0].sink->opens ? 1 : 0;
		pool_run(n, n_workers, write_one, w);
		w->n_done = n;
		await_shown(shown);
	}
	pool_run(w->n - w->n_done, n_workers, write_one, w);
}

/* False: another rank writes it. */
static bool is_written_here(
	const struct model *m, const struct arguments *a, const struct sink_ops *sink)
{
	if (!a->ranks)
		return true;
	if (arguments_are_of_first(a))
		return !a->is_apart || !sink->is_shared;
	return sink->is_shared && (m->share || (a->is_apart && a->comm->part == 0));
}

static void add_name(struct writing *w, const struct sink_ops *sink)
{
	const size_t n = strlen(w->names);
	if (sink->opens)
		w->opens = sink->opens;
	else
		snprintf(w->names + n, sizeof w->names - n, "%s%s", n ? ", " : "", sink->name);
}

/* Says where the outputs are. The last line names what to open. */
static void say_outputs(const struct writing *w, const char *directory)
{
	if (!w->opens)
		log_note(NULL, "%s in %s", w->names, directory);
	else if (w->names[0])
		log_note(NULL, "open %s/%s (beside it: %s)", directory, w->opens, w->names);
	else
		log_note(NULL, "open %s/%s", directory, w->opens);
}

/* Lists the outputs that this process writes, and all names. Leaves out those that are too large.
 */
static void choose_files(const struct model *m, const struct arguments *a, char *const *directories,
			 size_t n_directories, struct writing *w)
{
	*w = (struct writing){.m = m};
	for (size_t i = 0; sinks[i] && w->n < MOST_OUTPUTS; i++) {
		if (!sinks[i]->makes_files || !arguments_want(a, sinks[i]))
			continue;
		if (!a->to && sinks[i]->is_too_large && sinks[i]->is_too_large(m, a->settings[i]))
			continue;
		add_name(w, sinks[i]);
		if (!is_written_here(m, a, sinks[i]))
			continue;
		w->outputs[w->n++] = (struct file_output){
			.sink = sinks[i],
			.options = {.n_workers = a->n_workers,
				    .progress = arguments_are_of_first(a) && isatty(STDERR_FILENO),
				    .no_sources = a->no_sources,
				    .settings = a->settings[i],
				    .source_dirs = directories,
				    .n_source_dirs = n_directories}};
	}
}

/* All ranks write into the directory of the first rank. `s`: whether that rank has it. */
static enum status share_directory(
	const struct arguments *a, enum status s, char directory[PATH_MAX])
{
	s = arguments_agree(a, s);
	if (s == STATUS_OK && a->ranks)
		comm_broadcast(a->ranks, directory, PATH_MAX);
	return s;
}

/* Writes the outputs of this process and waits for other ranks. Ends a step of all of them. */
static enum status write_into(const char *directory, const struct arguments *a, struct writing *w,
			      struct showing *shown, bool *is_private)
{
	enum status s = STATUS_OK;
	for (size_t i = 0; i < w->n; i++)
		w->outputs[i].options.directory = directory;
	write_all(w, a, shown);
	for (size_t i = 0; i < w->n; i++) {
		s = s == STATUS_OK ? w->outputs[i].status : s;
		*is_private |= w->outputs[i].is_private;
	}
	s = arguments_agree(a, s);
	if (s == STATUS_OK && a->ranks)
		*is_private = comm_max(a->ranks, *is_private);
	return s;
}

static enum status write_as_helper(const struct model *m, const struct arguments *a,
	char *const *directories, size_t n_directories)
{
	struct writing w;
	char directory[PATH_MAX];
	bool is_private = false;
	choose_files(m, a, directories, n_directories, &w);
	const enum status s = share_directory(a, STATUS_OK, directory);
	return s == STATUS_OK ? write_into(directory, a, &w, NULL, &is_private) : s;
}

/* Makes the directory of the database. */
static enum status begin_database(struct database *d, const struct arguments *a,
	const char *first_directory, const char *title, char directory[PATH_MAX])
{
	enum status s = database_begin(d, a->database, first_directory, title);
	if (s != STATUS_OK)
		return s;
	if ((size_t)snprintf(directory, PATH_MAX, "%s", d->partial) < PATH_MAX)
		return STATUS_OK;
	log_error(d->partial, "%s", strerror(ENAMETOOLONG));
	return STATUS_IO;
}

/* Writes the files while the others are shown. Sets *shown, which is useful even if this fails. */
static enum status write_files(const struct model *m, const struct arguments *a,
	char *const *directories, size_t n_directories, struct showing *shown)
{
	struct database d = {0};
	struct writing w;
	char directory[PATH_MAX];
	choose_files(m, a, directories, n_directories, &w);
	begin_showing(shown, m, a);
	enum status s = STATUS_OK;
	if (w.names[0] || w.opens) {
		s = begin_database(&d, a, directories[0], m->title, directory);
		s = share_directory(a, s, directory);
		if (s == STATUS_OK)
			s = write_into(directory, a, &w, shown, &d.is_private);
		if (s == STATUS_OK)
			s = database_commit(&d);
	}
	end_showing(shown);
	if (s == STATUS_OK && d.path)
		say_outputs(&w, d.path);
	database_end(&d);
	return s;
}

bool outputs_in_files(const struct arguments *a)
{
	for (size_t i = 0; sinks[i]; i++)
		if (sinks[i]->makes_files && arguments_want(a, sinks[i]))
			return true;
	return false;
}

enum status outputs_write(
	const struct model *m, const struct arguments *a, char *const *directories, size_t n)
{
	enum status status = STATUS_OK;
	if (!arguments_are_of_first(a))
		return write_as_helper(m, a, directories, n);
	for (size_t i = 0; sinks[i] && status == STATUS_OK; i++)
		if (sinks[i]->check && arguments_want(a, sinks[i]))
			status = sinks[i]->check(m, a->settings[i]);
	if (status != STATUS_OK)
		return status;
	if (!outputs_in_files(a))
		return write_shown(m, a);
	struct showing shown;
	status = write_files(m, a, directories, n, &shown);
	if (shown.is_closed)
		raise(SIGPIPE); /* end as SIGPIPE would have ended us */
	return status == STATUS_OK ? shown.status : status;
}
