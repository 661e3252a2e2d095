/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts samples of CPUs at the instructions where they were taken. Those of GPUs are already in
 * the list. See attribute_steps.h. Test: tests/cli/sink/sink_code.sh.
 */
#include "common/base/log.h"
#include "common/base/pool.h"
#include "hpcprof-lite/attribute/attribute_steps.h"
#include "hpcprof-lite/attribute/describe/describe.h"
#include "hpcprof-lite/load/load_records.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>

struct counts {
	struct map index; /* (module and metric, address) -> list */
	VEC(struct model_instruction) list;
};

struct counting {
	struct attribution *a;
	struct counts *of; /* by worker */
};

/* Until the end, values are whole numbers in the unit of the measurement: any order is right. */
static bool add(struct counts *c, const struct model_instruction *i)
{
	const uint64_t at =
		map_put(&c->index, (uint64_t)i->module << 32 | i->metric, i->link_addr, c->list.n);
	if (at == MAP_NONE || (at == c->list.n && !vec_push(&c->list)))
		return false;
	struct model_instruction *to = &c->list.at[at];
	const uint64_t n_samples = to->n_samples + i->n_samples;
	const double value = to->value + i->value;
	*to = *i;
	to->n_samples = n_samples;
	to->value = value;
	return true;
}

/*
 * The instruction of a cell. False: the cell is not one of native code with a structure, or its
 * frame was folded into another one.
 */
static bool find_instruction(const struct topic_run *r, const struct topic_thread *at,
			     const struct msr_cell *cell, struct model_instruction *out)
{
	const struct load_thread *t = &r->job->files.at[at->file].threads.at[at->thread];
	const struct model_timeline *line = &r->m->private_->timelines[at->profile];
	if (cell->node >= line->n_nodes || line->context_of[cell->node] == MODEL_NONE ||
	    cell->metric >= 16 || line->metric_of[cell->metric] == MODEL_NONE ||
	    (!cell->count && !cell->sum) || !load_cell_is_plausible(cell))
		return false;
	const struct model_context *c = &r->m->contexts[line->context_of[cell->node]];
	const struct msr_node *n = load_node(t, cell->node);
	if (!n || c->module == MODEL_NONE || !r->m->modules[c->module].code ||
	    r->m->modules[c->module].is_gpu || msr_addr_module(n->addr) == MSR_MODULE_NONE ||
	    msr_addr_module(n->addr) >= r->job->files.at[at->file].modules.n)
		return false;
	const uint32_t module = r->module_of[at->file][msr_addr_module(n->addr)];
	if (r->expand->module_of[module] != c->module)
		return false;
	*out = (struct model_instruction){.link_addr = msr_addr_link(n->addr),
					  .module = c->module,
					  .metric = line->metric_of[cell->metric],
					  .n_samples = cell->count,
					  .value = (double)cell->sum};
	return true;
}

static void count_thread(void *arg, size_t i, unsigned worker)
{
	struct counting *c = arg;
	const struct topic_run *r = &c->a->run;
	const struct topic_thread *at = &r->threads.at[i];
	struct load_file *f = &r->job->files.at[at->file];
	const struct load_thread *t = &f->threads.at[at->thread];
	struct model_instruction instruction;
	if (!load_is_found(r->job, at->file)) /* another part counts it */
		return;
	for (size_t k = 0; k < t->cells.n && !f->is_outline; k++) {
		const struct msr_cell *cells = (const void *)t->cells.at[k].content;
		for (uint64_t n = 0; n < t->cells.at[k].n_bytes / sizeof *cells; n++)
			if (find_instruction(r, at, &cells[n], &instruction) &&
			    !add(&c->of[worker], &instruction))
				atomic_store(&c->a->failed, true);
		load_release(f, t->cells.at[k].n_bytes);
	}
}

static int compare(const void *pa, const void *pb)
{
	const struct model_instruction *a = pa, *b = pb;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->link_addr != b->link_addr)
		return a->link_addr < b->link_addr ? -1 : 1;
	return (a->metric > b->metric) - (a->metric < b->metric);
}

static bool add_all(struct counts *c, const struct model_instruction *at, size_t n)
{
	bool ok = true;
	for (size_t k = 0; ok && k < n; k++)
		ok = add(c, &at[k]);
	return ok;
}

/* Of several parts that share the files: adds what the others counted. */
static bool add_parts(const struct topic_run *r, struct counts *c, bool ok)
{
	if (!r->comm || !r->job->is_split)
		return ok;
	uint64_t *first = calloc((size_t)r->comm->n_parts + 1, sizeof *first);
	struct model_instruction *all =
		comm_join(r->comm, c->list.at, c->list.n, sizeof *c->list.at, ok ? first : NULL);
	ok = all != NULL;
	if (ok) {
		map_free(&c->index);
		vec_clear(&c->list);
		c->index = (struct map){0};
		ok = add_all(c, all, first[r->comm->n_parts]);
	}
	free(first);
	free(all);
	return ok;
}

/* Brings the counts of all workers and parts and those of GPUs together. */
static bool join(const struct topic_run *r, struct counts *of, bool ok)
{
	struct model *m = r->m;
	struct model_private *p = m->private_;
	double *divisors = calloc(m->n_metrics + 1, sizeof *divisors);
	ok = ok && divisors;
	for (unsigned w = 1; ok && w < r->n_workers; w++)
		ok = add_all(&of[0], of[w].list.at, of[w].list.n);
	ok = add_parts(r, &of[0], ok) && add_all(&of[0], p->instructions.at, p->instructions.n);
	vec_clear(&p->instructions);
	ok = ok && vec_reserve(&p->instructions, of[0].list.n + 1);
	if (ok) {
		describe_divisors(m, divisors);
		for (size_t k = 0; k < of[0].list.n; k++) {
			struct model_instruction *to = vec_push(&p->instructions);
			*to = of[0].list.at[k];
			to->value /= divisors[to->metric];
		}
		if (p->instructions.n)
			qsort(p->instructions.at, p->instructions.n, sizeof *p->instructions.at,
			      compare);
		m->instructions = p->instructions.at;
		m->n_instructions = p->instructions.n;
	}
	free(divisors);
	return ok;
}

bool attribute_instructions(struct attribution *a)
{
	struct topic_run *r = &a->run;
	if (!a->o->instructions)
		return true;
	struct counting c = {a, calloc(r->n_workers, sizeof *c.of)};
	struct counts none = {0};
	if (!c.of)
		return add_parts(r, &none, false);
	pool_run_shown("instructions", r->threads.n, r->n_workers, count_thread, &c);
	const bool ok = join(r, c.of, !atomic_load(&a->failed));
	for (unsigned w = 0; w < r->n_workers; w++) {
		map_free(&c.of[w].index);
		vec_free(&c.of[w].list);
	}
	free(c.of);
	return ok;
}
