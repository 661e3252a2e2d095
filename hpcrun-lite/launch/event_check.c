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

/* Up to these values of kernel.perf_event_paranoid an ordinary user may use events. */
enum { KERNEL_LEVEL = 1, USER_LEVEL = 2 };

uint64_t event_tick_ns(void)
{
	struct timespec tick;
	/* The coarse clocks advance with the tick. */
	if (clock_getres(CLOCK_REALTIME_COARSE, &tick) != 0)
		return 10000000;
	return (uint64_t)tick.tv_sec * 1000000000u + (uint64_t)tick.tv_nsec;
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
static int try_event(const struct event_perf *e, uint64_t period)
{
	bool is_clock = e->type == PERF_TYPE_SOFTWARE && e->config == PERF_COUNT_SW_TASK_CLOCK;
	int pid = is_clock ? INT_MAX : 0;
	int fd = open_event(e->type, e->config, period, false, pid);
	if (fd < 0 && (errno == EACCES || errno == EPERM) && !e->in_kernel)
		fd = open_event(e->type, e->config, period, true, pid);
	if (fd < 0)
		return errno == ESRCH ? 0 : errno;
	close(fd);
	return 0;
}

static const struct perf_machine *machine(void)
{
	static struct perf_machine m;
	static bool is_read;
	if (!is_read)
		perf_machine_read(&m);
	is_read = true;
	return &m;
}

void event_advice(const char *name, char *text, size_t bytes)
{
	const char *like = event_like(name);
	struct perf_refusal r;
	event_has_counters(&r);
	snprintf(text, bytes, "%s%s%s%s", like ? "; did you mean " : "", like ? like : "",
		 r.why[0] ? "; if it needs a hardware counter: " : "", r.why);
}

/* Asks for the CPU time of a thread; in_kernel: also inside of the kernel. */
static struct event_perf clock_event(bool in_kernel)
{
	return (struct event_perf){.type = PERF_TYPE_SOFTWARE,
				   .config = PERF_COUNT_SW_TASK_CLOCK,
				   .default_period = 1000000,
				   .in_kernel = in_kernel};
}

/* The level of kernel.perf_event_paranoid that would do if nothing else forbade all events. */
static int level_for(const struct event_perf *perf)
{
	const struct event_perf user = clock_event(false);
	bool is_other = machine()->paranoid <= USER_LEVEL && try_event(&user, user.default_period);
	return perf->in_kernel && !is_other ? KERNEL_LEVEL : USER_LEVEL;
}

static void explain(const struct event_perf *perf, int error, struct perf_refusal *r)
{
	switch (error) {
	case EACCES:
	case EPERM:
	case ENOSYS: perf_refused(machine(), error, level_for(perf), r); break;
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EINVAL:
		if (perf->type != PERF_TYPE_SOFTWARE)
			perf_no_counter(machine(), r);
		else
			snprintf(r->why, sizeof r->why, "this kernel does not have this event");
		break;
	case EMFILE:
	case ENFILE:
		snprintf(r->why, sizeof r->why, "no file descriptor is left (ulimit -n)");
		break;
	default: snprintf(r->why, sizeof r->why, "perf_event_open: %s", strerror(error));
	}
}

bool event_permitted(bool in_kernel, struct perf_refusal *r)
{
	const struct event_perf clock = clock_event(in_kernel);
	int error = try_event(&clock, clock.default_period);
	*r = (struct perf_refusal){.why = ""};
	if (error)
		explain(&clock, error, r);
	return error == 0;
}

static void explain_cputime(const struct config_event *event, struct perf_refusal *r)
{
	char why[sizeof r->why];
	uint64_t tick = event_tick_ns(), period = event->period > tick ? event->period : tick;
	if (event_permitted(false, r))
		return;
	snprintf(why, sizeof why, "%s", r->why);
	if (event->period < tick)
		snprintf(r->why, sizeof r->why,
			 "CPU timers deliver at most %.0f samples per second here, because %.100s",
			 1e9 / (double)period, why);
	else
		snprintf(r->why, sizeof r->why,
			 "CPU timers with a grain of %.1f ms are used, because %.100s",
			 (double)tick / 1e6, why);
}

/* CPUTIME,perf: there is no timer to fall back to. */
static bool explain_cputime_perf(struct perf_refusal *r)
{
	if (event_permitted(false, r))
		return true;
	size_t n = strlen(r->cure);
	snprintf(r->cure + n, sizeof r->cure - n, "%sleave out ',perf', and a timer samples",
		 n ? "; or " : "");
	return false;
}

bool event_has_counters(struct perf_refusal *r)
{
	*r = (struct perf_refusal){.why = ""};
	if (!machine()->has_units)
		perf_no_counter(machine(), r);
	return machine()->has_units;
}

bool event_available(const struct config_event *event, struct perf_refusal *r)
{
	*r = (struct perf_refusal){.why = ""};
	if (event->kind == CONFIG_CPUTIME && event->cpu_source == SOURCE_CPU_PERF)
		return explain_cputime_perf(r);
	if (event->kind == CONFIG_CPUTIME && event->cpu_source == SOURCE_CPU_AUTO)
		explain_cputime(event, r);
	const struct event_perf *perf = event_perf_of(event);
	if (!perf)
		return true;
	int error = try_event(perf, event->period);
	if (error)
		explain(perf, error, r);
	return error == 0;
}
