/* SPDX-License-Identifier: BSD-3-Clause */
/* See process_record.h. Must not allocate: a forked child may be in a handler. */
#include <config.h> /* made by configure; not a file of this room */

#include "hpcrun-lite/runtime/life/process_record.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/records.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <time.h>

/* ---- sources and events ---- */

static bool is_timer(const struct source_ops *ops, const struct source_event *e)
{
	return ops == &source_cputime && e->cpu_source == SOURCE_CPU_TIMER;
}

static void put_source(struct text *t, const struct source_ops *ops, const struct source_event *e)
{
	static const char *const cpu_name[SOURCE_N_CPU] = {
		[SOURCE_CPU_AUTO] =
			("perf_event_open; a timer on the CPU clock while a thread switches or "
			 "launches GPU work often"),
		[SOURCE_CPU_PERF] = "perf_event_open",
		[SOURCE_CPU_TIMER] = "timer on the thread's CPU clock",
	};
	text_put(t, ops == &source_cputime ? cpu_name[e->cpu_source] : ops->name);
	text_put(t, ", ");
}

static void put_rate(struct text *t, const struct source_event *e, const struct source_ops *ops)
{
	uint64_t period = e->period;
	if (period == 0) {
		text_put(t, "when others wait for a lock");
		return;
	}
	if (e->unit != MSR_UNIT_NS) {
		text_put(t, "every ");
		text_put_u64(t, period);
		return;
	}
	struct timespec tick; /* the coarse clocks advance with the kernel's tick */
	sys_call3(SYS_clock_getres, CLOCK_REALTIME_COARSE, (long)&tick, 0);
	uint64_t tick_hz =
		is_timer(ops, e) && tick.tv_nsec ? 1000000000u / (uint64_t)tick.tv_nsec : 0;
	text_put_fixed(t, 10000000000u / period, 1);
	text_put(t, " samples/s asked for");
	if (tick_hz && 1000000000u / period > tick_hz)
		text_put(t, ", limited by the kernel's tick (CONFIG_HZ)");
}

static void write_metric(const struct process_source *s, const struct source_event *e)
{
	struct msr_metric m = {.id = e->metric, .unit = e->unit, .period = e->period,
	                       .source = is_timer(s->ops, e) ? MSR_SOURCE_TIMER_CPU : s->ops->id};
	struct text name = text_in(m.name, sizeof m.name),
		    description = text_in(m.description, sizeof m.description);
	text_put(&name, e->name);
	put_source(&description, s->ops, e);
	put_rate(&description, e, s->ops);
	records_metric(&m);
}

/* Reads the command line once, because forked children inherit it. */
static void write_command(void)
{
	static char buffer[8192];
	static size_t n;
	int fd = n ? -1 : sys_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
	for (long got; fd >= 0 && n < sizeof buffer &&
		       (got = sys_read(fd, buffer + n, sizeof buffer - n)) > 0;)
		n += (size_t)got;
	if (fd >= 0)
		sys_close(fd);
	/* records_info adds the NUL at the end */
	records_info("command", buffer, n && buffer[n - 1] == '\0' ? n - 1 : n);
}

static void write_source(const struct process_source *s, const struct source_event *e)
{
	char line[256];
	struct text t = text_in(line, sizeof line);
	text_put(&t, e->name);
	text_put(&t, ": ");
	put_source(&t, s->ops, e);
	put_rate(&t, e, s->ops);
	records_info_text("source", line);
}

static void write_event(const struct config_event *e)
{
	char line[128];
	struct text t = text_in(line, sizeof line);
	text_put(&t, e->name);
	text_put_char(&t, '@');
	text_put_u64(&t, e->period);
	if (e->kind == CONFIG_CPUTIME && e->cpu_source != SOURCE_CPU_AUTO)
		text_put(&t, e->cpu_source == SOURCE_CPU_PERF ? ",perf" : ",timer");
	records_info_text("event", line);
}

static void write_gpu(const struct config_gpu *g)
{
	char line[160];
	struct text t = text_in(line, sizeof line);
	text_put(&t, "gpu=");
	text_put(&t, g->name);
	if (g->options[0]) {
		text_put_char(&t, ',');
		text_put(&t, g->options);
	}
	records_info_text("event", line);
}

/* ---- the process ---- */

/*
 * Directory and processors when measurement began. A forked child checks whether they have changed.
 */
static struct {
	char directory[PATH_MAX]; /* "": unknown */
	long n_mask;              /* bytes of `mask`; not positive: unknown */
	uint64_t mask[4096 / 64];
	bool is_as_in_file;       /* the file that the process uses has the same values */
} place;

static bool is_same_directory(void)
{
	char now[512];
	const long n = sys_call3(SYS_getcwd, (long)now, sizeof now, 0);
	return n > 0 && strcmp(now, place.directory) == 0;
}

static bool has_same_processors(void)
{
	uint64_t now[sizeof place.mask / sizeof *place.mask];
	const long n = sys_call3(SYS_sched_getaffinity, 0, sizeof now, (long)now);
	return n == place.n_mask && (n <= 0 || memcmp(now, place.mask, (size_t)n) == 0);
}

bool process_record_find_place(void)
{
	if (is_same_directory() && has_same_processors())
		return place.is_as_in_file;
	place.is_as_in_file = false;
	if (sys_call3(SYS_getcwd, (long)place.directory, sizeof place.directory, 0) <= 0)
		place.directory[0] = '\0';
	place.n_mask =
		sys_call3(SYS_sched_getaffinity, 0, sizeof place.mask, (long)place.mask);
	return false;
}

void process_record_has_file(void)
{
	if (!place.is_as_in_file)
		place.is_as_in_file = true;
}

/*
 * Writes the processors that the process may use, as "0-3,8-8". Writes nothing if they do not fit.
 */
static void write_processors(void)
{
	static char line[4096]; /* not on the stack: this may run in a handler */
	struct text t = text_in(line, sizeof line);
	const uint64_t *mask = place.mask;
	const long n = place.n_mask;
	const char *separator = "";
	for (unsigned i = 0; n > 0 && i < (unsigned)n * 8; i++) {
		unsigned first = i;
		while (i < (unsigned)n * 8 && mask[i / 64] >> i % 64 & 1)
			i++;
		if (i == first)
			continue;
		text_put(&t, separator);
		text_put_u64(&t, first);
		text_put_char(&t, '-');
		text_put_u64(&t, i - 1);
		separator = ",";
	}
	if (!t.cut)
		records_info_text("processors", line);
}

void process_record_write(void)
{
	for (unsigned i = 0; i < process.n_sources; i++)
		for (unsigned j = 0; j < process.source[i].n_events; j++)
			write_metric(&process.source[i], &process.source[i].event[j]);
	write_command();
	records_info_text("executable", module_program());
	if (place.directory[0])
		records_info_text("cwd", place.directory);
	write_processors();
	if (process.config.job[0])
		records_info_text("job", process.config.job);
	for (uint32_t i = 0; i < process.config.n_events; i++)
		write_event(&process.config.event[i]);
	if (process.config.mpi)
		records_info_text("event", "MPI");
	if (process.config.nvtx)
		records_info_text("event", "NVTX");
	for (uint32_t i = 0; i < process.config.n_gpus; i++)
		write_gpu(&process.config.gpu[i]);
	for (unsigned i = 0; i < process.n_sources; i++)
		for (unsigned j = 0; j < process.source[i].n_events; j++)
			if (process.source[i].event[j].period)
				write_source(&process.source[i], &process.source[i].event[j]);
	records_info_text("version", PACKAGE_STRING);
}
