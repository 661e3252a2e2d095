/* SPDX-License-Identifier: BSD-3-Clause */
/* See compare_page.h. Test: tests/cli/sink/sink_html.sh. */
#include "hpcprof-lite/compare/compare_page.h"

#include "hpcprof-lite/compare/compare_model.h"

#include <stdlib.h>

static void add_runs(struct compare_page *p)
{
	const struct compare *c = p->r->c;
	for (size_t i = 0; i < c->runs.n; i++) {
		const struct compare_run *run = &c->runs.at[i];
		p->runs[i] = (struct sink_html_run){
			.side = run->side,
			.n_processes = run->n_processes,
			.n_threads = run->n_threads,
			.n_ranks = run->n_ranks,
			.path = compare_string(c, run->path),
			.command = compare_string(c, run->command),
			.elapsed_ns = run->elapsed_ns,
			.is_complete = run->is_complete,
			.lacks_names = run->lacks_names,
		};
	}
}

static bool add_noise(struct compare_page *p, double assumed)
{
	const struct compare *c = p->r->c;
	for (uint32_t i = 0; i < c->metrics.n; i++) {
		struct compare_values v;
		struct sink_html_noise *noise = &p->noise[i];
		if (!compare_values_open(c, i, assumed, &v))
			return false;
		noise->excess = v.excess;
		noise->is_excess_measured = v.is_excess_measured;
		for (int side = 0; side < COMPARE_N_SIDES; side++)
			noise->weights[side] = v.weights[side];
		compare_values_close(&v);
	}
	for (size_t i = 0; i < p->r->wholes.n; i++)
		p->noise[p->r->wholes.at[i].metric].is_sum = true;
	return true;
}

static bool next_amount(const void *arg, uint32_t run, size_t *at, struct sink_html_amount *to)
{
	const struct compare_page *p = arg;
	const struct compare_run *from = &p->r->c->runs.at[run];
	if (*at == from->cells.n)
		return false;
	const struct compare_cell *cell = &from->cells.at[(*at)++];
	*to = (struct sink_html_amount){.context = compare_model_context(p->m, cell->node),
					.metric = 2 * cell->metric,
					.value = cell->sum,
					.variance = cell->variance,
					.n_samples = cell->n};
	return true;
}

bool compare_page_open(const struct compare_report *r, double assumed, struct compare_page *p)
{
	const struct compare *c = r->c;
	*p = (struct compare_page){.r = r,
				   .m = compare_model_make(c),
				   .runs = calloc(c->runs.n + 1, sizeof *p->runs),
				   .noise = calloc(c->metrics.n + 1, sizeof *p->noise)};
	if (!p->m || !p->runs || !p->noise || !add_noise(p, assumed))
		return false;
	add_runs(p);
	p->comparison = (struct sink_html_comparison){.runs = p->runs,
						      .n_runs = (uint32_t)c->runs.n,
						      .n_noise = (uint32_t)c->metrics.n,
						      .metric = 2 * r->values.metric,
						      .noise = p->noise,
						      .next = next_amount,
						      .arg = p};
	return true;
}

void compare_page_close(struct compare_page *p)
{
	compare_model_free(p->m);
	free(p->runs);
	free(p->noise);
	*p = (struct compare_page){0};
}
