/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the samples of waiting warps a second time, at the instructions that they waited for. See
 * gpu_samples_run.h. Test: tests/unit/prof_gpu/test_gpu_blame.c.
 */
#include "hpcprof-lite/attribute/gpu/samples/gpu_blame.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_samples_run.h"

#include <math.h>

struct place_counts {
	const struct gpu_samples_run *r;
	uint32_t module;
};

static struct gpu_call_counts counts_at(const struct place_counts *c, uint64_t link_addr)
{
	uint64_t at = map_get(&c->r->count_index, c->module, link_addr);
	return at == MAP_NONE ? (struct gpu_call_counts){0} : c->r->counts.at[at];
}

/* Samples of warps that issued count how often an instruction ran. */
static uint64_t executions(const void *arg, uint64_t link_addr)
{
	return counts_at(arg, link_addr).n_issued;
}

/*
 * Like executions(). On an H200, the first instruction after a jump gets no samples of warps that
 * issue, so the next instruction may stand in for it.
 */
static uint64_t issues(const struct place_counts *c, uint64_t link_addr)
{
	uint64_t n = executions(c, link_addr);
	return n ? n : executions(c, link_addr + GPU_CALLS_INSTRUCTION);
}

/*
 * Cycles for each execution. A warp is sampled once for each cycle that it spends at an
 * instruction.
 */
static double cycles_at(const struct place_counts *c, uint64_t link_addr)
{
	uint64_t n = issues(c, link_addr);
	return (double)counts_at(c, link_addr).n / (double)(n ? n : 1);
}

static bool choose(const struct gpu_samples_run *r, struct gpu_choice *choice, uint32_t module,
		   uint64_t link_addr, enum gpu_dependency d)
{
	enum { FEW = 16 };
	uint64_t few[FEW];
	VEC(uint64_t) many = {0};
	if (!gpu_causes_find(&choice->causes, expand_gpu_structure(r->s->expand, module), link_addr,
			     d, executions, &(struct place_counts){r, module}))
		return false;
	size_t n = choice->causes.n;
	uint64_t *weights = n <= FEW ? few : vec_extend(&many, n);
	for (size_t i = 0; weights && i < n; i++)
		weights[i] = choice->causes.at[i].weight;
	bool ok = weights &&
		  (!n || gpu_shares_begin(&choice->shares, weights, n, GPU_SHARES_ROOT_TWO));
	vec_free(&many);
	return ok;
}

/* Returns what an instruction waits for, and finds it on first use. NULL: memory is short. */
static struct gpu_choice *choice_of(struct gpu_samples_run *r, uint32_t module, uint64_t link_addr,
				    enum gpu_dependency d)
{
	uint64_t index =
		map_put(&r->choice_index, link_addr, (uint64_t)module << 8 | d, r->choices.n);
	if (index == MAP_NONE)
		return NULL;
	if (index < r->choices.n)
		return &r->choices.at[index];
	struct gpu_choice *new = vec_push(&r->choices);
	return new &&choose(r, new, module, link_addr, d) ? new : NULL;
}

static bool add(struct gpu_samples_run *r, const struct gpu_stalled *w, uint32_t context,
		uint32_t metric, uint64_t n)
{
	return gpu_metrics_add(r->s->metrics, r->s->extras,
			       &(struct sum_extra){.thread = w->thread,
						   .context = context,
						   .metric = metric,
						   .n_samples = n,
						   .sum = n});
}

struct blaming {
	struct gpu_samples_run *r;
	const struct gpu_stalled *w;
	const struct gpu_choice *choice;
	enum gpu_dependency d;
	struct place_counts places;
	uint64_t link_addr;
	double cycles; /* cycles that a warp waits each time */
};

/* The context of a cause, in the frame in which the instruction waited. */
static uint32_t context_of(const struct blaming *b, uint64_t link_addr)
{
	const struct gpu_stalled *w = b->w;
	struct expand_run *e = b->r->s->expand;
	if (w->is_called)
		return expand_gpu_frame(e, w->above, w->code->module, link_addr);
	struct expand_kernel f =
		gpu_samples_function(b->r->g, b->r->s->module_of, w->sample->function);
	return expand_gpu_place(e, w->above, &f, link_addr - w->code->entry);
}

/* Records that n samples of an entry of the blames wait for a cause. */
static bool add_issue(const struct blaming *b, const struct structure_cause *c, uint64_t blame,
		      uint64_t n)
{
	struct gpu_samples_run *r = b->r;
	uint64_t issue = map_put(&r->issue_index, b->places.module, c->link_addr, r->issues.n);
	if (issue == MAP_NONE)
		return false;
	if (issue == r->issues.n) {
		struct gpu_issue *new = vec_push(&r->issues);
		if (!new)
			return false;
		*new = (struct gpu_issue){.n_issued = issues(&b->places, c->link_addr),
					  .bytes = c->bytes};
	}
	uint64_t part = map_put(&r->issue_part_index, issue, blame, r->issue_parts.n);
	if (part == MAP_NONE)
		return false;
	if (part == r->issue_parts.n) {
		struct gpu_issue_part *new = vec_push(&r->issue_parts);
		if (!new)
			return false;
		*new = (struct gpu_issue_part){issue, blame, 0};
	}
	r->issue_parts.at[part].n_waiting += n;
	r->issues.at[issue].n_waiting += n;
	return true;
}

/*
 * A wait is for all instructions that hold its barriers, including overlapped ones that get no
 * blame.
 */
static bool add_issues(const struct blaming *b, uint64_t blame, uint64_t n,
		       enum structure_operation operation)
{
	const struct structure *s = expand_gpu_structure(b->r->s->expand, b->places.module);
	struct structure_wait wait;
	bool ok = true;
	if (!structure_find_wait(s, b->link_addr, &wait))
		return true;
	for (size_t i = 0; ok && i < wait.n; i++) {
		struct structure_cause c = structure_get_cause(s, wait.first + i);
		bool is_late = c.kind == STRUCTURE_WAIT_RESULT || c.kind == STRUCTURE_WAIT_OPERANDS;
		if (is_late && c.operation == operation)
			ok = add_issue(b, &c, blame, n);
	}
	return ok;
}

void gpu_samples_share_issues(struct gpu_samples_run *r)
{
	for (size_t i = 0; i < r->issue_parts.n; i++) {
		const struct gpu_issue_part *p = &r->issue_parts.at[i];
		struct gpu_issue *of = &r->issues.at[p->issue];
		struct model_gpu_blame *to = &r->s->blames->list.at[p->blame];
		of->passed += p->n_waiting;
		double share = (double)of->passed / (double)(of->n_waiting ? of->n_waiting : 1);
		uint64_t dealt = of->passed == of->n_waiting
					 ? of->n_issued
					 : (uint64_t)((double)of->n_issued * share);
		to->n_issued += dealt - of->dealt;
		to->bytes_issued += (dealt - of->dealt) * of->bytes;
		of->dealt = dealt;
	}
}

static bool give_to_cause(void *arg, size_t i, uint64_t part)
{
	const struct blaming *b = arg;
	const struct gpu_cause *c = &b->choice->causes.at[i];
	const struct model_gpu_blame blame = {.profile = b->w->thread,
					      .waiting = b->w->context,
					      .cause = context_of(b, c->link_addr),
					      .metric = gpu_samples_metric_of(b->r, b->w->sample),
					      .n = part,
					      .cycles = (double)part * b->cycles,
					      .kind = (uint8_t)c->kind,
					      .operation = (uint8_t)c->operation,
					      .is_carried = c->is_carried,
					      .is_chained = c->is_chained,
					      .is_before = c->is_before};
	uint64_t at = gpu_blame_add(b->r->s->blames, &blame);
	return at != MAP_NONE && add_issues(b, at, part, c->operation) &&
	       add(b->r, b->w, blame.cause, GPU_BLAMED, part) &&
	       add(b->r, b->w, blame.cause, GPU_BLAMED_FOR + b->d - GPU_DEPENDS_ON_MEMORY, part);
}

/*
 * The samples of warps that issued only because threads of a warp took different paths, between the
 * BSSY `from` and `to`, where all are together again. A warp issues the BSSY once. The BSYNC before
 * `to` jumps to the next path, if there is one; the first instruction there is counted behind the
 * jump, so at `to`, which has a sample for each path.
 */
static uint64_t divergent_issues(const struct place_counts *c, uint64_t from, uint64_t to)
{
	enum { MOST_BYTES = 1 << 16 };
	const uint64_t step = GPU_CALLS_INSTRUCTION, passes = executions(c, to),
		       after = executions(c, to + step), before = executions(c, from - step),
		       start = executions(c, from);
	uint64_t once = start > before ? start : before, inside = 0;
	once = once > after ? once : after;
	/* three standard errors above two paths */
	if (to <= from || to - from > MOST_BYTES || !once ||
	    (double)passes < 2 * (double)once + 3 * sqrt((double)once))
		return 0;
	for (uint64_t at = from + step; at < to; at += step)
		inside += executions(c, at);
	return (uint64_t)((double)inside * (1 - (double)once / (double)passes));
}

/* Records once what divergence costs that ends here: a blame without a sample. */
static bool note_paths(struct gpu_samples_run *r, const struct gpu_stalled *w)
{
	enum { NO_DEPENDENCY = 255 };
	const struct structure *s =
		w->code ? expand_gpu_structure(r->s->expand, w->code->module) : NULL;
	struct structure_wait wait;
	const uint64_t link_addr = w->code ? w->code->entry + w->sample->offset : 0;
	if (!s || !structure_find_wait(s, link_addr, &wait))
		return true;
	for (size_t i = 0; i < wait.n; i++) {
		const struct structure_cause c = structure_get_cause(s, wait.first + i);
		if (c.kind != STRUCTURE_WAIT_PATHS)
			continue;
		const uint64_t key = (uint64_t)w->code->module << 8 | NO_DEPENDENCY,
			       index = map_put(&r->choice_index, link_addr, key, r->choices.n);
		if (index != r->choices.n)
			return index != MAP_NONE;
		struct gpu_choice *seen = vec_push(&r->choices);
		if (!seen)
			return false;
		*seen = (struct gpu_choice){0};
		const struct place_counts places = {r, w->code->module};
		const struct blaming b = {.r = r, .w = w, .places = places};
		const uint64_t n = divergent_issues(&places, c.link_addr, link_addr);
		if (n && gpu_blame_add(r->s->blames,
				       &(struct model_gpu_blame){
					       .profile = w->thread,
					       .waiting = w->context,
					       .cause = context_of(&b, c.link_addr),
					       .metric = gpu_samples_metric_of(r, w->sample),
					       .n_issued = n,
					       .kind = (uint8_t)c.kind,
					       .operation = (uint8_t)c.operation}) == MAP_NONE)
			return false;
	}
	return true;
}

bool gpu_samples_blame(struct gpu_samples_run *r, const struct gpu_stalled *w)
{
	if (r->s->blames && !note_paths(r, w))
		return false;
	enum gpu_dependency d =
		gpu_metrics_dependency(r->s->metrics, gpu_samples_metric_of(r, w->sample));
	if (!r->s->blames || d == GPU_DEPENDS_ON_NOTHING)
		return true;
	const struct structure *s =
		w->code ? expand_gpu_structure(r->s->expand, w->code->module) : NULL;
	if (!s || !structure_n_waits(s))
		return add(r, w, w->context, GPU_UNBLAMED, w->n);
	uint64_t link_addr = w->code->entry + w->sample->offset;
	struct gpu_choice *choice = choice_of(r, w->code->module, link_addr, d);
	if (!choice)
		return false;
	if (!choice->causes.n)
		return add(r, w, w->context, GPU_UNBLAMED, w->n);
	const struct place_counts places = {r, w->code->module};
	struct blaming b = {r, w, choice, d, places, link_addr, cycles_at(&places, link_addr)};
	return gpu_shares_deal(&choice->shares, w->n, give_to_cause, &b);
}
