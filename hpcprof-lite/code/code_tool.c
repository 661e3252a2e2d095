/* SPDX-License-Identifier: BSD-3-Clause */
/* See code_tool.h. */
#include "hpcprof-lite/code/code_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { MOST_BYTES = 16 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t running; /* a program that was not waited for, and its process group; 0: none */

static bool is_program(const char *directory, size_t n, const char *name, char path[PATH_MAX])
{
	struct stat st;
	return n && directory[0] == '/' &&
	       snprintf(path, PATH_MAX, "%.*s/%s", (int)n, directory, name) < PATH_MAX &&
	       stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool find_cuda(const char *name, char path[PATH_MAX])
{
	const char *home = getenv("CUDA_HOME");
	char directory[PATH_MAX];
	if (home && snprintf(directory, sizeof directory, "%s/bin", home) < PATH_MAX &&
	    is_program(directory, strlen(directory), name, path))
		return true;
	glob_t found = {0};
	bool ok = false;
	if (glob("/usr/local/cuda*/bin", 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc && !ok; i++)
			ok = is_program(found.gl_pathv[i], strlen(found.gl_pathv[i]), name, path);
	globfree(&found);
	return ok;
}

bool code_tool_find(const char *name, bool is_cuda, char path[PATH_MAX])
{
	for (const char *at = getenv("PATH"); at;) {
		const size_t n = strcspn(at, ":");
		if (is_program(at, n, name, path))
			return true;
		at = at[n] ? at + n + 1 : NULL;
	}
	return is_cuda && find_cuda(name, path);
}

/*
 * As start() of load/structures.c, but the child reads nothing and its output is ours. Its process
 * group is its own, so that what it starts can be ended with it.
 */
static bool start(const char *path, char *const argv[], int output, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	if (posix_spawn_file_actions_init(&actions) != 0)
		return false;
	bool ok = posix_spawnattr_init(&attributes) == 0;
	if (ok) {
		posix_spawnattr_setsigmask(&attributes, &none);
		posix_spawnattr_setsigdefault(&attributes, &all);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
							      POSIX_SPAWN_SETSIGDEF |
							      POSIX_SPAWN_SETPGROUP);
		ok = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) == 0 &&
		     posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY,
						      0) == 0 &&
		     posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
						      O_WRONLY, 0) == 0 &&
		     posix_spawn(pid, path, &actions, &attributes, argv, environ) == 0;
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return ok;
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* True at the end of the output; false after the time limit or too many bytes. */
static bool collect(int fd, int64_t end, struct code_output *out)
{
	while (out->n < MOST_BYTES && vec_reserve(out, out->n + (64 << 10))) {
		const int64_t left = end - now_ms();
		struct pollfd p = {.fd = fd, .events = POLLIN};
		const int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return false;
		const ssize_t n = read(fd, out->at + out->n, out->capacity - out->n - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			out->at[out->n] = '\0';
			return n == 0;
		}
		out->n += (size_t)n;
	}
	return false;
}

/* Waits for a program that has closed its output. False: it goes on after the time limit. */
static bool has_ended(pid_t pid, int64_t end)
{
	for (;;) {
		siginfo_t info = {0};
		/* WNOWAIT: its number stays its own until end_group() */
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
		    info.si_pid)
			return true;
		if (now_ms() >= end)
			return false;
		poll(NULL, 0, 1);
	}
}

static bool start_group(const char *path, char *const argv[], int output, pid_t *pid)
{
	pthread_mutex_lock(&lock);
	const bool ok = start(path, argv, output, pid);
	if (ok)
		running = *pid;
	pthread_mutex_unlock(&lock);
	return ok;
}

/* Ends what still runs. Returns the status of the program. */
static int end_group(pid_t pid)
{
	int status = 0;
	pthread_mutex_lock(&lock);
	kill(-pid, SIGKILL);
	running = 0;
	pthread_mutex_unlock(&lock);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

bool code_tool_run(const char *path, char *const argv[], int64_t *left_ms, struct code_output *out)
{
	const int64_t end = now_ms() + *left_ms;
	int fds[2], status = 0;
	pid_t pid;
	if (pipe2(fds, O_CLOEXEC) != 0)
		return false;
	const bool runs = start_group(path, argv, fds[1], &pid);
	close(fds[1]);
	const bool ok = runs && collect(fds[0], end, out) && has_ended(pid, end);
	close(fds[0]);
	if (runs)
		status = end_group(pid);
	const int64_t now = now_ms();
	*left_ms = now < end ? end - now : 0;
	return ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void code_tool_end(void)
{
	pthread_mutex_lock(&lock); /* and never unlock: no program may start after this */
	if (running)
		kill(-running, SIGKILL);
}
