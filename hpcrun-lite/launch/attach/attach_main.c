/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpcrun-lite-attach: begins the measurement of a process that runs, waits, and ends it; see
 * doc/attach.md. hpcrun-lite runs it, and it is a program of its own because of libunwind. Tests:
 * tests/cli/attach.
 */
#include "common/base/log.h"
#include "common/format/measurement.h"
#include "common/safe/clock.h"
#include "hpcrun-lite/launch/attach/inject.h"
#include "hpcrun-lite/launch/attach/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MOST = 65536, LOOK_MS = 100, ANSWER_PAUSES = 100 };
enum { WITH_JOB_ALONE = 3 }; /* entries: itself, its parent, and the file "job" */

/* ---- threads that were there before us ---- */

struct asked_thread {
	pid_t tid;
	bool was_blocked, has_joined;
};

struct asked {
	const struct attach_answer *answer;
	struct asked_thread *thread;
	uint32_t n, n_known; /* threads; answers that were read */
	uint32_t n_open;     /* threads that have not joined, at the last look */
};

static struct asked_thread *find_asked(struct asked *a, pid_t tid)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->thread[i].tid == tid)
			return &a->thread[i];
	return NULL;
}

/* Reads who has answered, if anybody has since the last time. */
static void read_answers(const struct target *t, struct asked *a)
{
	static int32_t tid[ATTACH_ANSWERS];
	uint32_t n;
	if (!target_read(t, a->answer->n_answered, &n, sizeof n) || n == a->n_known ||
	    !target_read(t, a->answer->answered, tid, sizeof tid))
		return;
	a->n_known = n;
	for (uint32_t i = 0; i < ATTACH_ANSWERS && tid[i]; i++) {
		struct asked_thread *one = find_asked(a, tid[i]);
		if (one)
			one->has_joined = true;
	}
}

/* A thread may not have taken the signal, because another of its kind was pending: asks again. */
static bool ask(const struct target *t, pid_t tid, void *arg)
{
	struct asked *a = arg;
	const struct timespec pause = {0, 100000};
	struct asked_thread *one = find_asked(a, tid);
	if (!one && a->n == THREADS_MOST)
		return false;
	if (!one) {
		one = &a->thread[a->n++];
		*one = (struct asked_thread){.tid = tid};
	}
	if (one->has_joined)
		return false;
	const bool is_asked = inject_join(t, tid, a->answer->join, &one->was_blocked);
	for (int i = 0; is_asked && !one->has_joined && i < ANSWER_PAUSES; i++) {
		read_answers(t, a);
		if (!one->has_joined)
			nanosleep(&pause, NULL);
	}
	a->n_open += !one->has_joined;
	return false;
}

/* ---- the wait ---- */

static sigset_t ends;

static void block_signals(void)
{
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
}

/* True if measurement has ended in another way: by --detach, or because the program has ended. */
static bool has_ended(int file)
{
	struct msr_header h;
	return pread(file, &h, sizeof h, 0) == (ssize_t)sizeof h && h.exit_kind != MSR_EXIT_NONE;
}

/* Returns true if it is for us to end the measurement. */
static bool wait_for_end(const struct target *t, struct asked *a, const char *path,
			 uint64_t seconds)
{
	struct pollfd p[] = {{signalfd(-1, &ends, SFD_CLOEXEC), POLLIN, 0}, {t->pidfd, POLLIN, 0}};
	const uint64_t start_ns = clock_mono_ns();
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	bool ours = false, done = false;
	while (!done) {
		a->n_open = 0;
		target_each_thread(t, ask, a);
		poll(p, 2, LOOK_MS);
		if (p[1].revents || !target_is_alive(t) || has_ended(file))
			done = true;
		else if (p[0].revents ||
			 (seconds && clock_mono_ns() - start_ns >= seconds * 1000000000u))
			ours = done = true;
	}
	if (file >= 0)
		close(file);
	return ours;
}

/* ---- messages ---- */

static void say_stopped(const struct target *t)
{
	log_detail(NULL, "threads of process %d were stopped for %.1f ms in all", (int)t->pid,
		   (double)inject_stopped_ns / 1e6);
}

static int say_end(const struct target *t, const struct attach_answer *answer, uint32_t n_refused)
{
	char directory[sizeof answer->path];
	snprintf(directory, sizeof directory, "%s", answer->path);
	char *slash = strrchr(directory, '/');
	if (slash)
		*slash = '\0';
	if (answer->n_threads)
		log_warn(NULL,
			 "process %d: threads that do not take signals: %u; they keep our handler "
			 "until they do",
			 (int)t->pid, answer->n_threads);
	if (n_refused)
		log_warn(NULL,
			 "%u threads of process %d are not measured: they wait for signals "
			 "(sigwait) or are stopped",
			 n_refused, (int)t->pid);
	say_stopped(t);
	log_note(NULL, "measured process %d into %s; read it with: hpcprof-lite %s", (int)t->pid,
		 directory, directory);
	return 0;
}

/* ---- the two requests ---- */

static bool await(const struct target *t, pid_t tid, void *unused)
{
	(void)unused;
	inject_await(t, tid);
	return false;
}

static int detach(struct target *t, uint32_t n_refused)
{
	struct attach_answer answer = {0};
	target_each_thread(t, await, NULL);
	const enum status status = inject_detach(t, &answer);
	return status == STATUS_OK ? say_end(t, &answer, n_refused) : status_exit_code(status);
}

static int attach(struct target *t, uint64_t seconds, const char *library, const char *config)
{
	static struct asked_thread threads[THREADS_MOST];
	struct attach_answer answer = {0};
	const enum status status = inject_attach(t, library, config, &answer);
	if (status != STATUS_OK)
		return status_exit_code(status);
	struct asked asked = {.answer = &answer, .thread = threads};
	log_note(NULL, "measuring process %d%s", (int)t->pid,
		 seconds ? "" : " until it ends, Ctrl-C, or hpcrun-lite --detach");
	const bool ours = wait_for_end(t, &asked, answer.path, seconds);
	if (ours && target_is_alive(t))
		return detach(t, asked.n_open);
	return say_end(t, &answer, asked.n_open);
}

/* The directory that was made for it, if nobody has begun to measure there. */
static void remove_directory(const char *directory)
{
	char path[PATH_MAX];
	int n = 0;
	DIR *d = opendir(directory);
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	if (n != WITH_JOB_ALONE)
		return;
	snprintf(path, sizeof path, "%s/job", directory);
	if (unlink(path) == 0)
		rmdir(directory);
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

int main(int argc, char **argv)
{
	struct target t;
	int code = 2;
	log_set_program("hpcrun-lite");
	const char *say = getenv("HPCTOOLKIT_LITE_SAY");
	log_set_quiet(say && !strcmp(say, "quiet"));
	log_set_verbose(say && !strcmp(say, "verbose"));
	if (argc < 3)
		return code;
	block_signals(); /* to be ended while a thread is stopped could end the program, too */
	const bool attaches = argc == 7 && !strcmp(argv[1], "attach");
	if (target_open(&t, (pid_t)number(argv[2]), attaches ? argv[4] : NULL) != STATUS_OK)
		code = 1;
	else if (attaches)
		code = attach(&t, number(argv[3]), argv[4], argv[6]);
	else if (argc == 3 && !strcmp(argv[1], "detach"))
		code = detach(&t, 0);
	if (attaches && code)
		remove_directory(argv[5]);
	target_close(&t);
	return code;
}
