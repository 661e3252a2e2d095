/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the source of each event, in order of preference, and writes records about it. Runs only
 * at the start of a process. Tests: tests/cli/run/run_rate.sh, tests/cli/run/run_processes.sh.
 */
#include <config.h> /* made by configure; not a file of this room */

#include "hpcrun-lite/runtime/life/sources.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/records.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/waits/blame.h"
#include "hpcrun-lite/source/perf_event.h"
#include "hpcrun-lite/store/store.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static void protect_signal(int sig)
{
	runtime_hooks.protect_signal(sig);
}

static long interrupted_call(const void *ucontext, bool *has_returned)
{
	return runtime_hooks.interrupted_call(ucontext, has_returned);
}

static const struct source_host host = {
	.sample = sample_from_source,
	.suspend = runtime_suspend,
	.resume = runtime_resume,
	.note = runtime_note,
	.protect_signal = protect_signal,
	.interrupted_call = interrupted_call,
	.blame = blame_add,
	.signal = RUNTIME_SIGNAL,
};

static struct process_source *slot_for(const struct source_ops *ops)
{
	for (unsigned i = 0; i < process.n_sources; i++)
		if (process.source[i].ops == ops)
			return &process.source[i];
	struct process_source *s = &process.source[process.n_sources++];
	s->ops = ops;
	s->n_events = 0;
	return s;
}

static bool is_task_clock(const struct config_event *e)
{
	return e->kind == CONFIG_CPUTIME ||
	       (e->kind == CONFIG_PERF && e->perf_type == PERF_TYPE_SOFTWARE &&
		e->perf_config == PERF_COUNT_SW_TASK_CLOCK);
}

/* `cpu_source` is the source of CPUTIME. perf::TASK-CLOCK always gets the kernel event. */
static void add_event(const struct source_ops *ops, uint32_t metric, enum source_cpu cpu_source)
{
	const struct config_event *e = &process.config.event[metric];
	struct process_source *s = slot_for(ops);
	bool is_clock = is_task_clock(e);
	s->event[s->n_events++] = (struct source_event){
		.name = e->name,
		.metric = metric,
		.unit = e->unit,
		.cpu_source = e->kind == CONFIG_CPUTIME ? cpu_source : SOURCE_CPU_PERF,
		.perf_type = is_clock ? PERF_TYPE_SOFTWARE : e->perf_type,
		.perf_config = is_clock ? PERF_COUNT_SW_TASK_CLOCK : e->perf_config,
		.period = e->period,
	};
	if (e->kind == CONFIG_CPUTIME) {
		process.is_cputime[metric] = process.has_cputime = true;
		process.cputime_period_ns = e->period;
	}
}

/*
 * OFFCPU comes with a metric of its own for the holders of locks, if a number is left. It has no
 * period.
 */
static void add_blame(uint32_t metric)
{
	struct process_source *s = slot_for(&source_offcpu);
	process.has_offcpu = true;
	process.blame_metric = metric;
	if (metric < MSR_MAX_METRICS)
		s->event[s->n_events++] = (struct source_event){
			.name = "BLAME", .metric = metric, .unit = MSR_UNIT_NS};
}

/* Loads a module from the directory of our library. */
static const struct source_ops *load_module(const char *name, char *cause, size_t cause_bytes)
{
	char path[PATH_MAX];
	struct text t = text_in(path, sizeof path), why = text_in(cause, cause_bytes);
	const char *slash = strrchr(process.config.library, '/');
	for (const char *p = process.config.library; slash && p <= slash; p++)
		text_put_char(&t, *p);
	text_put(&t, "libhpcrun-lite-");
	text_put(&t, name);
	text_put(&t, ".so");
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct source_ops *ops = module ? dlsym(module, SOURCE_MODULE_SYMBOL) : NULL;
	if (!ops)
		text_put(&why, "the module cannot be loaded");
	return ops;
}

static bool start_source(struct process_source *s, char *cause, size_t cause_bytes)
{
	return s->ops->process_start(s->event, s->n_events, &host, cause, cause_bytes);
}

/*
 * Falls back to a timer for CPU time if the kernel refuses its event, unless the user chose the
 * event.
 */
static enum source_cpu choose_cpu_source(const struct config_event *e)
{
	const struct source_event clock = {.perf_type = PERF_TYPE_SOFTWARE,
					   .perf_config = PERF_COUNT_SW_TASK_CLOCK,
					   .period = e->period};
	char why[128];
	bool user_only;
	if (e->cpu_source != SOURCE_CPU_AUTO || perf_event_try(&clock, &user_only, why, sizeof why))
		return (enum source_cpu)e->cpu_source;
	runtime_note(why);
	return SOURCE_CPU_TIMER;
}

bool process_choose_sources(char *cause, size_t cause_bytes)
{
	const struct source_ops *papi = NULL;
	const struct config *c = &process.config;
	for (uint32_t i = 0; i < c->n_events; i++) {
		const struct config_event *e = &c->event[i];
		if (e->kind == CONFIG_PAPI && !papi &&
		    !(papi = load_module("papi", cause, cause_bytes)))
			return false;
		const struct source_ops *const by_kind[] = {
			[CONFIG_CPUTIME] = &source_cputime,
			[CONFIG_REALTIME] = &source_realtime,
			[CONFIG_PERF] = is_task_clock(e) ? &source_cputime : &source_perf,
			[CONFIG_PAPI] = papi,
			[CONFIG_OFFCPU] = &source_offcpu};
		add_event(by_kind[e->kind], i,
			  e->kind == CONFIG_CPUTIME ? choose_cpu_source(e) : SOURCE_CPU_AUTO);
		if (e->kind == CONFIG_OFFCPU)
			add_blame(c->n_events);
	}
	return process_restart_sources();
}

bool process_restart_sources(void)
{
	char cause[256];
	for (unsigned i = 0; i < process.n_sources;) {
		if (start_source(&process.source[i], cause, sizeof cause)) {
			i++;
			continue;
		}
		struct text t;
		char note[512];
		t = text_in(note, sizeof note);
		text_put(&t, process.source[i].event[0].name);
		text_put(&t, " is not measured: ");
		text_put(&t, cause);
		process.source[i] = process.source[--process.n_sources];
		runtime_note(note);
	}
	return process.n_sources > 0 || process.config.n_gpus > 0 || process.config.mpi ||
	       process.config.nvtx;
}

/* ---- records ---- */

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

/* Read once, because children of fork inherit it. */
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

/* Where the process started to be measured. A child of fork looks whether that is still true. */
static struct {
	char directory[PATH_MAX]; /* "": unknown */
	long n_mask;              /* bytes of it; not positive: unknown */
	uint64_t mask[4096 / 64];
	bool is_as_in_file;       /* the file that the process uses says the same */
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

bool process_find_place(void)
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

void process_has_file(void)
{
	if (!place.is_as_in_file)
		place.is_as_in_file = true;
}

/* The processors that the process may use, as "0-3,8-8". A part of them would be wrong. */
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

void process_write_records(void)
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
