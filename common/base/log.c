/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the tools; see log.h. Must not be linked into the measured process. Test:
 * tests/unit/common/test_base.c. */
#include "common/base/log.h"

#include "common/base/foreign.h"
#include "common/safe/printable.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *program = "hpctoolkit-lite";
static char of_rank[24]; /* "rank 3: ", or "" */
static bool is_verbose, is_quiet, is_silent, progress_shown;
static atomic_bool is_held;
static atomic_uint_fast64_t n_errors, n_warnings;
#define MOST_BYTES 16384 /* of a message; longer ones are cut */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* guarded by lock */
static bool is_ended;
static char held[MOST_BYTES]; /* the first error while silent */

void log_set_program(const char *name)
{
	const char *slash = strrchr(name, '/');
	program = slash ? slash + 1 : name;
}

const char *log_program(void)
{
	return program;
}

void log_set_rank(int rank)
{
	snprintf(of_rank, sizeof of_rank, "rank %d: ", rank);
}

void log_set_verbose(bool verbose)
{
	is_verbose = verbose;
}

void log_set_quiet(bool quiet)
{
	is_quiet = quiet;
}

void log_set_silent(bool silent)
{
	is_silent = silent;
}

void log_say_held(void)
{
	pthread_mutex_lock(&lock);
	if (!is_ended)
		fputs(held, stderr);
	held[0] = 0;
	pthread_mutex_unlock(&lock);
}

void log_end(void)
{
	pthread_mutex_lock(&lock);
	is_ended = true;
	pthread_mutex_unlock(&lock);
}

uint64_t log_n_errors(void)
{
	return atomic_load(&n_errors);
}

uint64_t log_n_warnings(void)
{
	return atomic_load(&n_warnings);
}

static void erase_progress(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

enum weight { NOTE, WARNING, ERROR };

__attribute__((format(printf, 3, 0))) static void emit(const char *subject, enum weight weight,
						       const char *format, va_list args)
{
	char text[MOST_BYTES]; /* one write: several processes may print at the same time */
	if (is_silent && weight != ERROR)
		return;
	snprintf(text, sizeof text - 1, "%s: %s%s%s%s", program, of_rank,
		 subject ? subject : "", subject ? ": " : "",
		 weight == WARNING ? "warning: " : "");
	size_t used = strlen(printable(text));
	used += foreign_format(text + used, sizeof text - 2 - used, format, args);
	text[used++] = '\n';
	text[used] = 0;
	pthread_mutex_lock(&lock);
	if (is_silent && !held[0]) {
		memcpy(held, text, used + 1);
	} else if (!is_silent && !is_ended) {
		erase_progress();
		fwrite(text, 1, used, stderr);
		fflush(stderr);
	}
	pthread_mutex_unlock(&lock);
}

void log_error(const char *subject, const char *format, ...)
{
	atomic_fetch_add(&n_errors, 1);
	va_list args;
	va_start(args, format);
	emit(subject, ERROR, format, args);
	va_end(args);
}

void log_warn(const char *subject, const char *format, ...)
{
	atomic_fetch_add(&n_warnings, 1);
	va_list args;
	va_start(args, format);
	emit(subject, WARNING, format, args);
	va_end(args);
}

void log_note(const char *subject, const char *format, ...)
{
	if (is_quiet)
		return;
	va_list args;
	va_start(args, format);
	emit(subject, NOTE, format, args);
	va_end(args);
}

void log_detail(const char *subject, const char *format, ...)
{
	if (!is_verbose)
		return;
	va_list args;
	va_start(args, format);
	emit(subject, NOTE, format, args);
	va_end(args);
}

/* Work that shows its progress. Several may be under way, in different threads. */
struct work {
	const char *label;
	uint64_t start_ns;
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns when the work began, which is now if the label is new. Forgets it when it is done. */
static uint64_t start_of(const char *label, uint64_t now, bool is_done)
{
	static struct work works[8];
	struct work *free_one = &works[0];
	for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
		if (works[i].label == label) {
			works[i].label = is_done ? NULL : label;
			return works[i].start_ns;
		}
		if (!works[i].label)
			free_one = &works[i];
	}
	if (!is_done)
		*free_one = (struct work){label, now};
	return now;
}

/* Prints the rest of the line: numbers, a bar, and after two seconds the time that is left. */
static void show_share(uint64_t done, uint64_t total, uint64_t since_ns)
{
	enum { BAR = 20 };
	static const char full[] = "####################", empty[] = "....................";
	const double share = done < total ? (double)done / (double)total : 1;
	const int n = (int)(share * BAR);
	fprintf(stderr, " %llu/%llu [%.*s%.*s]", (unsigned long long)done,
		(unsigned long long)total, n, full, BAR - n, empty);
	if (since_ns > UINT64_C(2000000000) && done && done < total)
		fprintf(stderr, " %.0f s left", (double)since_ns / 1e9 * (1 / share - 1));
}

void log_hold_progress(bool holds)
{
	is_held = holds;
}

bool log_takes_escapes(int fd)
{
	const char *term = getenv("TERM");
	return isatty(fd) && term && term[0] && strcmp(term, "dumb") != 0 &&
	       !getenv("OMPI_COMM_WORLD_SIZE");
}

void log_progress(const char *label, uint64_t done, uint64_t total)
{
	static atomic_int is_terminal = -1;
	static atomic_uint_fast64_t last_ns;
	if (is_terminal < 0)
		is_terminal = log_takes_escapes(STDERR_FILENO);
	if (is_quiet || is_held || !is_terminal)
		return;
	const uint64_t now = now_ns();
	if (label && done != total && now - last_ns < 100000000)
		return;
	pthread_mutex_lock(&lock);
	if (is_ended) {
		pthread_mutex_unlock(&lock);
		return;
	}
	if (label) {
		const uint64_t start_ns = start_of(label, now, done == total);
		fprintf(stderr, "\r\033[K%s: %s", program, label);
		if (total)
			show_share(done, total, now - start_ns);
		progress_shown = true;
		last_ns = now;
	} else {
		erase_progress();
	}
	fflush(stderr);
	pthread_mutex_unlock(&lock);
}
