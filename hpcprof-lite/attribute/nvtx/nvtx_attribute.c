/* SPDX-License-Identifier: BSD-3-Clause */
/* See nvtx_attribute.h. */
#include "hpcprof-lite/attribute/nvtx/nvtx_attribute.h"

#include "common/base/map.h"
#include "hpcprof-lite/attribute/merge/nvtx_labels.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 256u /* more than a thread can have on its stack */

struct row {
	struct model_nvtx_range sums;
	uint32_t name, domain, category, source; /* ids in `strings` */
};

struct making {
	struct strtab strings;
	struct map index;
	VEC(struct row) rows;
	bool has_cpu, has_gpu;
};

/* The ranges of one thread. */
struct part {
	const struct load_file *file;
	const struct load_thread *thread;
	uint32_t *range_of;  /* by node: 1 + number of the innermost range it is in; 0: none */
	uint32_t *row_of;    /* by number of a range; UINT32_MAX: none */
};

static void add(uint64_t *to, uint64_t n)
{
	*to = n > UINT64_MAX - *to ? UINT64_MAX : *to + n;
}

/* ---- rows ---- */

/* The row of a range; UINT32_MAX: memory is short. */
static uint32_t row_of(struct making *w, const struct load_file *f, const struct load_nvtx_range *r)
{
	char text[NVTX_WORDS_BYTES];
	const struct nvtx_words words = nvtx_words_of(f, r->name, text);
	struct row row = {.sums = {.kind = (uint8_t)r->kind, .least_ns = UINT64_MAX},
			  .name = strtab_add_z(&w->strings, words.name),
			  .domain = strtab_add_z(&w->strings, words.domain),
			  .category = strtab_add_z(&w->strings, words.category),
			  .source = strtab_add_z(&w->strings, words.source)};
	if (row.name == STRTAB_FAILED || row.domain == STRTAB_FAILED ||
	    row.category == STRTAB_FAILED || row.source == STRTAB_FAILED)
		return UINT32_MAX;
	const uint64_t id = map_put(&w->index, (uint64_t)row.domain << 32 | row.name,
				    (uint64_t)row.category << 34 | (uint64_t)row.source << 2 |
					    r->kind,
				    w->rows.n);
	if (id == w->rows.n) {
		struct row *new = vec_push(&w->rows);
		if (!new)
			return UINT32_MAX;
		*new = row;
	}
	return id == MAP_NONE ? UINT32_MAX : (uint32_t)id;
}

static void add_range(struct model_nvtx_range *to, const struct load_nvtx_range *r)
{
	const bool is_first = to->n_values == 0;
	add(&to->n, r->n);
	/* keep() subtracts the ranges that ended, perhaps in another thread */
	add(&to->n_open, r->n_begun);
	add(&to->ns, r->ns);
	if (r->n && r->least_ns < to->least_ns)
		to->least_ns = r->least_ns;
	if (r->most_ns > to->most_ns)
		to->most_ns = r->most_ns;
	if (!r->n_values)
		return;
	add(&to->n_values, r->n_values);
	to->value_sum += r->value_sum;
	if (is_first || r->value_least < to->value_least)
		to->value_least = r->value_least;
	if (is_first || r->value_most > to->value_most)
		to->value_most = r->value_most;
}

/* ---- what ran inside ---- */

static void find_ranges(struct part *p)
{
	const struct load_thread *t = p->thread;
	for (size_t k = 0; k < t->nodes.n; k++) {
		const struct msr_node *nodes = (const void *)t->nodes.at[k].content;
		for (size_t i = 0; i < t->nodes.at[k].n_bytes / sizeof *nodes; i++) {
			const uint64_t id = t->nodes.at[k].first + i;
			const uint64_t code = msr_addr_link(nodes[i].addr);
			if (id == 0 || id >= t->n_nodes || t->node_to[id] == LOAD_DAMAGED)
				continue;
			p->range_of[id] = load_is_nvtx(nodes[i].addr)
							  && code - MSR_NVTX <= t->ranges.n
						  ? (uint32_t)(code - MSR_NVTX)
						  : p->range_of[nodes[i].parent];
		}
	}
}

/*
 * Adds the time to the rows of the ranges around a node, once to each row. is_gpu: adds to gpu_ns.
 */
static void add_inside(struct making *w, const struct part *p, uint32_t node, uint64_t ns,
		       bool is_gpu)
{
	uint32_t seen[DEPTH_MOST], n = 0, last = UINT32_MAX;
	for (uint32_t id = node < p->thread->n_nodes ? p->range_of[node] : 0;
	     id && id < last && n < DEPTH_MOST;
	     last = id, id = p->range_of[p->thread->ranges.at[id - 1].node]) {
		const uint32_t row = p->row_of[id - 1];
		uint32_t i = 0;
		while (i < n && seen[i] != row)
			i++;
		if (row == UINT32_MAX || i < n)
			continue;
		seen[n++] = row;
		add(is_gpu ? &w->rows.at[row].sums.gpu_ns : &w->rows.at[row].sums.cpu_ns, ns);
	}
}

static void add_samples(struct making *w, const struct part *p)
{
	const struct load_file *f = p->file;
	for (size_t k = 0; k < p->thread->cells.n; k++) {
		const struct msr_cell *cells = (const void *)p->thread->cells.at[k].content;
		for (size_t c = 0; c < p->thread->cells.at[k].n_bytes / sizeof *cells; c++)
			if (load_cell_is_sound(f, p->thread, &cells[c]) &&
			    !strcmp(f->metrics[cells[c].metric]->name, MSR_METRIC_CPUTIME))
				add_inside(w, p, cells[c].node, cells[c].sum, false);
	}
}

static void add_gpu(struct making *w, const struct part *p, const struct gpu_join *join,
		    uint32_t thread)
{
	for (size_t i = 0; i < join->cells.n; i++) {
		const struct gpu_cell *c = &join->cells.at[i];
		if (c->thread == thread && c->place == GPU_ON_PATH &&
		    (c->kind == MSR_GPU_KERNEL || c->kind == MSR_GPU_COPY ||
		     c->kind == MSR_GPU_SET))
			add_inside(w, p, c->node, c->busy_ns, true);
	}
}

static bool add_thread(struct making *w, const struct load_file *f, uint32_t thread,
		       const struct gpu_join *join)
{
	const struct load_thread *t = &f->threads.at[thread];
	struct part p = {f, t, calloc((size_t)t->n_nodes + 1, sizeof *p.range_of),
			 calloc(t->ranges.n + 1, sizeof *p.row_of)};
	bool ok = p.range_of && p.row_of;
	for (size_t i = 0; ok && i < t->ranges.n; i++) {
		const struct load_nvtx_range *r = &t->ranges.at[i];
		p.row_of[i] = UINT32_MAX;
		if (!r->kind)
			continue;
		p.row_of[i] = t->ranges.at[i].row = row_of(w, f, r);
		ok = p.row_of[i] != UINT32_MAX;
		if (ok)
			add_range(&w->rows.at[p.row_of[i]].sums, r);
	}
	if (ok) {
		find_ranges(&p);
		for (size_t i = 0; i < t->ranges.n; i++) {
			struct load_nvtx_range *r = &t->ranges.at[i];
			r->is_outermost = r->node && !p.range_of[r->node];
		}
		add_samples(w, &p);
		if (join)
			add_gpu(w, &p, join, thread);
	}
	free(p.range_of);
	free(p.row_of);
	return ok;
}

/* ---- the model ---- */

static int compare(const void *pa, const void *pb)
{
	const struct model_nvtx_range *a = pa, *b = pb;
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	int c = strcmp(a->name, b->name);
	c = c ? c : strcmp(a->domain, b->domain);
	c = c ? c : strcmp(a->category, b->category);
	c = c ? c : strcmp(a->source, b->source);
	return c ? c : a->kind - b->kind;
}

/* A range of the model, and the number of its row before they were sorted. */
struct sorted {
	struct model_nvtx_range range;
	uint32_t row;
};

static int compare_sorted(const void *pa, const void *pb)
{
	const struct sorted *a = pa, *b = pb;
	return compare(&a->range, &b->range);
}

static bool name_range(struct model_nvtx_range *r, const struct row *row, const struct strtab *s,
		       struct model *m)
{
	*r = row->sums;
	r->name = model_own(m, strdup(strtab_get(s, row->name)));
	r->domain = model_own(m, strdup(strtab_get(s, row->domain)));
	r->category = model_own(m, strdup(strtab_get(s, row->category)));
	r->n_open -= r->n_open < r->n ? r->n_open : r->n;
	if (!r->n)
		r->least_ns = 0;
	r->source = model_own(m, strdup(strtab_get(s, row->source)));
	if (r->name && r->domain && r->category && r->source)
		r->label = model_own(m, nvtx_label("",
						   &(struct nvtx_words){r->name, r->domain,
									r->category, r->source},
						   ""));
	return r->label;
}

/* Sets the row numbers of the files' ranges to those after sorting. */
static void renumber(const struct load_job *job, const uint32_t *row_to)
{
	for (size_t i = 0; i < job->files.n; i++)
		for (size_t k = 0; k < job->files.at[i].threads.n; k++) {
			const struct load_thread *t = &job->files.at[i].threads.at[k];
			for (size_t r = 0; r < t->ranges.n; r++)
				if (t->ranges.at[r].kind)
					t->ranges.at[r].row = row_to[t->ranges.at[r].row];
		}
}

static bool sort_rows(struct making *w, const struct load_job *job, struct model *m,
		      struct model_nvtx_range *to)
{
	struct sorted *rows = calloc(w->rows.n + 1, sizeof *rows);
	uint32_t *row_to = calloc(w->rows.n + 1, sizeof *row_to);
	bool ok = rows && row_to;
	for (size_t i = 0; ok && i < w->rows.n; i++) {
		rows[i].row = (uint32_t)i;
		ok = name_range(&rows[i].range, &w->rows.at[i], &w->strings, m);
	}
	if (ok) {
		qsort(rows, w->rows.n, sizeof *rows, compare_sorted);
		for (size_t i = 0; i < w->rows.n; i++) {
			to[i] = rows[i].range;
			row_to[rows[i].row] = (uint32_t)i;
		}
		renumber(job, row_to);
	}
	free(rows);
	free(row_to);
	return ok;
}

static bool keep(struct making *w, const struct load_job *job, struct model *m)
{
	struct model_nvtx *out = model_own(m, calloc(1, sizeof *out));
	struct model_nvtx_range *rows = model_own(m, calloc(w->rows.n + 1, sizeof *rows));
	if (!out || !rows || !sort_rows(w, job, m, rows))
		return false;
	*out = (struct model_nvtx){.ranges = rows,
				   .n_ranges = (uint32_t)w->rows.n,
				   .has_sums = true,
				   .has_cpu = w->has_cpu,
				   .has_gpu = w->has_gpu};
	for (size_t i = 0; i < job->files.n; i++)
		add(&out->n_lost, job->files.at[i].header.losses[MSR_LOSS_NVTX]);
	m->nvtx = out;
	return true;
}

bool nvtx_attribute(const struct load_job *job, const struct gpu_part *gpu, struct model *m)
{
	struct making w = {0};
	bool ok = true;
	for (size_t i = 0; ok && i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		const bool has_gpu = gpu->files && f->gpu.is_present;
		for (unsigned k = 0; k < MSR_MAX_METRICS; k++)
			w.has_cpu |= f->metrics[k] &&
				     !strcmp(f->metrics[k]->name, MSR_METRIC_CPUTIME);
		w.has_gpu |= has_gpu;
		for (uint32_t k = 0; ok && k < f->threads.n; k++)
			if (f->threads.at[k].ranges.n)
				ok = add_thread(&w, f, k, has_gpu ? &gpu->files[i].join : NULL);
	}
	ok = ok && (!w.rows.n || keep(&w, job, m));
	strtab_free(&w.strings);
	map_free(&w.index);
	vec_free(&w.rows);
	return ok;
}
