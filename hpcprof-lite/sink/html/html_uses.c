/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of all processors went, for the section "meta". Test: tests/cli/sink/sink_html.sh.
 */
#include "hpcprof-lite/sink/html/html.h"

#include "hpcprof-lite/view/view_processors.h"

#include <inttypes.h>
#include <stdlib.h>

/* The page colours the uses by group. */
static const char *group_of(unsigned use)
{
	if (use == MODEL_WORK)
		return "work";
	if (use >= MODEL_OMP_BARRIER && use <= MODEL_OMP_IDLE)
		return "openmp";
	if (use >= MODEL_MPI_P2P && use <= MODEL_MPI_OTHER)
		return "mpi";
	if (use == MODEL_GPU_WAIT)
		return "gpu";
	return use < MODEL_N_ACTIVITIES ? "blocked" : "none";
}

static void put_seconds(struct html *h, const double *seconds, const bool *is_shown)
{
	const char *comma = "";
	html_put_text(&h->section, ",\"us\":[");
	for (unsigned use = 0; use < VIEW_N_USES; use++)
		if (is_shown[use]) {
			html_put_text(&h->section, "%s%.0f", comma, seconds[use] * 1e6);
			comma = ",";
		}
	html_put_text(&h->section, "]");
}

static void put_processors(struct html *h, const struct view_processors *p)
{
	bool is_shown[VIEW_N_USES];
	const char *comma = "";
	for (unsigned use = 0; use < VIEW_N_USES; use++)
		is_shown[use] = p->seconds[use] > 0;
	html_put_text(&h->section,
		      ",\"uses\":{\"threads\":%" PRIu32 ",\"allThreads\":%" PRIu32
		      ",\"allowed\":%" PRIu32 ",\"elapsed\":%.0f,\"lacksOffcpu\":%d,\"rows\":[",
		      p->n_threads, p->n_all_threads, p->n_allowed, p->elapsed * 1e6,
		      p->lacks_offcpu);
	for (unsigned use = 0; use < VIEW_N_USES; use++)
		if (is_shown[use]) {
			const bool is_unknown = use == VIEW_USE_UNKNOWN && p->lacks_offcpu;
			html_put_text(
				&h->section, "%s{\"group\":\"%s\",\"name\":%" PRIu32 "}", comma,
				group_of(use),
				html_string(h, is_unknown ? "blocked, or ready without a processor"
							  : view_use_name(use)));
			comma = ",";
		}
	html_put_text(&h->section, "]");
	put_seconds(h, p->seconds, is_shown);
	html_put_text(&h->section, ",\"processes\":[");
	comma = "";
	for (uint32_t i = 0; i < p->n_processes; i++) {
		html_put_text(&h->section, "%s{\"threads\":%" PRIu32, comma,
			      p->processes[i].n_threads);
		put_seconds(h, p->processes[i].seconds, is_shown);
		html_put_text(&h->section, "}");
		comma = ",";
	}
	html_put_text(&h->section, "]}");
}

void html_put_uses(struct html *h)
{
	struct view_processors p;
	if (html_is_comparison(h) || !view_processors_apply(h->m))
		return;
	if (!view_processors_make(h->m, &p)) {
		h->failed = true;
		return;
	}
	put_processors(h, &p);
	view_processors_free(&p);
}
