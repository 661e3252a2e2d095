/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions to the PAPI module; see papi_client.h. PAPI starts threads, prints and installs signal handlers as it likes: in a child
 * that ends with its answer this harms nobody. Test: tests/cli/launch_papi.sh.
 */
#include "hpcrun-lite/launch/papi_client.h"

#include "hpcrun-lite/source/papi_probe.h"
#include "hpcrun-lite/source/source.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIME_LIMIT_S 60 /* for a library that hangs while it looks for devices */

struct answer {
	bool good;
	uint32_t unit[MSR_MAX_METRICS];
	char why[512];
};

static const struct papi_probe *open_module(const char *directory, char *why, size_t bytes)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/" SOURCE_MODULE_FORMAT, directory, "papi");
	if (n < 0 || (size_t)n >= sizeof path || access(path, F_OK) != 0) {
		snprintf(why, bytes, "hpctoolkit-lite was built without PAPI; install PAPI (libpapi-dev) and build again");
		return NULL;
	}
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!module) {
		snprintf(why, bytes, "the PAPI module cannot be loaded: %.400s", dlerror());
		return NULL;
	}
	const struct papi_probe *probe = dlsym(module, PAPI_PROBE_SYMBOL);
	if (!probe)
		snprintf(why, bytes, "the PAPI module %.300s is of another version", path);
	return probe;
}

static void check_in_child(const char *directory, const struct config *c, int out)
{
	struct answer a = {0};
	struct papi_probe_event events[MSR_MAX_METRICS];
	unsigned n = 0;
	for (uint32_t i = 0; i < c->n_events; i++)
		if (c->event[i].kind == CONFIG_PAPI)
			events[n++] = (struct papi_probe_event){c->event[i].name, c->event[i].period, MSR_UNIT_COUNT};
	const struct papi_probe *probe = open_module(directory, a.why, sizeof a.why);
	a.good = probe && probe->check(events, n, a.why, sizeof a.why);
	for (unsigned i = 0; i < n; i++)
		a.unit[i] = events[i].unit;
	if (write(out, &a, sizeof a) != sizeof a)
		_exit(1);
}

static void list_in_child(const char *directory, const struct config *c, int out)
{
	(void)c;
	char why[512] = "";
	const struct papi_probe *probe = open_module(directory, why, sizeof why);
	if (probe)
		probe->list(out);
	else
		dprintf(out, "-PAPI\t%s\n", why);
}

/* Runs `work` in a child whose standard output and error go nowhere; returns the reading end of a pipe, or -1. */
static int start_child(void (*work)(const char *, const struct config *, int), const char *directory, const struct config *c, pid_t *child)
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
		work(directory, c, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	if (*child < 0) {
		close(ends[0]);
		return -1;
	}
	return ends[0];
}

static size_t read_all(int fd, void *to, size_t bytes)
{
	size_t n = 0;
	for (ssize_t got; n < bytes && ((got = read(fd, (char *)to + n, bytes - n)) > 0 || (got < 0 && errno == EINTR));)
		n += got > 0 ? (size_t)got : 0;
	return n;
}

/* Waits for the child; "" when it ended well, else how it died. */
static void reap(pid_t child, char *how, size_t bytes)
{
	int status = 0;
	how[0] = 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		snprintf(how, bytes, "PAPI did not answer within %d seconds", TIME_LIMIT_S);
	else if (WIFSIGNALED(status))
		snprintf(how, bytes, "PAPI crashed: %s", strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		snprintf(how, bytes, "PAPI ended the process that asked it");
}

bool papi_client_check(const char *library_directory, struct config *c, char *why, size_t why_bytes)
{
	struct answer a = {0};
	pid_t child;
	char how[128];
	int in = start_child(check_in_child, library_directory, c, &child);
	if (in < 0) {
		snprintf(why, why_bytes, "no process could be started to ask PAPI: %s", strerror(errno));
		return false;
	}
	size_t n = read_all(in, &a, sizeof a);
	close(in);
	reap(child, how, sizeof how);
	if (n != sizeof a) {
		snprintf(why, why_bytes, "%s", how[0] ? how : "PAPI gave no answer");
		return false;
	}
	unsigned k = 0;
	for (uint32_t i = 0; i < c->n_events; i++)
		if (c->event[i].kind == CONFIG_PAPI)
			c->event[i].unit = a.unit[k++];
	snprintf(why, why_bytes, "%s", a.why);
	return a.good;
}

void papi_client_list(const char *library_directory)
{
	pid_t child;
	char how[128], line[1024];
	int in = start_child(list_in_child, library_directory, NULL, &child);
	FILE *f = in < 0 ? NULL : fdopen(in, "r");
	if (!f)
		return;
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		char *tab = strchr(line, '\t');
		if (!tab)
			printf("\n%s\n", line);
		else if (*line == '-')
			printf("  %.*s: not here: %s\n", (int)(tab - line - 1), line + 1, tab + 1);
		else
			printf("  %-30.*s %-5s  @%-8d  %s\n", (int)(tab - line), line, "count", 1000000, tab + 1);
	}
	fclose(f);
	reap(child, how, sizeof how);
	if (how[0])
		printf("  PAPI: not here: %s\n", how);
}
