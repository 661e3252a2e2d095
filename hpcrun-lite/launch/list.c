/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists what this machine can measure and what it lacks; see list.h. Tests: tests/cli/launch/
 * launch_events.sh, tests/cli/launch/launch_gpu.sh.
 */
#include "hpcrun-lite/launch/list.h"

#include "common/base/options.h"
#include "common/safe/printable.h"
#include "hpcrun-lite/launch/directory/node_local.h"
#include "hpcrun-lite/launch/event.h"
#include "hpcrun-lite/launch/gpu_client.h"
#include "hpcrun-lite/launch/papi_client.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HERE_COLUMN 13 /* where columns of text begin */
#define MEANING_COLUMN 40
#define CURE_COLUMN 6
#define PAPI_PERIOD 1000000

/* What the modules said. It is foreign text, which take_line() makes harmless. */
struct answers {
	char *papi;
	struct gpu_client_answer gpu[GPU_CLIENT_MOST];
};

struct line {
	char text[1024];
	const char *field[3]; /* separated by tabs; "" for those that are not there */
};

/* Takes the next line from *text. Returns false at the end. */
static bool take_line(const char **text, struct line *l)
{
	if (!*text || !**text)
		return false;
	size_t n = strcspn(*text, "\n");
	char *at = l->text;
	snprintf(l->text, sizeof l->text, "%.*s", (int)n, *text);
	*text += n + ((*text)[n] != 0);
	for (size_t i = 0; i < 3; i++) {
		char *end = at + strcspn(at, "\t");
		char *next = *end ? end + 1 : end;
		*end = 0;
		l->field[i] = printable(at);
		at = next;
	}
	return true;
}

static struct config_event event_of(const struct event_perf *perf)
{
	struct config_event e = {.kind = CONFIG_PERF,
				 .unit = perf->unit,
				 .perf_type = perf->type,
				 .perf_config = perf->config,
				 .period = perf->default_period};
	snprintf(e.name, sizeof e.name, "perf::%s", perf->name);
	return e;
}

/* True if another source measures events of this name, so that they never reach PAPI. */
static bool is_taken(const char *name)
{
	struct config_event e;
	return event_parse(name, &e) == STATUS_OK && e.kind != CONFIG_PAPI;
}

/* ---- what is measured here, in short ---- */

static void here(const char *what, const char *text)
{
	printf("  %-9s  ", what);
	options_print_wrapped(text, HERE_COLUMN, HERE_COLUMN);
}

static void here_cputime(void)
{
	struct perf_refusal r;
	char text[96];
	snprintf(text, sizeof text, "at most %.0f samples a second, by timers",
		 1e9 / (double)event_tick_ns());
	here("CPU time", !event_permitted(false, &r) ? text
			 : event_permitted(true, &r)
				 ? "1000 samples a second, also in the kernel, by its event"
				 : "1000 samples a second, in user code, by the kernel's event");
}

static void here_events(const struct answers *a)
{
	size_t n;
	unsigned n_kernel = 0, n_processor = 0, n_papi = 0;
	struct perf_refusal r;
	struct line l;
	char text[128];
	const struct event_perf *table = event_perf_table(&n);
	for (size_t i = 0; i < n; i++) {
		const struct config_event e = event_of(&table[i]);
		unsigned *to = e.perf_type == PERF_TYPE_SOFTWARE ? &n_kernel : &n_processor;
		*to += event_available(&e, &r);
	}
	for (const char *at = a->papi; take_line(&at, &l);)
		n_papi += l.field[1][0] && !is_taken(l.field[0]);
	int used = snprintf(text, sizeof text, "%u of the kernel, %u of the processor", n_kernel,
			    n_processor);
	if (n_papi)
		snprintf(text + used, sizeof text - (size_t)used, ", %u more of PAPI", n_papi);
	if (n_kernel + n_processor + n_papi)
		here("events", text);
}

static void list_here(const struct answers *a)
{
	char text[256];
	struct line l;
	printf("Measured here:\n");
	here_cputime();
	here("waiting", "OFFCPU, by timers; calls of MPI; ranges of NVTX");
	here_events(a);
	for (size_t i = 0; i < GPU_CLIENT_MOST; i++)
		for (const char *at = a->gpu[i].text; take_line(&at, &l);)
			if (*l.text == '+')
				here(a->gpu[i].name, l.field[0] + 1);
	if (node_local_describe(".", text, sizeof text) && text[0])
		here("files", text);
}

/* ---- what is not ---- */

static void missing(bool *is_first, const char *lost, const char *why, const char *cure)
{
	if (*is_first)
		printf("\nMissing here:\n");
	*is_first = false;
	int n = printf("  %s: ", lost);
	options_print_wrapped(why, (size_t)n, CURE_COLUMN);
	if (*cure)
		printf("%*s%s\n", CURE_COLUMN, "", cure);
}

static void list_missing(const struct answers *a)
{
	bool is_first = true;
	struct perf_refusal r;
	struct line l;
	char text[256], lost[64];
	if (!event_permitted(true, &r)) {
		struct perf_refusal user;
		snprintf(lost, sizeof lost, "perf events, CPUTIME above %.0f/s",
			 1e9 / (double)event_tick_ns());
		missing(&is_first,
			event_permitted(false, &user) ? "kernel samples, CONTEXT-SWITCHES" : lost,
			r.why, r.cure);
	}
	if (!event_has_counters(&r))
		missing(&is_first, "perf::CYCLES, PAPI_TOT_CYC ...", r.why, r.cure);
	for (size_t i = 0; i < GPU_CLIENT_MOST; i++)
		for (const char *at = a->gpu[i].text; take_line(&at, &l);)
			if (*l.text == '!')
				missing(&is_first, l.field[0] + 1, l.field[1], l.field[2]);
	if (!node_local_describe(".", text, sizeof text)) {
		snprintf(lost, sizeof lost, "this directory is on %.24s", text);
		missing(&is_first, lost, "programs may wait for the server",
			"name a directory on a disk of this node: --local DIR");
	}
}

/* ---- the events ---- */

/* `how` is the default: "@1000". */
static void row(const char *name, const char *how, const char *meaning)
{
	int n = printf("  %s%s", name, how);
	if (strstr(name, meaning)) { /* many of PAPI's */
		putchar('\n');
		return;
	}
	if (n > MEANING_COLUMN - 2) {
		putchar('\n');
		n = 0;
	}
	printf("%*s", MEANING_COLUMN - n, "");
	options_print_wrapped(meaning, MEANING_COLUMN, MEANING_COLUMN);
}

static void list_times(void)
{
	row("CPUTIME", "@f1000", "CPU time of each thread");
	row("REALTIME", "@f1000", "elapsed time of each thread, waits too");
	row("OFFCPU", "@f200", "where each thread waited, and for what; who held the locks");
	row("MPI", "", "every call of MPI, not sampled: times, bytes, who comes late");
	row("MEMORY", "@524288", "memory: bytes allocated, live at the peak, never freed");
	row("NVTX", "", "ranges and marks of NVTX, not sampled: times, values");
}

static void list_perf(void)
{
	size_t n;
	const struct event_perf *table = event_perf_table(&n);
	for (size_t i = 0; i < n; i++) {
		const struct config_event e = event_of(&table[i]);
		struct perf_refusal r;
		char how[32];
		snprintf(how, sizeof how, "@%llu", (unsigned long long)e.period);
		if (event_available(&e, &r))
			row(e.name, how, table[i].about);
	}
}

static void list_papi(const char *text)
{
	struct line l;
	char how[32];
	int column = 0;
	snprintf(how, sizeof how, "@%d", PAPI_PERIOD);
	putchar('\n');
	while (take_line(&text, &l))
		if (*l.text == '-')
			options_print_wrapped(l.field[0] + 1, (size_t)column, 2);
		else if (!l.field[1][0])
			column = printf("%s:%s", l.field[0], text && *text == '-' ? " " : "\n");
		else if (!is_taken(l.field[0]))
			row(l.field[0], how, l.field[1]);
}

/* Options are separated by commas. */
static void list_options(const char *options)
{
	printf("%*soptions:", HERE_COLUMN, "");
	size_t column = HERE_COLUMN + strlen("options:");
	while (*options) {
		size_t n = strcspn(options, ",");
		n += options[n] == ',';
		if (column + 1 + n > 80)
			column = (size_t)printf("\n%*s", HERE_COLUMN, "") - 1;
		else
			column += (size_t)printf(" ");
		column += (size_t)printf("%.*s", (int)n, options);
		options += n;
	}
	putchar('\n');
}

static void list_gpu(const struct gpu_client_answer *g)
{
	const char *at = g->text;
	struct line l;
	printf("  gpu=%-6s ", g->name);
	if (g->text && g->text[0] == '-' && take_line(&at, &l)) {
		options_print_wrapped(l.field[0] + 1, HERE_COLUMN, HERE_COLUMN);
		return;
	}
	options_print_wrapped(g->about, HERE_COLUMN, HERE_COLUMN);
	if (g->options[0])
		list_options(g->options);
	while (take_line(&at, &l)) {
		if (*l.text == '+' || *l.text == '!')
			continue;
		printf("%*s", HERE_COLUMN, "");
		options_print_wrapped(l.field[0], HERE_COLUMN, HERE_COLUMN);
	}
}

void list_events(const char *library_directory)
{
	struct answers a = {.papi = papi_client_ask(library_directory)};
	gpu_client_ask(library_directory, a.gpu);
	list_here(&a);
	list_missing(&a);
	printf("\nEvents: -e NAME@PERIOD. @fN: N samples a second; @N: a sample every N "
	       "events,\nmicroseconds (CPUTIME, REALTIME, OFFCPU) or nanoseconds (clocks of "
	       "perf::).\n");
	list_times();
	list_perf();
	list_papi(a.papi);
	printf("\nGPUs: -e gpu=NAME[,OPTION...]\n");
	for (size_t i = 0; i < GPU_CLIENT_MOST; i++) {
		list_gpu(&a.gpu[i]);
		free(a.gpu[i].text);
	}
	free(a.papi);
}
