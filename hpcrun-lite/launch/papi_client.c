/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries the PAPI module in a child process; see papi_client.h. Test:
 * tests/cli/launch/launch_papi.sh.
 */
#include "hpcrun-lite/launch/papi_client.h"

#include "hpcrun-lite/launch/child.h"
#include "hpcrun-lite/source/papi_probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct answer {
	bool good;
	uint32_t unit[MSR_MAX_METRICS];
	char why[512];
};

static const struct papi_probe *open_module(const char *directory, char *why, size_t bytes)
{
	static const char missing[] = "hpctoolkit-lite was built without PAPI; install PAPI "
				      "(libpapi-dev) and build again";
	return child_open_module(&(struct child_module){directory, "papi", PAPI_PROBE_SYMBOL,
							"PAPI module", missing},
				 why, bytes);
}

struct question {
	const char *directory;
	const struct config *config;
};

static void check_in_child(void *arg, int out)
{
	const struct question *q = arg;
	const struct config *c = q->config;
	struct answer a = {0};
	struct papi_probe_event events[MSR_MAX_METRICS];
	unsigned n = 0;
	for (uint32_t i = 0; i < c->n_events; i++)
		if (c->event[i].kind == CONFIG_PAPI)
			events[n++] = (struct papi_probe_event){c->event[i].name,
								c->event[i].period, MSR_UNIT_COUNT};
	const struct papi_probe *probe = open_module(q->directory, a.why, sizeof a.why);
	a.good = probe && probe->check(events, n, a.why, sizeof a.why);
	for (unsigned i = 0; i < n; i++)
		a.unit[i] = events[i].unit;
	if (write(out, &a, sizeof a) != sizeof a)
		_exit(1);
}

static void list_in_child(void *arg, int out)
{
	const struct question *q = arg;
	char why[512] = "";
	const struct papi_probe *probe = open_module(q->directory, why, sizeof why);
	if (probe)
		probe->list(out);
	else
		dprintf(out, "PAPI\n-%s\n", why);
}

/*
 * Returns the index of the event whose name begins `cause`, or n_events. *rest is the text after
 * the name.
 */
static uint32_t named_in(const char *cause, const struct config *c, const char **rest)
{
	for (uint32_t i = 0; i < c->n_events; i++) {
		size_t n = strlen(c->event[i].name);
		*rest = cause + n + strspn(cause + n, ": ");
		if (c->event[i].kind == CONFIG_PAPI && !strncmp(cause, c->event[i].name, n) &&
		    (cause[n] == ':' || cause[n] == ' '))
			return i;
	}
	*rest = cause;
	return c->n_events;
}

bool papi_client_check(const char *library_directory, struct config *c, uint32_t *refused,
		       char *why, size_t why_bytes)
{
	const char *rest;
	struct answer a = {0};
	pid_t child;
	char how[128];
	struct question q = {library_directory, c};
	*refused = c->n_events;
	int in = child_start(check_in_child, &q, &child);
	if (in < 0) {
		snprintf(why, why_bytes, "cannot start a process to test PAPI: %s",
			 strerror(errno));
		return false;
	}
	size_t n = child_read(in, &a, sizeof a);
	close(in);
	child_reap(child, "PAPI", how, sizeof how);
	if (n != sizeof a) {
		snprintf(why, why_bytes, "%s", how[0] ? how : "PAPI gave no answer");
		return false;
	}
	unsigned k = 0;
	for (uint32_t i = 0; i < c->n_events; i++)
		if (c->event[i].kind == CONFIG_PAPI)
			c->event[i].unit = a.unit[k++];
	*refused = named_in(a.why, c, &rest);
	snprintf(why, why_bytes, "%s", rest);
	return a.good;
}

char *papi_client_ask(const char *library_directory)
{
	pid_t child;
	char how[128], *all = NULL;
	struct question q = {library_directory, NULL};
	int in = child_start(list_in_child, &q, &child);
	char *text = in < 0 ? NULL : child_read_text(in);
	if (!text)
		return NULL;
	child_reap(child, "PAPI", how, sizeof how);
	if (asprintf(&all, "%s%s%s", text, how[0] ? "-" : "", how) < 0)
		all = NULL;
	free(text);
	return all;
}
