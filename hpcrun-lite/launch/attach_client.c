/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See attach_client.h. A job's ranks are attached to by one process each, so that all begin at once
 * and none waits for another; this one waits for them.
 */
#include "hpcrun-lite/launch/attach_client.h"

#include "common/base/log.h"
#include "hpcrun-lite/config/attach.h"
#include "hpcrun-lite/launch/attach_job.h"
#include "hpcrun-lite/launch/directory/job.h"
#include "hpcrun-lite/launch/directory/rundir.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What cannot begin late: it must be there before the program's first call, or needs a module. */
const char *attach_client_why_not(const struct config *c)
{
	if (c->n_gpus || c->mpi || c->nvtx || c->torch)
		return "gpu=..., MPI, NVTX and --torch must be there when the program starts";
	for (uint32_t i = 0; i < c->n_events; i++)
		if (c->event[i].kind == CONFIG_PAPI)
			return "events of PAPI cannot begin in a process that runs";
		else if (c->event[i].kind == CONFIG_MEMORY)
			return "MEMORY must be there when the program starts";
	if (c->delay)
		return "it is measured from the moment on that it is attached to";
	return NULL;
}

/* Becomes the program that attaches. */
static int become(const char *library_directory, char *const *arguments, enum config_say say)
{
	char path[PATH_MAX + 32], own[PATH_MAX] = "";
	snprintf(path, sizeof path, "%s/" ATTACH_PROGRAM, library_directory);
	if (access(path, X_OK) != 0 && readlink("/proc/self/exe", own, sizeof own - 1) > 0) {
		*strrchr(own, '/') = '\0'; /* where it was built */
		snprintf(path, sizeof path, "%s/" ATTACH_PROGRAM, own);
	}
	if (say != CONFIG_NORMAL)
		setenv("HPCTOOLKIT_LITE_SAY", say == CONFIG_QUIET ? "quiet" : "verbose", 1);
	execv(path, arguments);
	log_error(path, "%s; is the installation complete?", strerror(errno));
	return 1;
}

int attach_client_detach(const char *library_directory, pid_t pid, const struct config *c)
{
	char text[16];
	snprintf(text, sizeof text, "%d", (int)pid);
	return become(library_directory,
		      (char *[]){(char *)(uintptr_t)ATTACH_PROGRAM, (char *)(uintptr_t) "detach",
				 text, NULL},
		      c->say);
}

static void name_of(pid_t pid, char *name, size_t n_bytes)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f || !fgets(name, (int)n_bytes, f))
		snprintf(name, n_bytes, "process");
	name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
}

/* The process itself writes there, and when root attaches, it may be a service's. */
static void give_directory(const char *directory, pid_t pid)
{
	char path[64], line[256];
	unsigned uid = 0, gid = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *f = geteuid() == 0 ? fopen(path, "re") : NULL;
	while (f && fgets(line, sizeof line, f)) {
		sscanf(line, "Uid:%*u%*u%*u%u", &uid); /* those that count for files */
		sscanf(line, "Gid:%*u%*u%*u%u", &gid);
	}
	if (f)
		fclose(f);
	if (uid && lchown(directory, uid, gid) != 0)
		log_warn(directory, "cannot be given to user %u: %s", uid, strerror(errno));
}

/* The directory for these processes; `pid` is one of them. */
static enum status open_directory(const struct attach_request *a, pid_t pid)
{
	extern char **environ;
	struct config *c = a->config;
	struct job job;
	char name[64];
	name_of(pid, name, sizeof name);
	job_find(environ, &job);
	const enum status status =
		rundir_open(a->directory, name, &job, c->directory, sizeof c->directory);
	if (status == STATUS_OK)
		give_directory(c->directory, pid);
	return status;
}

static int attach_one(const struct attach_request *a, pid_t pid, enum config_say say)
{
	static char text[CONFIG_MAX_BYTES];
	char pid_text[16], seconds[16];
	struct config *c = a->config;
	c->attached = true;
	c->root_pid = (uint32_t)pid;
	if (!config_encode(c, text, sizeof text))
		return 1;
	snprintf(pid_text, sizeof pid_text, "%d", (int)pid);
	snprintf(seconds, sizeof seconds, "%u", a->seconds);
	return become(a->library_directory,
		      (char *[]){(char *)(uintptr_t)ATTACH_PROGRAM, (char *)(uintptr_t) "attach",
				 pid_text, seconds, c->library, c->directory, text, NULL},
		      say);
}

/* ---- all ranks ---- */

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_PASSED_ON = sizeof passed_on / sizeof *passed_on };

static pid_t start_one(const struct attach_request *a, pid_t pid, const sigset_t *mask)
{
	const pid_t child = fork();
	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* it ends its measurement */
	sigprocmask(SIG_SETMASK, mask, NULL);
	_exit(attach_one(a, pid, a->config->say == CONFIG_VERBOSE ? CONFIG_VERBOSE : CONFIG_QUIET));
}

/* Returns how many ranks could not be measured. */
static size_t await_all(const struct attach_rank *rank, pid_t *child, size_t n,
			const sigset_t *signals)
{
	size_t n_open = 0, n_failed;
	for (size_t i = 0; i < n; i++)
		n_open += child[i] > 0;
	n_failed = n - n_open;
	while (n_open) {
		int status, sig = 0;
		sigwait(signals, &sig);
		for (size_t i = 0; sig != SIGCHLD && i < n; i++)
			if (child[i] > 0)
				kill(child[i], SIGTERM);
		for (pid_t got; (got = waitpid(-1, &status, WNOHANG)) > 0; n_open--) {
			size_t i = 0;
			while (child[i] != got)
				i++;
			child[i] = 0;
			n_failed += status != 0;
			if (status)
				log_error(NULL, "rank %d (process %d) is not measured",
					  (int)rank[i].rank, (int)rank[i].pid);
		}
	}
	return n_failed;
}

static int attach_all(const struct attach_request *a, const struct attach_rank *rank, size_t n)
{
	sigset_t signals, before;
	pid_t *child = calloc(n, sizeof *child);
	if (!child)
		return 1;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	for (size_t i = 0; i < N_PASSED_ON; i++)
		sigaddset(&signals, passed_on[i]);
	sigprocmask(SIG_BLOCK, &signals, &before);
	for (size_t i = 0; i < n; i++) {
		log_detail(NULL, "rank %d is process %d", (int)rank[i].rank, (int)rank[i].pid);
		child[i] = start_one(a, rank[i].pid, &before);
	}
	log_note(NULL, "measuring %zu ranks of job %s on this node%s", n, a->job,
		 a->seconds ? "" : " until they end or Ctrl-C");
	const size_t n_failed = await_all(rank, child, n, &signals);
	free(child);
	if (n_failed < n)
		log_note(NULL, "measured %zu ranks into %s; read it with: hpcprof-lite %s",
			 n - n_failed, a->config->directory, a->config->directory);
	return n_failed != 0;
}

int attach_client_attach(const struct attach_request *a)
{
	struct attach_rank *ranks;
	size_t n;
	enum status status;
	if (!a->job) {
		status = open_directory(a, a->pid);
		return status == STATUS_OK ? attach_one(a, a->pid, a->config->say)
					   : status_exit_code(status);
	}
	log_set_quiet(a->config->say == CONFIG_QUIET);
	log_set_verbose(a->config->say == CONFIG_VERBOSE);
	if ((status = attach_job_find(a->job, &ranks, &n)) != STATUS_OK)
		return status_exit_code(status);
	status = open_directory(a, ranks[0].pid);
	const int code = status == STATUS_OK ? attach_all(a, ranks, n) : status_exit_code(status);
	free(ranks);
	return code;
}
