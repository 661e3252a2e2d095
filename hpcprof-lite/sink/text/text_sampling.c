/* SPDX-License-Identifier: BSD-3-Clause */
/* See text_sampling.h. */
#include "hpcprof-lite/sink/text/text_sampling.h"

#include "hpcprof-lite/sink/text/text_print.h"

#include <inttypes.h>
#include <string.h>

#define FIRST_SAMPLES 2u  /* every thread's first samples come from the timer */
#define DISTORTED 0.05 /* share of the CPU time that switches may cost before the report says so \
			*/

struct use {
	uint64_t ns, n_samples, n_threads;
};

/* Every thread starts with the timer; those that stay with it are of interest. */
static bool is_by_timer(const struct model_source_use *u)
{
	return u->timer_samples > FIRST_SAMPLES || (u->timer_samples && !u->event_samples);
}

static void put_use(FILE *out, const char *what, const struct use *u)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	double seconds = (double)u->ns / 1e9;
	fprintf(out, "%s %s, %s samples/s, %s %s", what, text_value(a, "sec", seconds),
		text_count(b, (uint64_t)((double)u->n_samples / seconds + 0.5)),
		text_count(c, u->n_threads), u->n_threads == 1 ? "thread" : "threads");
}

static bool is_cputime(const struct model_metric *k)
{
	return k->kind == MODEL_METRIC_SAMPLED && strcmp(k->event, "CPUTIME") == 0;
}

static uint64_t period_of_cputime(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (is_cputime(&m->metrics[i]) && m->metrics[i].period)
			return m->metrics[i].period;
	return 0;
}

bool text_sampling_by_both(const struct model *m, uint32_t metric)
{
	bool by_event = false, by_timer = false;
	for (uint32_t i = 0; i < m->n_profiles && is_cputime(&m->metrics[metric]); i++) {
		by_event |= m->profiles[i].source_use.event_samples != 0;
		by_timer |= is_by_timer(&m->profiles[i].source_use);
	}
	return by_event && by_timer;
}

/* The program was slower than its samples made it: the kernel programmed a timer at each switch. */
static void put_distortion(const struct model *m, uint64_t n_switches, double cpu_seconds,
			   FILE *out)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	double cost = (double)n_switches * (double)msr_switch_cost_ns(period_of_cputime(m)) / 1e9;
	if (cost <= DISTORTED * cpu_seconds)
		return;
	fprintf(out,
		"  SLOWED DOWN: %s context switches while the kernel's event sampled may have cost "
		"up to %s of CPU time;\n"
		"  measure with -e CPUTIME, which avoids this, or with -e CPUTIME,timer\n",
		text_count(a, n_switches),
		text_value(b, "sec", cost < cpu_seconds ? cost : cpu_seconds));
}

/* A thread of a process that ended with no word has no CPU clock, but its samples' weights. */
static uint64_t used_ns(const struct model_profile *p)
{
	uint64_t sampled_ns = p->source_use.event_ns + p->source_use.timer_ns;
	return p->cpu_ns > sampled_ns ? p->cpu_ns : sampled_ns;
}

void text_sampling(const struct model *m, FILE *out)
{
	struct use event = {0}, timer = {0};
	uint64_t n_switches = 0;
	double cpu_seconds = 0;
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_source_use *u = &m->profiles[i].source_use;
		event.ns += u->event_ns;
		event.n_samples += u->event_samples;
		event.n_threads += u->event_samples != 0;
		timer.ns += u->timer_ns;
		timer.n_samples += u->timer_samples;
		timer.n_threads += is_by_timer(u);
		n_switches += u->event_switches;
		cpu_seconds += (double)used_ns(&m->profiles[i]) / 1e9;
	}
	if (!event.ns && !timer.ns)
		return;
	fputs("  CPU time sampled by: ", out);
	if (event.ns)
		put_use(out, "the kernel's event", &event);
	if (timer.n_threads) {
		fputs(event.ns ? "; " : "", out);
		put_use(out, "a timer", &timer);
	}
	putc('\n', out);
	put_distortion(m, n_switches, cpu_seconds, out);
}
