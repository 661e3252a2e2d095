/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses events; the table of the kernel's events. See event.h. Test:
 * tests/unit/run/test_launch.c.
 */
#include "hpcrun-lite/launch/event.h"

#include "common/base/log.h"
#include "common/base/options.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PERIOD_US_MAX 100000000LL /* 100 s */
#define RATE_MAX 100000LL
#define COUNT_MAX 1000000000000LL
#define COUNTER_PERIOD 1000000
#define MEMORY_PERIOD (512u << 10) /* as tcmalloc and jemalloc */

#define HARDWARE(id) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id
#define SOFTWARE(id) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id
#define CACHE(cache, op, result)                                                             \
	PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
				    PERF_COUNT_HW_CACHE_RESULT_##result << 16

/* The names are from libpfm4's table "perf", which PAPI and HPCToolkit use. */
static const struct event_perf table[] = {
	{"TASK-CLOCK", NULL, SOFTWARE(TASK_CLOCK), MSR_UNIT_NS, 1000000, false,
	 "CPU time of the thread"},
	{"CPU-CLOCK", NULL, SOFTWARE(CPU_CLOCK), MSR_UNIT_NS, 1000000, false,
	 "time the thread is on a CPU"},
	{"PAGE-FAULTS", "FAULTS", SOFTWARE(PAGE_FAULTS), MSR_UNIT_COUNT, 100, false, "page faults"},
	{"MINOR-FAULTS", NULL, SOFTWARE(PAGE_FAULTS_MIN), MSR_UNIT_COUNT, 100, false,
	 "page faults served from memory"},
	{"MAJOR-FAULTS", NULL, SOFTWARE(PAGE_FAULTS_MAJ), MSR_UNIT_COUNT, 1, false,
	 "page faults that waited for a disk"},
	{"CONTEXT-SWITCHES", "CS", SOFTWARE(CONTEXT_SWITCHES), MSR_UNIT_COUNT, 10, true,
	 "switches to another thread"},
	{"CPU-MIGRATIONS", "MIGRATIONS", SOFTWARE(CPU_MIGRATIONS), MSR_UNIT_COUNT, 1, true,
	 "moves to another CPU"},
	{"ALIGNMENT-FAULTS", NULL, SOFTWARE(ALIGNMENT_FAULTS), MSR_UNIT_COUNT, 1, false,
	 "unaligned accesses mended by the kernel"},
	{"EMULATION-FAULTS", NULL, SOFTWARE(EMULATION_FAULTS), MSR_UNIT_COUNT, 1, false,
	 "instructions emulated by the kernel"},
	{"CYCLES", "CPU-CYCLES", HARDWARE(CPU_CYCLES), MSR_UNIT_COUNT, 2000000, false,
	 "processor cycles"},
	{"REF-CYCLES", NULL, HARDWARE(REF_CPU_CYCLES), MSR_UNIT_COUNT, 2000000, false,
	 "cycles at the nominal frequency"},
	{"INSTRUCTIONS", NULL, HARDWARE(INSTRUCTIONS), MSR_UNIT_COUNT, 2000000, false,
	 "instructions retired"},
	{"BRANCHES", "BRANCH-INSTRUCTIONS", HARDWARE(BRANCH_INSTRUCTIONS), MSR_UNIT_COUNT, 1000000,
	 false, "branches retired"},
	{"BRANCH-MISSES", NULL, HARDWARE(BRANCH_MISSES), MSR_UNIT_COUNT, 20000, false,
	 "branches predicted wrongly"},
	{"CACHE-REFERENCES", NULL, HARDWARE(CACHE_REFERENCES), MSR_UNIT_COUNT, 50000, false,
	 "accesses to the last cache"},
	{"CACHE-MISSES", NULL, HARDWARE(CACHE_MISSES), MSR_UNIT_COUNT, 20000, false,
	 "misses of the last cache"},
	{"BUS-CYCLES", NULL, HARDWARE(BUS_CYCLES), MSR_UNIT_COUNT, 100000, false, "bus cycles"},
	{"STALLED-CYCLES-FRONTEND", "IDLE-CYCLES-FRONTEND", HARDWARE(STALLED_CYCLES_FRONTEND),
	 MSR_UNIT_COUNT, 1000000, false, "cycles without instructions to issue"},
	{"STALLED-CYCLES-BACKEND", "IDLE-CYCLES-BACKEND", HARDWARE(STALLED_CYCLES_BACKEND),
	 MSR_UNIT_COUNT, 1000000, false, "cycles in which issued instructions waited"},
	{"L1-DCACHE-LOADS", NULL, CACHE(L1D, READ, ACCESS), MSR_UNIT_COUNT, 1000000, false,
	 "loads from the first-level cache"},
	{"L1-DCACHE-LOAD-MISSES", NULL, CACHE(L1D, READ, MISS), MSR_UNIT_COUNT, 50000, false,
	 "loads that missed the first-level cache"},
	{"LLC-LOADS", NULL, CACHE(LL, READ, ACCESS), MSR_UNIT_COUNT, 50000, false,
	 "loads from the last cache"},
	{"LLC-LOAD-MISSES", NULL, CACHE(LL, READ, MISS), MSR_UNIT_COUNT, 20000, false,
	 "loads that missed the last cache"},
	{"DTLB-LOAD-MISSES", NULL, CACHE(DTLB, READ, MISS), MSR_UNIT_COUNT, 20000, false,
	 "loads whose page was not in the TLB"},
	{"ITLB-LOAD-MISSES", NULL, CACHE(ITLB, READ, MISS), MSR_UNIT_COUNT, 20000, false,
	 "instruction fetches whose page was not in the TLB"},
	{"NODE-LOADS", NULL, CACHE(NODE, READ, ACCESS), MSR_UNIT_COUNT, 20000, false,
	 "loads from memory"},
	{"NODE-LOAD-MISSES", NULL, CACHE(NODE, READ, MISS), MSR_UNIT_COUNT, 20000, false,
	 "loads from the memory of another node"},
};

const struct event_perf *event_perf_table(size_t *n)
{
	*n = sizeof table / sizeof table[0];
	return table;
}

static const struct event_perf *find_perf(const char *name)
{
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (!strcasecmp(table[i].name, name) ||
		    (table[i].other_name && !strcasecmp(table[i].other_name, name)))
			return &table[i];
	return NULL;
}

/*
 * The number of letters to change, add, remove or swap with their neighbour (optimal string
 * alignment), ignoring case. Returns most + 1 if it is more than `most`.
 */
static unsigned distance(const char *a, const char *b, unsigned most)
{
	enum { ROOM = 64 };
	unsigned rows[3][ROOM + 1];
	size_t n = strlen(a), m = strlen(b);
	if (n > ROOM || m > ROOM)
		return most + 1;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *above = rows[(i - 1) % 3], *above2 = rows[(i + 1) % 3];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			bool same = tolower((unsigned char)a[i - 1])
				== tolower((unsigned char)b[j - 1]);
			unsigned least = above[j - 1] + !same;
			least = above[j] + 1 < least ? above[j] + 1 : least;
			least = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
			if (i > 1 && j > 1
				&& tolower((unsigned char)a[i - 1])
					== tolower((unsigned char)b[j - 2])
				&& tolower((unsigned char)a[i - 2])
					== tolower((unsigned char)b[j - 1])
				&& above2[j - 2] + 1 < least)
				least = above2[j - 2] + 1;
			row[j] = least;
		}
	}
	return rows[n % 3][m] > most ? most + 1 : rows[n % 3][m];
}

/* Proposes `shown` if `name` is nearer than all previous names. */
static void try_name(const char *given, const char *name, const char *shown, const char **like,
	unsigned *nearest)
{
	unsigned d = distance(given, name, *nearest);
	if (d >= *nearest)
		return;
	*nearest = d;
	*like = shown;
}

const char *event_like(const char *name)
{
	static char full[80];
	const char *bare = strncasecmp(name, "perf::", 6) ? name : name + 6, *like = NULL;
	/* one more than the largest distance that counts as similar */
	unsigned nearest = (unsigned)strlen(bare) / 4 + 1;
	nearest = nearest > 3 ? 3 : nearest;
	try_name(bare, "CPUTIME", "CPUTIME", &like, &nearest);
	try_name(bare, "REALTIME", "REALTIME", &like, &nearest);
	try_name(bare, "OFFCPU", "OFFCPU", &like, &nearest);
	try_name(bare, "MEMORY", "MEMORY", &like, &nearest);
	bool is_ours = like;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		unsigned before = nearest;
		try_name(bare, table[i].name, table[i].name, &like, &nearest);
		if (table[i].other_name)
			try_name(bare, table[i].other_name, table[i].name, &like, &nearest);
		is_ours = is_ours && nearest == before;
	}
	snprintf(full, sizeof full, "%s%s", is_ours ? "" : "perf::", like ? like : "");
	return like ? full : NULL;
}

const struct event_perf *event_perf_of(const struct config_event *event)
{
	return event->kind == CONFIG_PERF ? find_perf(event->name + strlen("perf::")) : NULL;
}

/* "" and NULL mean 1000 samples a second. */
static enum status parse_time(const char *text, const char *how, struct config_event *event)
{
	long long n;
	event->unit = MSR_UNIT_NS;
	event->as_rate = !how || *how == 'f';
	if (!how)
		how = "f1000";
	if (*how == 'f') {
		if (!options_number(how + 1, 1, RATE_MAX, &n))
			return options_refuse(
				"event '%s': after @f comes a rate of 1 to %lld samples a second",
				text, RATE_MAX);
		event->period = (uint64_t)((1000000000LL + n / 2) / n);
		return STATUS_OK;
	}
	if (!options_number(how, 1000000 / RATE_MAX, PERIOD_US_MAX, &n))
		return options_refuse("event '%s': after @ comes a period of %lld to %lld "
				      "microseconds, or f and a rate in Hz",
				      text, 1000000 / RATE_MAX, PERIOD_US_MAX);
	event->period = (uint64_t)n * 1000;
	return STATUS_OK;
}

static enum status parse_count(const char *text, const char *how, struct config_event *event)
{
	long long n;
	if (!how)
		return STATUS_OK;
	const char *like =
		*how == 'f' && event->kind == CONFIG_PAPI ? event_like(event->name) : NULL;
	if (like && strncmp(like, "perf::", 6) != 0)
		return options_refuse(
			"event '%s': a rate (@f) is for CPUTIME, REALTIME and OFFCPU; did you "
			"mean %s?",
			text, like);
	if (*how == 'f')
		return options_refuse("event '%s': a rate (@f) is for CPUTIME, REALTIME and "
				      "OFFCPU; give a number of events, as in @1000000",
				      text);
	if (!options_number(how, 1, COUNT_MAX, &n))
		return options_refuse("event '%s': after @ comes a period of 1 to %lld %s", text,
				      COUNT_MAX,
				      event->kind == CONFIG_MEMORY ? "bytes" : "events");
	event->period = (uint64_t)n;
	return STATUS_OK;
}

/* Parses ",perf" or ",timer" at the end of CPUTIME, which selects how CPU time is sampled. */
static enum status parse_cpu_source(const char *text, const char *comma, struct config_event *event)
{
	char without[128];
	uint32_t source = !strcmp(comma, ",perf") ? SOURCE_CPU_PERF : SOURCE_CPU_TIMER;
	if (source == SOURCE_CPU_TIMER && strcmp(comma, ",timer") != 0)
		return options_refuse("event '%s': after the comma comes perf or timer", text);
	int n = snprintf(without, sizeof without, "%.*s", (int)(comma - text), text);
	if (n < 0 || (size_t)n >= sizeof without)
		return options_refuse("event '%s' is too long", text);
	enum status status = event_parse(without, event);
	event->cpu_source = source;
	return status;
}

enum status event_parse(const char *text, struct config_event *event)
{
	const char *comma = strchr(text, ',');
	if (comma && !strncmp(text, "CPUTIME", 7) && (text[7] == '@' || text[7] == ','))
		return parse_cpu_source(text, comma, event);
	const char *at = strrchr(text, '@');
	size_t n = at ? (size_t)(at - text) : strlen(text);
	const char *how = at ? at + 1 : NULL;
	*event = (struct config_event){.unit = MSR_UNIT_COUNT, .period = COUNTER_PERIOD};
	if (n == 0)
		return options_refuse("event '%s' has no name", text);
	if (n >= sizeof event->name)
		return options_refuse("event '%s': the name is longer than %zu characters", text,
				      sizeof event->name - 1);
	memcpy(event->name, text, n);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] > '~')
			return options_refuse("event '%s': the name holds a blank or a character "
					      "that is not ASCII",
					      text);
	if (!strcmp(event->name, "OFFCPU")) {
		event->kind = CONFIG_OFFCPU;
		return parse_time(text, how ? how : "f200", event);
	}
	if (!strcmp(event->name, "CPUTIME") || !strcmp(event->name, "REALTIME")) {
		event->kind = *event->name == 'C' ? CONFIG_CPUTIME : CONFIG_REALTIME;
		return parse_time(text, how, event);
	}
	if (!strcmp(event->name, "MEMORY")) {
		event->kind = CONFIG_MEMORY;
		event->unit = MSR_UNIT_BYTES;
		event->period = MEMORY_PERIOD;
		return parse_count(text, how, event);
	}
	const struct event_perf *perf =
		strncasecmp(event->name, "perf::", 6) ? NULL : find_perf(event->name + 6);
	event->kind = perf ? CONFIG_PERF : CONFIG_PAPI;
	if (perf) {
		snprintf(event->name, sizeof event->name, "perf::%s", perf->name);
		event->perf_type = perf->type;
		event->perf_config = perf->config;
		event->unit = perf->unit;
		event->period = perf->default_period;
	}
	return parse_count(text, how, event);
}
