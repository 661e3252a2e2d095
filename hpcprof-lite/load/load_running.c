/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_running.h. */
#include "hpcprof-lite/load/load_running.h"

#include "common/base/now.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The kernel counts starts of processes in ticks; our clocks are read one after the other. */
#define LATE_NS UINT64_C(50000000)
/* From the start of hpcrun-lite to that of the measurement */
#define EARLY_NS UINT64_C(2000000000)

static bool is_of_this_host(const struct msr_header *h)
{
	char host[sizeof h->host] = "";
	gethostname(host, sizeof host - 1);
	return strncmp(host, h->host, sizeof host) == 0;
}

/* The start by CLOCK_BOOTTIME. False: there is no such process, or it has ended. */
static bool read_start(uint32_t pid, uint64_t *start_ns)
{
	char path[64], line[1024];
	char state = 'Z';
	unsigned long long ticks = 0;
	long n_threads = 0;
	const long a_second = sysconf(_SC_CLK_TCK);
	snprintf(path, sizeof path, "/proc/%" PRIu32 "/stat", pid);
	FILE *in = fopen(path, "re");
	const bool has_line = in && fgets(line, sizeof line, in);
	if (in)
		fclose(in);
	const char *at = has_line ? strrchr(line, ')') : NULL; /* the name may hold anything */
	if (!at || a_second <= 0 ||
	    sscanf(at + 1,
		   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d "
		   "%llu",
		   &state, &n_threads, &ticks) != 3)
		return false;
	*start_ns = ticks * (UINT64_C(1000000000) / (uint64_t)a_second);
	/* a main thread that has ended is a zombie while others run */
	return (state != 'Z' && state != 'X') || n_threads > 1;
}

/* False if its mappings are known and none is a measurement file. */
static bool may_measure(uint32_t pid)
{
	char path[64], *line = NULL;
	size_t room = 0;
	bool has = false;
	snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", pid);
	FILE *in = fopen(path, "re");
	while (in && !has && getline(&line, &room, in) > 0) {
		const char *slash = strrchr(line, '/');
		has = slash && strstr(slash, MSR_SUFFIX);
	}
	free(line);
	if (!in)
		return true;
	fclose(in);
	return has;
}

enum load_running load_is_running(const struct msr_header *h)
{
	uint64_t start_ns;
	if (h->end_mono_ns)
		return LOAD_ENDED;
	if (!is_of_this_host(h))
		return LOAD_UNKNOWN;
	/* while the host slept, only CLOCK_BOOTTIME went on */
	const uint64_t slept_ns = now_ns(CLOCK_BOOTTIME) - now_mono_ns();
	const bool is_there =
		read_start(h->pid, &start_ns) && start_ns <= h->start_mono_ns + slept_ns + LATE_NS;
	const bool is_old = is_there && start_ns + EARLY_NS < h->process_start_ns + slept_ns;
	return is_there && (!is_old || may_measure(h->pid)) ? LOAD_RUNS : LOAD_ENDED;
}
