/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks whether the kernel can deliver an event on this machine; if not, explains why and what
 * would help. See event.h. Opens events for the launcher's own process only. Test:
 * tests/cli/launch/launch_events.sh.
 */
#include "hpcrun-lite/launch/event.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define NO_COUNTER                                                                               \
	"this machine has none (a virtual machine without a virtual PMU?); run on the host, or " \
	"pass the PMU through"

uint64_t event_tick_ns(void)
{
	struct timespec tick;
	/* The coarse clocks advance with the tick. */
	if (clock_getres(CLOCK_REALTIME_COARSE, &tick) != 0)
		return 10000000;
	return (uint64_t)tick.tv_sec * 1000000000u + (uint64_t)tick.tv_nsec;
}

/* The value in /proc/sys/kernel/perf_event_paranoid; -100 if the kernel has no perf events. */
static int paranoid(void)
{
	int value = -100;
	FILE *f = fopen(PARANOID, "re");
	if (f && fscanf(f, "%d", &value) != 1)
		value = -100;
	if (f)
		fclose(f);
	return value;
}

/* pid 0: this process. */
static int open_event(uint32_t type, uint64_t config, uint64_t period, bool exclude_kernel, int pid)
{
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = type,
		.config = config,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_READ,
		.disabled = 1,
		.exclude_kernel = exclude_kernel,
		.exclude_hv = exclude_kernel,
		.wakeup_events = 1,
	};
	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * Returns 0 or errno. Tries the task clock on a process that cannot exist: the kernel still checks
 * permissions and attributes, and we save the 12 to 15 ms that the first event of a system costs.
 */
static int try_event(uint32_t type, uint64_t config, uint64_t period, bool in_kernel)
{
	int pid = type == PERF_TYPE_SOFTWARE && config == PERF_COUNT_SW_TASK_CLOCK ? INT_MAX : 0;
	int fd = open_event(type, config, period, false, pid);
	if (fd < 0 && (errno == EACCES || errno == EPERM) && !in_kernel)
		fd = open_event(type, config, period, true, pid);
	if (fd < 0)
		return errno == ESRCH ? 0 : errno;
	close(fd);
	return 0;
}

static void describe_paranoia(int level_needed, char *text, size_t bytes)
{
	int value = paranoid();
	if (value == -100)
		snprintf(text, bytes,
			 "this kernel, or this container, has no perf events (" PARANOID
			 " does not exist)");
	else if (value > level_needed)
		snprintf(text, bytes,
			 PARANOID " is %d, and %d or less is needed; as root: sysctl -w "
				  "kernel.perf_event_paranoid=%d, "
				  "or give the program CAP_PERFMON",
			 value, level_needed, level_needed);
	else
		snprintf(text, bytes,
			 "perf_event_open is refused although " PARANOID
			 " is %d: a container or a security module forbids it; "
			 "allow the system call perf_event_open (docker: --cap-add PERFMON or "
			 "another seccomp profile)",
			 value);
}

void event_paranoia(char *text, size_t bytes)
{
	int error = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1000000, false);
	text[0] = 0;
	if (error == ENOSYS)
		snprintf(text, bytes, "this kernel has no perf events");
	else if (error)
		describe_paranoia(2, text, bytes);
}

static bool has_hardware_counters(void)
{
	static const char *const units[] = {"cpu", "cpu_core", "cpu_atom"};
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		char path[96];
		snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s", units[i]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}


void event_advice(const char *name, char *text, size_t bytes)
{
	const char *like = event_like(name);
	snprintf(text, bytes, "%s%s%s", like ? "; did you mean " : "", like ? like : "",
		 has_hardware_counters() ? "" : "; if it needs a hardware counter: " NO_COUNTER);
}

static void explain(const struct event_perf *perf, int error, char *why, size_t bytes)
{
	bool hardware = perf->type != PERF_TYPE_SOFTWARE;
	switch (error) {
	case EACCES:
	case EPERM:
		describe_paranoia(perf->in_kernel ? 1 : 2, why, bytes);
		break;
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EINVAL:
		if (hardware && !has_hardware_counters())
			snprintf(why, bytes, "no hardware counter: " NO_COUNTER);
		else if (hardware)
			snprintf(why, bytes,
				 "no hardware counter of this processor counts it and can "
				 "interrupt");
		else
			snprintf(why, bytes, "this kernel does not have this event");
		break;
	case ENOSYS:
		snprintf(why, bytes, "this kernel has no perf events");
		break;
	case EMFILE:
	case ENFILE:
		snprintf(why, bytes, "no file descriptor is left (ulimit -n)");
		break;
	default:
		snprintf(why, bytes, "perf_event_open: %s", strerror(error));
	}
}

static void explain_cputime(const struct config_event *event, char *why, size_t bytes)
{
	char paranoia[512];
	uint64_t tick = event_tick_ns(), period = event->period > tick ? event->period : tick;
	event_paranoia(paranoia, sizeof paranoia);
	if (!paranoia[0])
		return;
	if (event->period < tick)
		snprintf(why, bytes,
			 "CPU timers deliver at most %.0f samples per second here, because %s",
			 1e9 / (double)period, paranoia);
	else
		snprintf(why, bytes, "CPU timers with a grain of %.1f ms are used, because %s",
			 (double)tick / 1e6, paranoia);
}

/* CPUTIME,perf: there is no timer to fall back to. */
static bool explain_cputime_perf(char *why, size_t bytes)
{
	char paranoia[512];
	event_paranoia(paranoia, sizeof paranoia);
	if (paranoia[0])
		snprintf(why, bytes, "%s; or leave out ',perf', and a timer samples", paranoia);
	return !paranoia[0];
}

bool event_available(const struct config_event *event, char *why, size_t why_bytes)
{
	why[0] = 0;
	if (event->kind == CONFIG_CPUTIME && event->cpu_source == SOURCE_CPU_PERF)
		return explain_cputime_perf(why, why_bytes);
	if (event->kind == CONFIG_CPUTIME && event->cpu_source == SOURCE_CPU_AUTO)
		explain_cputime(event, why, why_bytes);
	const struct event_perf *perf = event_perf_of(event);
	if (!perf)
		return true;
	int error = try_event(perf->type, perf->config, event->period, perf->in_kernel);
	if (error)
		explain(perf, error, why, why_bytes);
	return error == 0;
}
