/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of all processors went, for the section "meta". Test: tests/cli/sink/sink_html.sh.
 */
#include "hpcprof-lite/sink/html/html.h"

#include "hpcprof-lite/view/parallel/view_pop.h"
#include "hpcprof-lite/view/parallel/view_processors.h"
#include "hpcprof-lite/view/parallel/view_regions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a use is to people: the page has one colour for each of these (states.js). */
static const char *state_of(unsigned use)
{
	static const char *const states[VIEW_N_USES] = {
		[MODEL_WORK] = "work",
		[MODEL_OMP_BARRIER] = "openmp",
		[MODEL_OMP_LOCK] = "openmp",
		[MODEL_OMP_ORDERED] = "openmp",
		[MODEL_OMP_TASKWAIT] = "openmp",
		[MODEL_OMP_OVERHEAD] = "openmp",
		[MODEL_OMP_IDLE] = "openmp",
		[MODEL_MPI_P2P] = "mpi",
		[MODEL_MPI_COLLECTIVE] = "mpi",
		[MODEL_MPI_ONE_SIDED] = "mpi",
		[MODEL_MPI_IO] = "mpi",
		[MODEL_MPI_OTHER] = "mpi",
		[MODEL_TORCH_COLLECTIVE] = "torch",
		[MODEL_GPU_WAIT] = "gpu",
		[MODEL_BLOCKED_LOCK] = "lock",
		[MODEL_BLOCKED_THREAD] = "lock",
		[MODEL_BLOCKED_IO] = "io",
		[MODEL_BLOCKED_POLL] = "sleep",
		[MODEL_BLOCKED_SLEEP] = "sleep",
		[MODEL_BLOCKED_OTHER] = "sleep",
		[MODEL_NO_CPU] = "ready",
	};
	return states[use] ? states[use] : "none";
}

/* The how manieth of its state a use is: its shade, the same in every report. */
static unsigned shade_of(unsigned use)
{
	unsigned n = 0;
	for (unsigned i = 0; i < use; i++)
		n += strcmp(state_of(i), state_of(use)) == 0;
	return n;
}

static void put_use(struct html *h, const char *comma, unsigned use, const char *name)
{
	html_put_text(&h->section, "%s{\"state\":\"%s\",\"shade\":%u,\"name\":%" PRIu32 "}", comma,
		      state_of(use), shade_of(use), html_string(h, name));
}

/* By number of an activity, as contexts have it. */
static void put_activities(struct html *h)
{
	const struct view_processors any = {0};
	html_put_text(&h->section, ",\"activities\":[");
	for (unsigned k = 0; k < MODEL_N_ACTIVITIES; k++)
		put_use(h, k ? "," : "", k, view_use_name(&any, k));
	html_put_text(&h->section, "]");
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

/*
 * [least, its process, mean, most, its process] of each row, if there are several ranks. null: of
 * time without threads, which no rank has.
 */
static void put_spreads(struct html *h, const struct view_processors *p)
{
	const char *comma = "";
	if (p->n_ranks < 2)
		return;
	html_put_text(&h->section, ",\"spreads\":[");
	for (unsigned use = 0; use < VIEW_N_USES; use++)
		if (h->is_used[use]) {
			const struct view_spread x = view_processors_spread(p, h->m, use);
			if (use == VIEW_USE_NO_THREAD) {
				html_put_text(&h->section, "%snull", comma);
				break;
			}
			html_put_text(&h->section, "%s[%.0f,%" PRIu32 ",%.0f,%.0f,%" PRIu32 "]",
				      comma, x.least * 1e6, x.least_process, x.mean * 1e6,
				      x.most * 1e6, x.most_process);
			comma = ",";
		}
	html_put_text(&h->section, "]");
}

static void put_processors(struct html *h, const struct view_processors *p)
{
	bool *is_shown = h->is_used;
	const char *comma = "";
	for (unsigned use = 0; use < VIEW_N_USES; use++)
		is_shown[use] = p->seconds[use] > 0;
	html_put_text(&h->section,
		      ",\"uses\":{\"threads\":%" PRIu32 ",\"allThreads\":%" PRIu32
		      ",\"leftOut\":%" PRIu32 ",\"allowed\":%" PRIu32 ",\"given\":%.9g"
		      ",\"throttled\":%.0f,\"cpu\":%.0f"
		      ",\"elapsed\":%.0f,\"capacity\":%.0f,\"lacksOffcpu\":%d,\"rows\":[",
		      p->n_threads, p->n_all_threads, p->n_left_out, p->quota.n_allowed,
		      p->quota.n_given, p->quota.throttled * 1e6, p->cpu_seconds * 1e6,
		      p->elapsed * 1e6, p->capacity * 1e6, p->lacks_offcpu);
	for (unsigned use = 0; use < VIEW_N_USES; use++)
		if (is_shown[use]) {
			put_use(h, comma, use, view_use_name(p, use));
			comma = ",";
		}
	html_put_text(&h->section, "]");
	put_seconds(h, p->seconds, is_shown);
	put_spreads(h, p);
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

static void put_uses(struct html *h)
{
	struct view_processors p;
	if (!view_processors_apply(h->m))
		return;
	if (!view_processors_make(h->m, &p)) {
		h->failed = true;
		return;
	}
	put_processors(h, &p);
	view_processors_free(&p);
}

/* ---- efficiencies ---- */

/* In thousandths, so that every number has a form that JSON knows. */
static void put_share(struct html *h, const char *name, double share)
{
	html_put_text(&h->section, ",\"%s\":%.0f", name, share > 0 ? share * 1000 : 0);
}

/* "FILE:57", as people see it; "" if it is unknown. */
static const char *place_of(const struct model *m, uint32_t file, uint32_t line, char *place,
			    size_t n_bytes)
{
	place[0] = 0;
	if (file < m->n_files && line) {
		const char *path = m->files[file].path, *slash = strrchr(path, '/');
		snprintf(place, n_bytes, "%s:%" PRIu32, slash ? slash + 1 : path, line);
	}
	return place;
}

static void put_phase(struct html *h, const struct view_pop *x)
{
	char place[256], name[1024];
	const struct model_context *c = &h->m->contexts[x->context];
	view_pop_name(h->m, x, place_of(h->m, c->file, c->line, place, sizeof place), name,
		      sizeof name);
	html_put_text(&h->section, "{\"name\":%" PRIu32 ",\"context\":%" PRIu32 ",\"elapsed\":%.0f",
		      html_string(h, name), x->context ? h->tree.kept[x->context] : 0,
		      x->elapsed * 1e6);
	put_share(h, "parallel", x->parallel);
	put_share(h, "balance", x->load_balance);
	put_share(h, "communication", x->communication);
	if (x->has_transfer) {
		put_share(h, "serialisation", x->serialisation);
		put_share(h, "transfer", x->transfer);
	}
	if (x->is_hybrid) {
		put_share(h, "mpi", x->mpi);
		put_share(h, "omp", x->omp);
	}
	if (x->has_gpu)
		put_share(h, "offload", x->offload);
	html_put_text(&h->section, "}");
}

static void put_pop(struct html *h)
{
	struct view_pops p;
	if (!view_pop_make(h->m, &p)) {
		h->failed = true;
		return;
	}
	if (!p.n)
		return;
	html_put_text(&h->section,
		      ",\"pop\":{\"processes\":%" PRIu32 ",\"threads\":%" PRIu32
		      ",\"setup\":%d,\"more\":%" PRIu32 ",\"marked\":%d,\"lost\":%" PRIu64
		      ",\"lacksLines\":%d,\"phases\":[",
		      p.at[0].n_processes, p.at[0].n_threads, p.at[0].has_setup, p.n_more,
		      h->m->n_phases != 0, p.n_lost, p.lacks_lines);
	for (size_t i = 0; i < p.n; i++) {
		html_put_text(&h->section, i ? "," : "");
		put_phase(h, &p.at[i]);
	}
	html_put_text(&h->section, "],\"devices\":{\"n\":%" PRIu32, p.devices.n);
	if (p.devices.n) {
		put_share(h, "parallel", p.devices.parallel);
		put_share(h, "balance", p.devices.load_balance);
		put_share(h, "communication", p.devices.communication);
		put_share(h, "orchestration", p.devices.orchestration);
	}
	html_put_text(&h->section, "}}");
}

/* ---- regions of OpenMP ---- */

static const double LEAST_GAIN = 0.01; /* as a share of the run, as in the text */

static void put_region(struct html *h, const struct view_region *r)
{
	const struct model *m = h->m;
	char place[256], name[1024];
	view_region_name(m, r, place_of(m, r->file, r->line, place, sizeof place), name,
			 sizeof name);
	html_put_text(
		&h->section,
		"{\"name\":%" PRIu32 ",\"function\":%" PRId64 ",\"known\":%d,"
		"\"gain\":%.0f,\"time\":%.0f,\"work\":%.0f,\"capacity\":%.0f,"
		"\"instances\":%" PRIu64 ",\"threads\":[%" PRIu32 ",%" PRIu32 "],\"loop\":%" PRIu32,
		html_string(h, name), r->function == MODEL_NONE ? -1 : (int64_t)r->function,
		r->is_known, r->gain * 1e6, r->seconds * 1e6, r->work * 1e6, r->capacity * 1e6,
		r->instances, r->least_threads, r->most_threads, r->loop_line);
	put_share(h, "efficiency", r->efficiency);
	if (r->has_imbalance)
		put_share(h, "imbalance", r->imbalance);
	double seconds[VIEW_N_USES] = {0};
	memcpy(seconds, r->activity, sizeof r->activity);
	put_seconds(h, seconds, h->is_used);
	html_put_text(&h->section, "}");
}

static void put_regions(struct html *h)
{
	enum { MOST_REGIONS = 500 };
	struct view_regions r;
	if (!h->m->n_omp_regions)
		return;
	if (!view_regions_make(h->m, &r)) {
		h->failed = true;
		return;
	}
	const bool has_teams = view_regions_have_teams(&r);
	const size_t n_worth = view_regions_count_worth(h->m, &r, LEAST_GAIN);
	html_put_text(&h->section,
		      ",\"regions\":{\"time\":%.0f,\"teams\":%d,\"worth\":%zu,\"small\":%zu,"
		      "\"share\":%g,\"bounds\":%d,\"rows\":[",
		      r.seconds * 1e6, has_teams, n_worth, r.n - n_worth, LEAST_GAIN * 100,
		      view_is_elapsed_time(h->m));
	for (size_t i = 0; has_teams && i < n_worth && i < MOST_REGIONS; i++) {
		html_put_text(&h->section, i ? "," : "");
		put_region(h, &r.at[i]);
	}
	html_put_text(&h->section, "]}");
	view_regions_free(&r);
}

void html_put_waiting(struct html *h)
{
	put_activities(h);
	if (html_is_comparison(h))
		return;
	put_uses(h);
	put_pop(h);
	put_regions(h);
	if (h->m->mpi)
		html_put_mpi(h);
}
