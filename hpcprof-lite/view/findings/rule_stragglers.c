/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rank that is late to the collective operations of PyTorch, on processors (gloo) or GPUs
 * (NCCL), and what it does more than the others: in a backward pass, the forward line. Doc:
 * doc/findings.md#ranks. Tests: tests/unit/prof/test_findings_jobs.c,
 * tests/unit/prof_nccl/test_nccl.c, tests/cli/torch/torch_straggler.sh.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What the main thread of a process waited at a line. */
struct wait {
	uint32_t site, profile;
	double seconds;
};

/* A process, in elapsed seconds. */
struct member {
	double late;   /* each of the others waited for it */
	double waited; /* it waited for others */
	double most;   /* of `late`, at one line */
	uint32_t site; /* this line; MODEL_NONE: none */
	bool is_there; /* it takes part */
};

struct ranks {
	struct member *at; /* by process */
	uint32_t n;        /* of those that take part */
};

static void add_member(struct ranks *l, uint32_t process)
{
	l->n += !l->at[process].is_there;
	l->at[process].is_there = true;
}

static void add_late(struct ranks *l, uint32_t process, uint32_t site, double seconds)
{
	struct member *x = &l->at[process];
	x->late += seconds;
	if (seconds > x->most) {
		x->most = seconds;
		x->site = site;
	}
}

/* ---- who ---- */

static bool is_main_of_rank(const struct model *m, const struct model_profile *t)
{
	return t->kind == MODEL_PROFILE_THREAD && t->thread == 0 &&
	       m->processes[t->process].rank >= 0;
}

struct waits {
	VEC(struct wait) list;
};

static bool gather(const struct finding_run *r, struct waits *w)
{
	const struct model *m = r->m;
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		const struct model_profile *t = &m->profiles[p];
		for (size_t i = 0; is_main_of_rank(m, t) && i < t->n_values; i++) {
			const struct model_value *v = &t->values[i];
			if (!m->metrics[v->metric].is_time ||
			    m->contexts[v->context].activity != MODEL_TORCH_COLLECTIVE)
				continue;
			struct wait *one = vec_extend(&w->list, 1);
			if (!one)
				return false;
			*one = (struct wait){finding_site(r, v->context), p, v->at[MODEL_POINT]};
		}
	}
	return true;
}

static int compare_waits(const void *pa, const void *pb)
{
	const struct wait *a = pa, *b = pb;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return (a->profile > b->profile) - (a->profile < b->profile);
}

/* True if the thread was ever seen at this line: it takes part in what waits there. */
static bool was_there(const struct model *m, uint32_t profile, uint32_t site)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].is_time && model_find_value(m, profile, site, i))
			return true;
	return false;
}

/* The rank that comes last waits least. `at` has the n waits at one line, by profile. */
static void judge(const struct model *m, const struct wait *at, size_t n, struct ranks *l)
{
	double all = 0, least = 0;
	uint32_t last = MODEL_NONE, n_there = 0;
	size_t i = 0;
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		double seconds = 0;
		if (!is_main_of_rank(m, &m->profiles[p]) ||
		    ((i == n || at[i].profile != p) && !was_there(m, p, at->site)))
			continue;
		for (; i < n && at[i].profile == p; i++)
			seconds += at[i].seconds;
		all += seconds;
		l->at[m->profiles[p].process].waited += seconds;
		n_there++;
		if (last == MODEL_NONE || seconds < least) {
			least = seconds;
			last = m->profiles[p].process;
		}
	}
	if (n_there > 1)
		add_late(l, last, at->site, (all - least) / (n_there - 1) - least);
}

static bool by_processors(const struct finding_run *r, struct ranks *l)
{
	const struct model *m = r->m;
	struct waits w = {0};
	const bool ok = gather(r, &w);
	if (ok && w.list.n)
		qsort(w.list.at, w.list.n, sizeof *w.list.at, compare_waits);
	for (size_t i = 0, end; ok && i < w.list.n; i = end) {
		for (end = i; end < w.list.n && w.list.at[end].site == w.list.at[i].site;)
			end++;
		judge(m, &w.list.at[i], end - i, l);
	}
	for (uint32_t p = 0; w.list.n && p < m->n_profiles; p++)
		if (is_main_of_rank(m, &m->profiles[p]))
			add_member(l, m->profiles[p].process);
	vec_free(&w.list);
	return ok;
}

/* At one operation and line: for whom the others waited longest, less what they have in return. */
static void judge_gpus(const struct model *m, const struct model_mpi_site *site, struct ranks *l)
{
	const struct model_nccl *n = m->nccl;
	const struct model_mpi_late *late = &n->late[site->first_late];
	double others = 0;
	for (uint32_t i = 1; i < site->n_late; i++) /* the first has most */
		others += (double)late[i].waited_ns / 1e9;
	if (site->n_late)
		add_late(l, m->profiles[late->profile].process, late->context,
			 ((double)late->waited_ns / 1e9 - others) / (n->n_devices - 1));
}

static bool by_gpus(const struct model *m, struct ranks *l)
{
	const struct model_nccl *n = m->nccl;
	if (!n || n->n_devices < 2)
		return false;
	for (uint32_t i = 0; i < n->n_devices; i++) {
		add_member(l, n->devices[i].process);
		l->at[n->devices[i].process].waited += (double)n->devices[i].waited_ns / 1e9;
	}
	for (uint32_t i = 0; i < n->n_sites; i++)
		judge_gpus(m, &n->sites[i], l);
	return true;
}

/* ---- where ---- */

/* The row "backward" at or above the context, the innermost one; MODEL_NONE: none. */
static uint32_t backward_of(const struct model *m, uint32_t context)
{
	for (uint32_t c = context; c != MODEL_NONE; c = m->contexts[c].parent) {
		const struct model_context *x = &m->contexts[c];
		if (x->kind == MODEL_CONTEXT_FUNCTION && x->function < m->n_functions &&
		    m->functions[x->function].is_operator &&
		    strcmp(m->functions[x->function].name, "backward") == 0)
			return c;
	}
	return MODEL_NONE;
}

static const char *torch_module_of(const struct model *m, uint32_t context)
{
	for (uint32_t c = context; c != MODEL_NONE; c = m->contexts[c].parent) {
		const uint32_t function = m->contexts[c].function;
		if (function < m->n_functions && m->functions[function].is_torch_module)
			return m->functions[function].name;
	}
	return "";
}

/* Time that says what a rank did: not that it waited for others, or for its own threads. */
static bool is_own_time(const struct model *m, const struct model_value *v)
{
	const unsigned activity = m->contexts[v->context].activity;
	if (m->metrics[v->metric].role == MODEL_ROLE_KERNEL_TIME)
		return strncmp(finding_function(m, v->context), "nccl", 4) != 0;
	return m->metrics[v->metric].is_time && activity != MODEL_TORCH_COLLECTIVE &&
	       activity != MODEL_GPU_WAIT && activity != MODEL_BLOCKED_THREAD;
}

static bool is_module_code(const struct model *m, uint32_t context)
{
	const uint32_t function = m->contexts[context].function;
	return m->contexts[context].kind == MODEL_CONTEXT_FUNCTION && function < m->n_functions &&
	       strcmp(m->functions[function].name, "<module>") == 0;
}

/*
 * The function of the program around a line: what it calls leads to the waits at the line.
 * MODEL_NONE: not known, as in threads of autograd.
 */
static uint32_t find_scope(const struct finding_run *r, uint32_t line)
{
	for (uint32_t c = line; c != MODEL_NONE; c = r->m->contexts[c].parent)
		if (r->m->contexts[c].kind == MODEL_CONTEXT_FUNCTION)
			return r->m->contexts[c].module < r->m->n_modules &&
					       r->own[r->m->contexts[c].module]
				       ? c
				       : MODEL_NONE;
	return MODEL_NONE;
}

/* Clears weights outside of the scope, and in imports, whose time differs by chance. */
static void keep_scope(const struct model *m, uint32_t scope, double *weights, uint8_t *state)
{
	enum { IN_MODULE = 1, IN_SCOPE = 2, IN_IMPORT = 4 };
	for (uint32_t c = 1; c < m->n_contexts; c++) {
		state[c] = state[m->contexts[c].parent] | (c == scope ? IN_SCOPE : 0);
		if (is_module_code(m, c))
			state[c] |= state[c] & IN_MODULE ? IN_IMPORT : IN_MODULE;
		if (state[c] & IN_IMPORT || (scope != MODEL_NONE && !(state[c] & IN_SCOPE)))
			weights[c] = 0;
	}
}

/* Weighs contexts by what the rank spends there more than the mean of the others. */
static void weigh_excess(const struct finding_run *r, const struct ranks *l, uint32_t late,
			 double *weights)
{
	const struct model *m = r->m;
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		const struct model_profile *t = &m->profiles[p];
		const double factor = t->process == late ? 1 : -1.0 / (l->n - 1);
		if (!l->at[t->process].is_there ||
		    (t->kind == MODEL_PROFILE_THREAD && !view_is_used_thread(m, t)))
			continue;
		for (size_t i = 0; i < t->n_values; i++)
			if (is_own_time(m, &t->values[i]))
				weights[t->values[i].context] +=
					factor * t->values[i].at[MODEL_POINT];
	}
}

/*
 * What is in a backward pass counts at the forward line. Sets rows[] of this line to the row
 * "backward" below it that has most of its weight; MODEL_NONE: none. `in_row` is for this function.
 */
static void move_to_forward(const struct finding_run *r, double *weights, double *in_row,
			    uint32_t *rows)
{
	const struct model *m = r->m;
	for (uint32_t c = 0; c < m->n_contexts; c++) {
		const uint32_t row = weights[c] != 0 ? backward_of(m, c) : MODEL_NONE;
		rows[c] = MODEL_NONE;
		if (row == MODEL_NONE)
			continue;
		in_row[row] += weights[c];
		weights[c] = 0;
	}
	for (uint32_t row = 1; row < m->n_contexts; row++) {
		if (in_row[row] == 0)
			continue;
		const uint32_t line = finding_site(r, m->contexts[row].parent);
		weights[line] += in_row[row];
		if (rows[line] == MODEL_NONE || in_row[row] > in_row[rows[line]])
			rows[line] = row;
	}
	for (uint32_t c = 0; c < m->n_contexts; c++)
		if (rows[c] != MODEL_NONE && in_row[rows[c]] <= weights[c] / 2)
			rows[c] = MODEL_NONE;
}

/* `row`: the row "backward" that it is about; MODEL_NONE: none. */
static void put_subject(const struct model *m, struct finding *f, uint32_t row)
{
	const struct model_process *p = &m->processes[f->process];
	const char *module = row != MODEL_NONE ? torch_module_of(m, row)
			     : f->n_places     ? torch_module_of(m, f->places[0].context)
					       : "";
	char who[32];
	if (p->rank >= 0)
		snprintf(who, sizeof who, "rank %" PRId32, p->rank);
	else
		snprintf(who, sizeof who, "pid %" PRIu32, p->pid);
	snprintf(f->subject, sizeof f->subject, "%s%s%s%s", who,
		 row != MODEL_NONE ? ", in the backward pass" : "",
		 *module ? row != MODEL_NONE ? " of " : ", in " : "", module);
}

static bool put_straggler(const struct finding_run *r, const struct ranks *l, struct finding *f)
{
	const struct model *m = r->m;
	double *weights = finding_weights(m), *in_row = finding_weights(m);
	uint8_t *state = calloc((size_t)m->n_contexts + 1, sizeof *state);
	uint32_t *rows = calloc((size_t)m->n_contexts + 1, sizeof *rows);
	const bool ok = weights && in_row && state && rows;
	if (ok) {
		weigh_excess(r, l, f->process, weights);
		keep_scope(m, find_scope(r, l->at[f->process].site), weights, state);
		move_to_forward(r, weights, in_row, rows);
		finding_places(r, f, weights);
		put_subject(m, f, f->n_places ? rows[f->places[0].context] : MODEL_NONE);
	}
	free(weights);
	free(in_row);
	free(state);
	free(rows);
	return ok;
}

static bool add_straggler(struct finding_run *r, const struct ranks *l, struct findings *to)
{
	struct finding f =
		finding_begin("straggler", "a rank that the others wait for",
			      "make it as fast as the others: the same work, data and processors");
	double seconds = 0;
	for (uint32_t i = 0; i < r->m->n_processes; i++)
		if (l->at[i].late > seconds) {
			seconds = l->at[i].late;
			f.process = i;
		}
	if (l->n < 2 || !finding_is_large(r, seconds))
		return true;
	finding_fact(&f, "others waited for it, each", MODEL_SECONDS, seconds);
	finding_fact(&f, "it waited for others", MODEL_SECONDS, l->at[f.process].waited);
	return put_straggler(r, l, &f) &&
	       finding_add(r, to, &f, seconds, seconds / 2, seconds, seconds);
}

bool rule_stragglers(struct finding_run *r, struct findings *to)
{
	struct ranks l = {.at = calloc((size_t)r->m->n_processes + 1, sizeof *l.at)};
	const bool ok =
		l.at && (by_gpus(r->m, &l) || by_processors(r, &l)) && add_straggler(r, &l, to);
	free(l.at);
	return ok;
}
