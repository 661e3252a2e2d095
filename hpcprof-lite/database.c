/* SPDX-License-Identifier: BSD-3-Clause */
/* See database.h. Tests: tests/unit/prof/test_database.c, tests/cli/prof/prof_cli.sh. */
#include "hpcprof-lite/database.h"

#include "common/base/cutguard.h"
#include "common/base/log.h"
#include "common/safe/newer.h"
#include "common/safe/printable.h"
#include "hpcprof-lite/code/code_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- removal ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st, (void)type, (void)f;
	return remove(path);
}

static void remove_tree(const char *path)
{
	/*
	 * Sinks may still write when a signal comes. Then the last rmdir fails, and the next round
	 * removes the rest.
	 */
	for (unsigned round = 0; round < 10; round++)
		if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT)
			return;
}

/* ---- signals ---- */

#define CUT_SIGNAL SIGUSR1 /* we send it to ourselves */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* a file was shortened while it was read, and that is logged */
static volatile sig_atomic_t is_cut;
static char *open_partial; /* guarded by lock; what a signal has to remove */
static char scratch[PATH_MAX]; /* a directory of our own below /tmp; "": none */

/* ---- the watcher: another process, which removes what we leave ---- */

/* guarded by lock; the watcher runs until it is closed. -1: there is none */
static int watcher_fd = -1;
static pid_t watcher;

/*
 * The watcher: gets the name of each open database, and "" when none is open. It leaves the
 * session, so that it is not killed with us. It closes its copies of our files, because a launcher
 * reads them to their end.
 */
static void watch(int fd)
{
	char partial[PATH_MAX] = "", name[PATH_MAX];
	dup2(fd, 3);
	const int null = open("/dev/null", O_RDWR);
	setsid();
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	newer_close_range(4, INT_MAX);
	for (ssize_t n; (n = recv(3, name, sizeof name, 0)) > 0;)
		memcpy(partial, name, (size_t)n);
	if (*partial)
		remove_tree(partial);
	_exit(0);
}

/* With the lock. If the watcher has been killed, we go on without it. */
static void tell_watcher(const char *name)
{
	if (watcher_fd >= 0 && send(watcher_fd, name, strlen(name) + 1, MSG_NOSIGNAL) < 0)
		log_detail(NULL, "the watcher of the database has ended");
}

void database_watch(void)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return;
	watcher = fork();
	if (watcher == 0) {
		close(ends[1]);
		watch(ends[0]);
	}
	close(ends[0]);
	if (watcher < 0)
		close(ends[1]);
	else
		watcher_fd = ends[1];
}

void database_end_watch(void)
{
	pthread_mutex_lock(&lock);
	if (watcher_fd >= 0) {
		close(watcher_fd);
		waitpid(watcher, NULL, 0);
	}
	watcher_fd = -1;
	pthread_mutex_unlock(&lock);
}

static void forget_open(void)
{
	pthread_mutex_lock(&lock);
	tell_watcher("");
	open_partial = NULL;
	pthread_mutex_unlock(&lock);
}

/*
 * Makes the directory, replacing the X of the name. From then on a signal removes it. Returns an
 * errno.
 */
static int make_partial(char *name)
{
	pthread_mutex_lock(&lock);
	int cause = mkdtemp(name) ? 0 : errno;
	if (cause == 0) {
		open_partial = name;
		tell_watcher(name);
	}
	pthread_mutex_unlock(&lock);
	return cause;
}

static void *wait_for_signal(void *arg)
{
	sigset_t set = *(sigset_t *)arg;
	int number;
	while (sigwait(&set, &number) != 0)
		;
	pthread_mutex_lock(&lock); /* and never unlock: nothing may be named after this */
	/* it reads in the directory, and is in a process group of its own */
	code_tool_end();
	if (open_partial && open_partial != scratch && !is_cut)
		log_note(NULL, "ended by a signal: no database is left");
	log_end(); /* outputs that are still written would complain of the missing directory */
	if (open_partial)
		remove_tree(open_partial);
	if (is_cut)
		_exit(1);
	signal(number, SIG_DFL);
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, number);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	raise(number);
	_exit(128 + number);
}

/* Asks the other thread to remove the incomplete database, and waits for it. */
static void end_cut(void)
{
	is_cut = 1;
	kill(getpid(), CUT_SIGNAL);
	for (;;)
		pause();
}

void database_guard(void)
{
	static sigset_t set;
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct sigaction was;
		if (sigaction(numbers[i], NULL, &was) == 0 &&
		    was.sa_handler != SIG_IGN) /* nohup stays nohup */
			sigaddset(&set, numbers[i]);
	}
	sigaddset(&set, CUT_SIGNAL);
	pthread_t thread;
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&thread, NULL, wait_for_signal, &set) != 0) {
		pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* without the guard: an interrupted run
							     leaves the partial directory */
		cutguard_start(NULL);
		return;
	}
	pthread_detach(thread);
	cutguard_start(end_cut);
}

/* ---- names ---- */

static char *base_of(const char *measurements, const char *title)
{
	static const char marker[] = "-measurements";
	char *copy = strdup(measurements), *name = NULL;
	if (!copy)
		return NULL;
	size_t n = strlen(copy);
	while (n > 1 && copy[n - 1] == '/')
		copy[--n] = 0;
	const char *slash = strrchr(copy, '/'), *base = slash ? slash + 1 : copy,
		   *at = strstr(base, marker);
	int done =
		at ? asprintf(&name, "%.*s-database%s", (int)(at - base), base,
			      at + sizeof marker - 1)
		   : asprintf(&name, "hpctoolkit-lite-%s-database",
			      printable_is_name(title) ? title : "unnamed");
	free(copy);
	return done < 0 ? NULL : name;
}

static bool exists(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0;
}

/* The first of base, base-2, base-3 ... that is free. */
static char *number(const char *base)
{
	char *path = strdup(base);
	for (unsigned i = 2; path && exists(path); i++) {
		free(path);
		if (asprintf(&path, "%s-%u", base, i) < 0)
			path = NULL;
	}
	return path;
}

static char *without_slashes(const char *wanted)
{
	char *path = strdup(wanted);
	for (size_t n = path ? strlen(path) : 0; n > 1 && path[n - 1] == '/';)
		path[--n] = 0;
	return path;
}

/* ---- life ---- */

static enum status refuse_existing(const char *path)
{
	log_error(path, "exists already; name another place");
	return STATUS_IO;
}

enum status database_check(const char *wanted)
{
	char *path = without_slashes(wanted), *parent = path ? strdup(path) : NULL;
	enum status s = STATUS_OK;
	if (!parent) {
		free(path);
		log_error(NULL, "out of memory");
		return STATUS_NO_MEMORY;
	}
	const char *directory = dirname(parent);
	if (exists(path)) {
		s = refuse_existing(path);
	} else if (access(directory, W_OK | X_OK) != 0) {
		log_error(path, "cannot be made: %s; name another place", strerror(errno));
		s = STATUS_IO;
	}
	free(parent);
	free(path);
	return s;
}

enum status database_begin(struct database *d, const char *wanted, const char *measurements,
			   const char *title)
{
	*d = (struct database){.base = wanted ? NULL : base_of(measurements, title)};
	d->path = wanted ? without_slashes(wanted) : d->base ? number(d->base) : NULL;
	if (!d->path || asprintf(&d->partial, "%s.partial-XXXXXX", d->path) < 0) {
		d->partial = NULL;
		log_error(NULL, "out of memory");
		return STATUS_NO_MEMORY;
	}
	if (exists(d->path)) {
		free(d->partial);
		d->partial = NULL;
		return refuse_existing(d->path);
	}
	int cause = make_partial(d->partial);
	if (cause) {
		log_error(d->path, "cannot be made: %s", strerror(cause));
		free(d->partial);
		d->partial = NULL;
		return STATUS_IO;
	}
	return STATUS_OK;
}

/* If another run took the name meanwhile, takes the next one. Returns errno, 0 for success. */
static int name_partial(struct database *d)
{
	/* rename() replaces an empty directory that was made meanwhile; nothing is lost */
	while (rename(d->partial, d->path) != 0) {
		const int cause = errno;
		const bool is_taken = cause == ENOTEMPTY || cause == EEXIST;
		char *next = is_taken && d->base ? number(d->base) : NULL;
		if (!next)
			return cause;
		free(d->path);
		d->path = next;
	}
	return 0;
}

enum status database_commit(struct database *d)
{
	enum status s = STATUS_OK;
	mode_t mask = umask(0);
	umask(mask);
	/* mkdtemp() made it readable only for us */
	if (!d->is_private && chmod(d->partial, 0777 & ~mask) != 0)
		log_warn(d->path, "keeps the permissions of a private directory: %s",
			 strerror(errno));
	pthread_mutex_lock(&lock);
	const int cause = name_partial(d);
	if (cause) {
		log_error(d->path, "cannot be named: %s", strerror(cause));
		s = STATUS_IO;
	} else {
		tell_watcher("");
		open_partial = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (s == STATUS_OK) {
		free(d->partial);
		d->partial = NULL;
	}
	return s;
}

const char *database_begin_scratch(void)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(scratch, sizeof scratch, "%s/hpcprof-lite-XXXXXX",
			 tmp && *tmp ? tmp : "/tmp");
	int cause = n > 0 && (size_t)n < sizeof scratch ? make_partial(scratch) : ENAMETOOLONG;
	if (!cause)
		return scratch;
	log_warn(tmp && *tmp ? tmp : "/tmp",
		 "no directory can be made (%s), so functions and lines without a structure in the "
		 "cache stay unknown; TMPDIR can name another place", strerror(cause));
	scratch[0] = 0;
	return NULL;
}

void database_end_scratch(void)
{
	if (!scratch[0])
		return;
	remove_tree(scratch);
	forget_open();
	scratch[0] = 0;
}

void database_end(struct database *d)
{
	if (d->partial) {
		remove_tree(d->partial);
		forget_open();
	}
	free(d->partial);
	free(d->path);
	free(d->base);
	*d = (struct database){0};
}
