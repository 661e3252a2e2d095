/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs code of vendors' libraries in a child process; see child.h. Tests:
 * tests/cli/launch/launch_papi.sh, tests/cli/launch/launch_gpu.sh.
 */
#include "hpcrun-lite/launch/child.h"

#include "hpcrun-lite/config/config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIME_LIMIT_S 60 /* some libraries hang while they look for devices */

int child_start(void (*work)(void *arg, int out), void *arg, pid_t *child)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	fflush(NULL);
	*child = fork();
	if (*child == 0) {
		int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (nowhere >= 0) {
			dup2(nowhere, STDOUT_FILENO);
			dup2(nowhere, STDERR_FILENO);
		}
		alarm(TIME_LIMIT_S);
		work(arg, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	if (*child < 0) {
		close(ends[0]);
		return -1;
	}
	return ends[0];
}

const void *child_open_module(const struct child_module *m, char *why, size_t bytes)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/" CONFIG_MODULE_HEAD "%s.so", m->directory,
			 m->name);
	if (n < 0 || (size_t)n >= sizeof path || access(path, F_OK) != 0) {
		snprintf(why, bytes, "%s", m->missing);
		return NULL;
	}
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!module) {
		snprintf(why, bytes, "the %s cannot be loaded: %.400s", m->what, dlerror());
		return NULL;
	}
	const void *table = dlsym(module, m->symbol);
	if (!table)
		snprintf(why, bytes, "the %s %.300s is of another version", m->what, path);
	return table;
}

size_t child_read(int fd, void *to, size_t bytes)
{
	size_t n = 0;
	for (ssize_t got; n < bytes && ((got = read(fd, (char *)to + n, bytes - n)) > 0 ||
					(got < 0 && errno == EINTR));)
		n += got > 0 ? (size_t)got : 0;
	return n;
}

char *child_read_text(int fd)
{
	char *text = NULL;
	size_t bytes = 0;
	char block[4096];
	FILE *to = open_memstream(&text, &bytes);
	for (size_t n; to && (n = child_read(fd, block, sizeof block)) > 0;)
		fwrite(block, 1, n, to);
	close(fd);
	if (to)
		fclose(to);
	return text;
}

void child_reap(pid_t child, const char *what, char *how, size_t bytes)
{
	int status = 0;
	how[0] = 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		snprintf(how, bytes, "%s did not answer within %d seconds", what, TIME_LIMIT_S);
	else if (WIFSIGNALED(status))
		snprintf(how, bytes, "%s crashed: %s", what, strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		snprintf(how, bytes, "%s ended the process in which it was tested", what);
}
