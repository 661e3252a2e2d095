/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the events of this machine; see list.h. Test: tests/cli/launch/launch_events.sh. */
#include "hpcrun-lite/launch/list.h"

#include "hpcrun-lite/launch/event.h"
#include "hpcrun-lite/launch/gpu_client.h"
#include "hpcrun-lite/launch/papi_client.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WHY_BYTES 512

static const char *unit_name(uint32_t unit)
{
	return unit == MSR_UNIT_NS ? "ns" : unit == MSR_UNIT_BYTES ? "bytes" : "count";
}

static void row(const char *name, uint32_t unit, const char *how, const char *about)
{
	printf("  %-30s %-5s  %-9s  %s\n", name, unit_name(unit), how, about);
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

static void list_times(void)
{
	char why[WHY_BYTES], note[WHY_BYTES + 64];
	struct config_event cputime = {
		.name = "CPUTIME", .kind = CONFIG_CPUTIME, .unit = MSR_UNIT_NS, .period = 1000000};
	event_available(&cputime, why, sizeof why);
	snprintf(note, sizeof note, "CPU time of each thread%s%s", why[0] ? "; " : "", why);
	row("CPUTIME", MSR_UNIT_NS, "@f1000", note);
	row("REALTIME", MSR_UNIT_NS, "@f1000", "elapsed time of each thread, waiting included");
	row("OFFCPU", MSR_UNIT_NS, "@f200",
	    "time in which each thread waited, and for what; who held the locks");
	row("MPI", MSR_UNIT_NS, "", "every call of MPI, not sampled: times, bytes, who comes late");
	row("NVTX", MSR_UNIT_NS, "", "ranges and marks of NVTX, not sampled: times, values");
}

static void list_available(void)
{
	size_t n;
	const struct event_perf *table = event_perf_table(&n);
	for (size_t i = 0; i < n; i++) {
		struct config_event e = event_of(&table[i]);
		char why[WHY_BYTES], how[32];
		snprintf(how, sizeof how, "@%llu", (unsigned long long)e.period);
		if (event_available(&e, why, sizeof why))
			row(e.name, e.unit, how, table[i].about);
	}
}

/* Events with the same cause share a paragraph. */
static void list_missing(void)
{
	size_t n;
	const struct event_perf *table = event_perf_table(&n);
	char last[WHY_BYTES] = "";
	for (size_t i = 0; i < n; i++) {
		struct config_event e = event_of(&table[i]);
		char why[WHY_BYTES];
		if (event_available(&e, why, sizeof why))
			continue;
		if (!last[0])
			printf("\nNot here:\n");
		if (strcmp(why, last))
			printf("  %s:\n", why);
		printf("      %s\n", e.name);
		memcpy(last, why, sizeof last);
	}
}

void list_events(const char *library_directory)
{
	printf("Events that can be measured here: name, unit, default period, meaning\n"
	       "(@N: period in microseconds for CPUTIME, REALTIME and OFFCPU, else in the "
	       "unit; @fN: samples a second)\n\n");
	list_times();
	list_available();
	list_missing();
	papi_client_list(library_directory);
	gpu_client_list(library_directory);
}
