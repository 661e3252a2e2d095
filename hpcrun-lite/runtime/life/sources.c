/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the source of each event, in order of preference. Tests: tests/cli/run/run_rate.sh,
 * tests/cli/run/run_processes.sh.
 */
#include "hpcrun-lite/runtime/life/sources.h"

#include "common/safe/text.h"
#include "hpcrun-lite/memory/memory_glue.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/waits/blame.h"
#include "hpcrun-lite/source/perf_event.h"

#include <dlfcn.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <string.h>

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
 * Adds to OFFCPU a metric for the holders of locks, if a metric number is left. It has no period.
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

bool sources_choose(char *cause, size_t cause_bytes)
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
			[CONFIG_OFFCPU] = &source_offcpu,
			[CONFIG_MEMORY] = &source_memory};
		add_event(by_kind[e->kind], i,
			  e->kind == CONFIG_CPUTIME ? choose_cpu_source(e) : SOURCE_CPU_AUTO);
		if (e->kind == CONFIG_OFFCPU)
			add_blame(c->n_events);
	}
	return sources_restart();
}

bool sources_restart(void)
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
