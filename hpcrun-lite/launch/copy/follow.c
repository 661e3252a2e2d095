/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See follow.h. Copies one file after the other, and pauses longer if the server is slow. Never
 * lists the measurement directory. Test: tests/cli/storage/storage_follow.sh.
 */
#include "hpcrun-lite/launch/copy/follow.h"

#include "common/base/vec.h"
#include "common/format/local_data.h"
#include "common/safe/clock.h"
#include "hpcrun-lite/launch/copy/collect.h"
#include "hpcrun-lite/launch/copy/follow_part.h"
#include "hpcrun-lite/launch/directory/job.h"
#include "hpcrun-lite/launch/directory/path_in.h"
#include "hpcrun-lite/launch/directory/together.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAUSE 50u /* times the time that copying took, unless a test sets the period */
#define TICKS 30u /* number of checks in a period whether any process still runs */
/* After a file was removed: interval and number of checks whether the directory is removed, too. */
#define SHORT_TICK_MS 2u
#define SHORT_TICKS 16u

struct followed {
	char name[NAME_MAX + 1];
	ino_t inode;
	bool is_there; /* seen in this look */
	struct follow_part part;
};

struct follower {
	const char *directory, *local;
	long launcher;
	uint64_t launcher_start_ticks;
	int lock; /* -1: none */
	int removals; /* inotify descriptor for files removed on the node; -1: none */
	uint64_t period_ms, tick_ms;
	unsigned pause;     /* times the time that copying took */
	/*
	 * From the last look: number of files in use, and whether any_runs() can see a process that
	 * uses one.
	 */
	unsigned n_running;
	bool saw_one;
	VEC(struct followed) files;
};

static uint64_t now_ms(void)
{
	return clock_mono_ns() / 1000000;
}

/* ---- one file ---- */

static struct followed *find(struct follower *f, const char *name, ino_t inode)
{
	for (size_t i = 0; i < f->files.n; i++)
		if (f->files.at[i].inode == inode && !strcmp(f->files.at[i].name, name))
			return &f->files.at[i];
	struct followed *new = vec_push(&f->files);
	if (new) {
		snprintf(new->name, sizeof new->name, "%s", name);
		new->inode = inode;
	}
	return new;
}

/* Returns true if the target waits for the data of this file. */
static bool waits_for(int target, const char *local)
{
	static struct local_data l;
	static char text[LOCAL_DATA_BYTES];
	const ssize_t n = pread(target, text, sizeof text, 0);
	return n > 0 && local_data_read(text, (size_t)n, &l) && !strcmp(l.path, local);
}

/*
 * Restores the target's time of modification. A copy must not look like a sign that the run is
 * still in progress; see together.h.
 */
static void keep_time(const char *target, const struct stat *st)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, st->st_mtim};
	utimensat(AT_FDCWD, target, times, AT_SYMLINK_NOFOLLOW);
}

/* The copy at the end of the file's process holds the lock of the file. */
static void copy_part(struct followed *d, int in, const char *local, const char *target)
{
	struct stat st;
	if (flock(in, LOCK_EX | LOCK_NB) != 0)
		return;
	const int out = open(target, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (out < 0)
		return;
	if (fstat(out, &st) == 0 && waits_for(out, local) &&
	    (d->part.is_open || follow_part_open(&d->part, out)) &&
	    follow_part_pass(&d->part, in, out, false) != FOLLOW_ENDED)
		keep_time(target, &st);
	close(out);
}

/* Copies what a dead process has left. Returns true if the file is still in use. */
static bool copy_rest(const char *local, const char *target, const struct stat *st)
{
	uint64_t n_bytes = 0;
	const enum collect_result r =
		collect_file(local, target, COLLECT_FOR_FOLLOWER, &n_bytes);
	if (r == COLLECT_DONE)
		keep_time(target, st);
	return r == COLLECT_RUNS;
}

/* Returns a descriptor, or -1. */
static int open_local(const char *local, struct stat *st, struct msr_header *h)
{
	const int in = open(local, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (in < 0 || (fstat(in, st) == 0 && S_ISREG(st->st_mode) &&
		       pread(in, h, sizeof *h, 0) == sizeof *h &&
		       memcmp(h->magic, MSR_MAGIC, sizeof h->magic) == 0))
		return in;
	close(in);
	return -1;
}

/* Always returns true, so that each_file() continues. */
static bool look_at_file(struct follower *f, const char *name)
{
	char local[PATH_MAX], target[PATH_MAX];
	struct msr_header h;
	struct stat st;
	if (!path_in(local, PATH_MAX, f->local, name) ||
	    !path_in(target, PATH_MAX, f->directory, name))
		return true;
	const int in = open_local(local, &st, &h);
	if (in < 0)
		return true;
	const bool is_seen = together_is_running(&h),
		   runs = is_seen || copy_rest(local, target, &st);
	struct followed *d = runs && !h.end_mono_ns ? find(f, name, st.st_ino) : NULL;
	f->n_running += runs;
	f->saw_one |= is_seen;
	if (d) {
		d->is_there = true;
		copy_part(d, in, local, target);
	}
	close(in);
	return true;
}

/* ---- the directory on the node ---- */

static void forget_ended(struct follower *f)
{
	size_t kept = 0;
	for (size_t i = 0; i < f->files.n; i++) {
		if (f->files.at[i].is_there)
			f->files.at[kept++] = f->files.at[i];
		else
			follow_part_close(&f->files.at[i].part);
	}
	f->files.n = kept;
}

/*
 * Calls fn with the name of each file on the node until fn returns false. Returns false then, else
 * true.
 */
static bool each_file(struct follower *f, bool (*fn)(struct follower *f, const char *name))
{
	const size_t suffix = strlen(MSR_SUFFIX);
	DIR *d = opendir(f->local);
	bool goes_on = true;
	for (struct dirent *e; d && goes_on && (e = readdir(d));) {
		const size_t n = strlen(e->d_name);
		if (n > suffix && !strcmp(e->d_name + n - suffix, MSR_SUFFIX))
			goes_on = fn(f, e->d_name);
	}
	if (d)
		closedir(d);
	return goes_on;
}

/*
 * A program that is slow to start has no file yet. So the process that started the copies counts as
 * running, too.
 */
static bool launcher_runs(const struct follower *f)
{
	uint64_t ticks;
	return job_process_start(f->launcher, &ticks) && ticks == f->launcher_start_ticks;
}

static void look(struct follower *f)
{
	f->saw_one = launcher_runs(f);
	f->n_running = f->saw_one;
	for (size_t i = 0; i < f->files.n; i++)
		f->files.at[i].is_there = false;
	each_file(f, look_at_file);
	forget_ended(f);
}

/* ---- pauses ---- */

static bool has_ended(struct follower *f, const char *name)
{
	char local[PATH_MAX];
	struct msr_header h;
	struct stat st;
	const int in = path_in(local, PATH_MAX, f->local, name) ? open_local(local, &st, &h) : -1;
	if (in < 0)
		return true;
	close(in);
	return !together_is_running(&h);
}

/*
 * Reads nothing from the server. Does not see forked children that write to the file of an ended
 * process.
 */
static bool any_runs(struct follower *f)
{
	return launcher_runs(f) || !each_file(f, has_ended);
}

/* The end of the last process removes the directory. */
static bool is_gone(const struct follower *f)
{
	struct stat st;
	return fstat(f->lock, &st) != 0 || st.st_nlink == 0;
}

/* Returns true if a file was removed meanwhile. */
static bool wait_for_removal(const struct follower *f, uint64_t ms)
{
	_Alignas(struct inotify_event) char events[4096];
	struct pollfd p = {.fd = f->removals, .events = POLLIN};
	return poll(&p, 1, (int)ms) > 0 && read(f->removals, events, sizeof events) > 0;
}

/*
 * Ends early when no process runs any more, so that the data of killed processes are copied soon.
 * Also ends when the directory is removed, because its file system may be unmounted next. The
 * kernel sends no event for that while we have the directory open.
 */
static void pause_for(struct follower *f, uint64_t ms)
{
	const uint64_t end = now_ms() + ms;
	unsigned n_short = 0;
	for (uint64_t now; (now = now_ms()) < end && !is_gone(f) && (!f->saw_one || any_runs(f));) {
		const uint64_t tick = n_short ? SHORT_TICK_MS : f->tick_ms;
		if (wait_for_removal(f, end - now < tick ? end - now : tick))
			n_short = SHORT_TICKS;
		else
			n_short -= n_short > 0;
	}
}

static void follow_runs(struct follower *f)
{
	f->removals = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	inotify_add_watch(f->removals, f->local, IN_DELETE);
	/*
	 * Nodes that start together do not copy at the same time, because they were booted at
	 * different times.
	 */
	pause_for(f, f->period_ms / 2 + clock_mono_ns() % (f->period_ms / 2 + 1));
	while (!is_gone(f)) {
		const uint64_t start_ms = now_ms();
		look(f);
		if (!f->n_running) {
			rmdir(f->local); /* if it is empty; killed processes do not remove it */
			break;
		}
		const uint64_t took_ms = (now_ms() - start_ms) * f->pause;
		pause_for(f, took_ms > f->period_ms ? took_ms : f->period_ms);
	}
	close(f->removals);
}

static bool lock_directory(struct follower *f)
{
	f->lock = open(f->local, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return f->lock >= 0 && flock(f->lock, LOCK_EX | LOCK_NB) == 0;
}

/*
 * A rank that has just started may have relied on us, or its program may have made the directory
 * again. So we look once more after we have released the lock.
 */
static bool goes_on(struct follower *f)
{
	close(f->lock);
	if (access(f->local, F_OK) != 0)
		return false;
	poll(NULL, 0, (int)f->tick_ms);
	if (!lock_directory(f))
		return false;
	look(f);
	return f->n_running > 0;
}

enum status follow(const struct follow_request *r)
{
	struct follower f = {.directory = r->directory,
			     .local = r->local,
			     .launcher = strtol(r->pid, NULL, 10),
			     .launcher_start_ticks = strtoull(r->start_ticks, NULL, 10),
			     .lock = FOLLOW_LOCK,
			     .saw_one = true,
			     .period_ms = r->period_ms ? strtoul(r->period_ms, NULL, 10) : 0,
			     .pause = r->period_ms ? 1 : PAUSE};
	/* A process may open a file while we have a lease on it; see collect_file.c. */
	signal(SIGIO, SIG_IGN);
	f.period_ms = f.period_ms ? f.period_ms : FOLLOW_PERIOD_MS;
	f.tick_ms = f.period_ms / TICKS + 1;
	do
		follow_runs(&f);
	while (goes_on(&f));
	for (size_t i = 0; i < f.files.n; i++)
		follow_part_close(&f.files.at[i].part);
	vec_free(&f.files);
	return STATUS_OK;
}
