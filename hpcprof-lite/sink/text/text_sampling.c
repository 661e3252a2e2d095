/* SPDX-License-Identifier: BSD-3-Clause */
/* See text_sampling.h. */
#include "hpcprof-lite/sink/text/text_sampling.h"

#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/view/view_run.h"

#define DISTORTED 0.05 /* the report warns if switches may have cost this share of the CPU time */

static void put_use(FILE *out, const char *what, const struct view_source_use *u)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	double seconds = (double)u->ns / 1e9;
	fprintf(out, "%s %s, %s samples/s, %s %s", what, text_seconds(a, seconds),
		text_count(b, (uint64_t)((double)u->n_samples / seconds + 0.5)),
		text_count(c, u->n_threads), u->n_threads == 1 ? "thread" : "threads");
}

/*
 * Warns if the kernel's event slowed the program down: it programs a timer at each switch. Only
 * "-e CPUTIME" uses both sources. It changes from the event to a timer after some switches.
 */
static void put_distortion(const struct view_sources *s, FILE *out)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	double cost = s->switch_seconds;
	if (cost <= DISTORTED * s->cpu_seconds)
		return;
	fprintf(out,
		"  SLOWED DOWN: %s context switches while the kernel's event sampled may have cost "
		"up to %s of CPU time;\v"
		"measure with %s\n",
		text_count(a, s->n_switches),
		text_seconds(b, cost < s->cpu_seconds ? cost : s->cpu_seconds),
		s->timer.ns ? "-e CPUTIME,timer, which avoids this"
			    : "-e CPUTIME, which avoids this, or with -e CPUTIME,timer");
}

void text_sampling(const struct model *m, FILE *out)
{
	struct view_sources s;
	const struct view_source_use *event = &s.event, *timer = &s.timer;
	view_sources_make(m, &s);
	if (!event->ns && !timer->ns)
		return;
	fputs("  CPU time sampled by: ", out);
	if (event->ns)
		put_use(out, "the kernel's event", event);
	if (timer->n_threads) {
		fputs(event->ns ? "; " : "", out);
		put_use(out, "a timer", timer);
	}
	putc('\n', out);
	put_distortion(&s, out);
}
