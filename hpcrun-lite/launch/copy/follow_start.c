/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See follow_start.h. The process becomes an orphan before the program starts. It has its own
 * session and none of the program's descriptors, so the program cannot wait for it or signal it by
 * accident.
 */
#include "hpcrun-lite/launch/copy/follow_start.h"

#include "common/safe/newer.h"
#include "hpcrun-lite/launch/copy/follow.h"
#include "hpcrun-lite/launch/directory/job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NICER 10 /* the programs go first */

static bool adopts_orphans(void)
{
	int is_reaper = 0;
	return getpid() == 1 || prctl(PR_GET_CHILD_SUBREAPER, &is_reaper, 0, 0, 0) != 0 ||
	       is_reaper;
}

/* The launcher may be bound to a core, or have real-time priority, for its program. */
static void run_anywhere(void)
{
	const struct sched_param none = {0};
	cpu_set_t all;
	memset(&all, 0xff, sizeof all);
	sched_setscheduler(0, SCHED_OTHER, &none);
	sched_setaffinity(0, sizeof all, &all);
	setpriority(PRIO_PROCESS, 0, NICER);
}

static void become_follower(const struct config *c, int lock, const char *pid, const char *start)
{
	const char *const period = getenv(FOLLOW_PERIOD_VARIABLE);
	const char *const arguments[] = {c->tool, FOLLOW_ARGUMENT, c->directory, c->local,
					 pid,     start,           period,       NULL};
	static char *const environment[] = {NULL};
	/* If a standard descriptor was closed, the lock has its number. */
	const int moved = fcntl(lock, F_DUPFD, FOLLOW_LOCK), nowhere = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3; fd++)
		if (nowhere != fd)
			dup2(nowhere, fd);
	if (moved != FOLLOW_LOCK && dup2(moved, FOLLOW_LOCK) < 0)
		_exit(1);
	newer_close_range(FOLLOW_LOCK + 1, INT_MAX);
	setsid();
	run_anywhere();
	if (chdir("/") == 0)
		execve(c->tool, (char *const *)(uintptr_t)arguments, environment);
	_exit(1);
}

/*
 * SIGCHLD is ignored, so the kernel reaps the intermediate child, and the child's CPU time does not
 * appear in the times of the program's children.
 */
static void start_orphan(const struct config *c, int lock)
{
	char pid[24], start[24];
	uint64_t ticks = 0;
	job_process_start(getpid(), &ticks);
	snprintf(pid, sizeof pid, "%ld", (long)getpid());
	snprintf(start, sizeof start, "%" PRIu64, ticks);
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction old;
	sigaction(SIGCHLD, &ignore, &old);
	const pid_t child = fork();
	if (child == 0) {
		if (fork() == 0)
			become_follower(c, lock, pid, start);
		_exit(0);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGCHLD, &old, NULL);
}

void follow_start(const struct config *c)
{
	const char *const period = getenv(FOLLOW_PERIOD_VARIABLE);
	if (!c->local[0] || adopts_orphans() || (period && !strcmp(period, "0")))
		return;
	const int lock = open(c->local, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
		start_orphan(c, lock);
	if (lock >= 0)
		close(lock);
}
