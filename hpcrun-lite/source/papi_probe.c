/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers the launcher; see papi_probe.h. Runs only in a child process of the launcher. Test:
 * tests/cli/launch/launch_papi.sh.
 */
#include "hpcrun-lite/source/papi_probe.h"

#include "common/format/measurement.h"
#include "hpcrun-lite/source/papi_set.h"

#include <stdio.h>
#include <string.h>

static void ignore_overflow(int set, void *address, long long vector, void *context)
{
	(void)set;
	(void)address;
	(void)vector;
	(void)context;
}

static uint32_t unit_of(const struct papi_set_event *e)
{
	PAPI_event_info_t info;
	/* perf::TASK-CLOCK and perf::CPU-CLOCK count nanoseconds; PAPI does not say so */
	if (strstr(e->name, "TASK-CLOCK") || strstr(e->name, "CPU-CLOCK") ||
	    strstr(e->name, "TASK_CLOCK") || strstr(e->name, "CPU_CLOCK"))
		return MSR_UNIT_NS;
	if (PAPI_get_event_info(e->code, &info) != PAPI_OK)
		return MSR_UNIT_COUNT;
	return !strcmp(info.units, "ns")      ? MSR_UNIT_NS
	       : !strcmp(info.units, "bytes") ? MSR_UNIT_BYTES
					      : MSR_UNIT_COUNT;
}

static bool check(struct papi_probe_event *events, unsigned n_events, char *why, size_t why_bytes)
{
	struct papi_set_event wanted[MSR_MAX_METRICS] = {0};
	int set;
	if (n_events > MSR_MAX_METRICS)
		return false;
	for (unsigned i = 0; i < n_events; i++)
		wanted[i] =
			(struct papi_set_event){.name = events[i].name, .period = events[i].period};
	if (!papi_set_start_library(why, why_bytes) ||
	    !papi_set_find(wanted, n_events, why, why_bytes) ||
	    !papi_set_start(wanted, n_events, ignore_overflow, &set, why, why_bytes))
		return false;
	papi_set_stop(set, n_events, wanted);
	for (unsigned i = 0; i < n_events; i++)
		events[i].unit = unit_of(&wanted[i]);
	return true;
}

/* Many events have a name on every machine, but a counter only on a few. */
static bool can_be_sampled(const char *name, int code)
{
	const struct papi_set_event event = {.name = name, .period = 1000000, .code = code};
	char cause[256];
	int set;
	if (!papi_set_start(&event, 1, ignore_overflow, &set, cause, sizeof cause))
		return false;
	papi_set_stop(set, 1, &event);
	return true;
}

static void list_one(int fd, int code)
{
	PAPI_event_info_t info;
	if (PAPI_get_event_info(code, &info) != PAPI_OK || (IS_PRESET(code) && info.count != 1) ||
	    !can_be_sampled(info.symbol, code))
		return;
	for (char *c = info.long_descr; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	dprintf(fd, "%s\t%.100s\n", info.symbol, info.long_descr);
}

static void list(int fd)
{
	char cause[256];
	int version = PAPI_VER_CURRENT;
	dprintf(fd, "PAPI %d.%d\n", PAPI_VERSION_MAJOR(version), PAPI_VERSION_MINOR(version));
	if (!papi_set_start_library(cause, sizeof cause)) {
		dprintf(fd, "-%s\n", cause);
		return;
	}
	int code = (int)PAPI_PRESET_MASK;
	for (int error = PAPI_enum_event(&code, PAPI_ENUM_FIRST); error == PAPI_OK;
	     error = PAPI_enum_event(&code, PAPI_PRESET_ENUM_AVAIL))
		if (PAPI_query_event(code) == PAPI_OK)
			list_one(fd, code);
	code = (int)PAPI_NATIVE_MASK;
	for (int error = PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, papi_set_component());
	     error == PAPI_OK;
	     error = PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, papi_set_component()))
		list_one(fd, code);
}

__attribute__((visibility("default")))
const struct papi_probe hpcrun_lite_papi_probe = {.check = check, .list = list};
