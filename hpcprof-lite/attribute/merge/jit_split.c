/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Renames the nodes of one thread. If an address had several functions over time, splits the node;
 * see jit_rename_nodes() in jit_names.h. Copies replace the thread's nodes, cells and time lines,
 * so the rest of the program does not see the change. Tests: tests/unit/prof/test_jit.c,
 * tests/cli/jit/jit_names.sh.
 */
#include "hpcprof-lite/attribute/merge/jit_names.h"

#include "common/base/sorted.h"
#include "common/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Samples of a metric at one variant of a node. */
struct tally {
	uint32_t node, variant;
	uint32_t metric;
	uint64_t n;
};

struct split {
	struct load_file *file;
	struct load_thread *thread;
	const struct jit_addresses *addresses;
	VEC(struct msr_node) nodes;   /* the nodes of the thread, then variants */
	/*
	 * by node: index of its address + 1 if that address had several functions; BELOW: only a
	 * node above it had
	 */
	uint32_t *choices_of;
	VEC(uint32_t) chain;
	struct map variants;          /* (node, variant of its parent; place) -> variant */
	VEC(struct tally) tallies;
	struct map tally_ids;         /* (variant, metric) -> index in tallies */
};

#define BELOW UINT32_MAX

static bool own(struct load_file *f, void *memory)
{
	void **slot = memory ? vec_push(&f->owned) : NULL;
	if (slot)
		*slot = memory;
	else
		free(memory);
	return slot != NULL;
}

/* ---- nodes ---- */

static bool copy_nodes(struct split *s)
{
	if (!vec_extend(&s->nodes, s->thread->n_nodes))
		return false;
	for (size_t p = 0; p < s->thread->nodes.n; p++) {
		const struct load_part *part = &s->thread->nodes.at[p];
		memcpy(s->nodes.at + part->first, part->content, part->n_bytes);
	}
	return true;
}

/* Gives nodes their places. True if some node had several functions over time. */
static bool rename(struct split *s)
{
	bool any = false;
	for (uint32_t i = 1; i < s->thread->n_nodes; i++) {
		struct msr_node *n = &s->nodes.at[i];
		if (s->thread->node_to[i] == LOAD_DAMAGED)
			continue;
		if (n->parent && s->choices_of[n->parent])
			s->choices_of[i] = BELOW;
		uint64_t id = msr_addr_module(n->addr) == MSR_MODULE_UNKNOWN
			? map_get(&s->addresses->ids, msr_addr_link(n->addr), 0) : MAP_NONE;
		if (id == MAP_NONE || s->addresses->list.at[id].place == JIT_NO_PLACE)
			continue;
		n->addr = msr_addr_make(s->addresses->module, s->addresses->list.at[id].place,
			msr_addr_marked(n->addr));
		if (s->addresses->list.at[id].n_choices && id + 1 < BELOW) {
			s->choices_of[i] = (uint32_t)id + 1;
			any = true;
		}
	}
	return any;
}

/* The function at that time. Before the first known function, returns the first. */
static uint32_t place_at(const struct split *s, uint32_t address, uint64_t time_ns)
{
	const struct jit_address *a = &s->addresses->list.at[address];
	const struct jit_choice *choices = s->addresses->choices.at + a->first_choice;
	uint32_t n = a->n_choices;
	while (n > 1 && choices[n - 1].time_ns > time_ns)
		n--;
	return choices[n - 1].place;
}

static bool get_variant(struct split *s, uint32_t node, uint32_t parent, uint64_t time_ns,
	uint32_t *variant)
{
	uint32_t choices = s->choices_of[node];
	uint32_t place = choices == BELOW ? JIT_NO_PLACE : place_at(s, choices - 1, time_ns);
	uint64_t id = map_put(&s->variants, (uint64_t)node << 32 | parent, place, s->nodes.n);
	if (id == s->nodes.n && id <= MSR_TRACE_NODE_MAX) {
		struct msr_node *to = vec_push(&s->nodes);
		if (!to)
			return false;
		*to = s->nodes.at[node];
		to->parent = parent;
		if (place != JIT_NO_PLACE)
			to->addr = msr_addr_make(s->addresses->module, place,
						 msr_addr_marked(to->addr));
	}
	*variant = (uint32_t)id;
	return id <= MSR_TRACE_NODE_MAX;
}

/*
 * Finds the node, or its variant at a time. Variants exist if the node or a node above it had
 * several functions.
 */
static bool variant_of(struct split *s, uint32_t node, uint64_t time_ns, uint32_t *variant)
{
	vec_clear(&s->chain);
	for (; s->choices_of[node]; node = s->nodes.at[node].parent) {
		uint32_t *to = vec_push(&s->chain);
		if (!to)
			return false;
		*to = node;
	}
	*variant = node;
	for (size_t i = s->chain.n; i-- > 0;)
		if (!get_variant(s, s->chain.at[i], *variant, time_ns, variant))
			return false;
	return true;
}

/* ---- time line ---- */

static bool count(struct split *s, uint32_t node, uint32_t variant, unsigned metric)
{
	uint64_t id = map_put(&s->tally_ids, variant, metric, s->tallies.n);
	if (id == MAP_NONE)
		return false;
	if (id == s->tallies.n) {
		struct tally *t = vec_push(&s->tallies);
		if (!t)
			return false;
		*t = (struct tally){node, variant, metric, 0};
	}
	s->tallies.at[id].n++;
	return true;
}

static bool read_trace(struct split *s, struct load_part *part)
{
	uint64_t *copy = malloc(part->n_bytes + 1);
	if (!own(s->file, copy))
		return false;
	memcpy(copy, part->content, part->n_bytes);
	struct load_trace_step step = {.time_ns = part->first,
		.latest_ns = s->file->header.start_mono_ns + LOAD_LONGEST_NS};
	while (load_trace_next(part, &step)) {
		uint32_t variant;
		if (step.node >= s->thread->n_nodes || s->thread->node_to[step.node] == LOAD_DAMAGED
			|| !s->choices_of[step.node])
			continue;
		if (!variant_of(s, step.node, step.time_ns, &variant)
			|| !count(s, step.node, variant, step.metric))
			return false;
		uint64_t *word = &copy[step.offset / sizeof *copy - 1];
		*word = (*word & ~(uint64_t)MSR_TRACE_NODE_MAX) | variant;
	}
	part->content = (const uint8_t *)copy;
	return true;
}

/* ---- cells ---- */

static int compare_tallies(const void *pa, const void *pb)
{
	const struct tally *a = pa, *b = pb;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	return (a->variant > b->variant) - (a->variant < b->variant);
}

typedef VEC(struct msr_cell) cell_list;

static bool add_cell(cell_list *cells, uint32_t node, unsigned metric, uint64_t n, uint64_t sum)
{
	struct msr_cell *c = vec_push(cells);
	if (!c)
		return false;
	c->node = node;
	c->metric = (uint16_t)metric;
	c->count = n;
	c->sum = sum;
	return true;
}

/* Divides a cell among the variants of its node. What has no trace record stays with the node. */
static bool split_cell(struct split *s, const struct msr_cell *cell, cell_list *out)
{
	const uint32_t node = cell->node, metric = cell->metric;
	size_t low = sorted_below(s->tallies.at, s->tallies.n, node, node),
	       n_of_node = sorted_up_to(s->tallies.at + low, s->tallies.n - low, node, node);
	uint64_t n = cell->count, n_left = n, sum_left = cell->sum;
	low += sorted_below(s->tallies.at + low, n_of_node, metric, metric);
	for (; low < s->tallies.n && s->tallies.at[low].node == node
		&& s->tallies.at[low].metric == metric; low++) {
		struct tally *t = &s->tallies.at[low];
		uint64_t take = t->n < n_left ? t->n : n_left;
		uint64_t sum = take == n_left ? sum_left
			: (uint64_t)((unsigned __int128)cell->sum * take / n);
		if (take && !add_cell(out, t->variant, cell->metric, take, sum))
			return false;
		t->n -= take;
		n_left -= take;
		sum_left -= take ? sum : 0;
	}
	return (!n_left && !sum_left) || add_cell(out, cell->node, cell->metric, n_left, sum_left);
}

static bool split_cells(struct split *s)
{
	struct load_thread *t = s->thread;
	cell_list out = {0};
	bool ok = true;
	if (s->tallies.n)
		qsort(s->tallies.at, s->tallies.n, sizeof *s->tallies.at, compare_tallies);
	for (size_t p = 0; ok && p < t->cells.n; p++) {
		const struct msr_cell *cells = (const void *)t->cells.at[p].content;
		for (size_t i = 0; ok && i < t->cells.at[p].n_bytes / sizeof *cells; i++) {
			const struct msr_cell *c = &cells[i];
			if (!load_cell_is_sound(s->file, t, c))
				continue;
			ok = s->choices_of[c->node] ? split_cell(s, c, &out)
				: add_cell(&out, c->node, c->metric, c->count, c->sum);
		}
	}
	if (!ok || !out.n || !own(s->file, out.at)) {
		if (!ok)
			vec_free(&out);
		return ok && !out.n;
	}
	t->cells.n = 1;
	t->cells.at[0] = (struct load_part){.content = (const uint8_t *)out.at,
		.n_bytes = out.n * sizeof *out.at};
	return true;
}

/*
 * Drops nodes whose samples all went to variants, as damaged nodes are dropped. Keeps all nodes if
 * there are GPU launches, because these also name nodes and are not split.
 */
static bool drop_empty(struct split *s)
{
	struct load_thread *t = s->thread;
	bool *kept = s->file->gpu.is_present ? NULL : calloc(t->n_nodes, sizeof *kept);
	if (!kept)
		return s->file->gpu.is_present;
	for (size_t p = 0; p < t->cells.n; p++) {
		const struct msr_cell *cells = (const void *)t->cells.at[p].content;
		for (size_t i = 0; i < t->cells.at[p].n_bytes / sizeof *cells; i++)
			for (uint32_t at = cells[i].node; at && at < t->n_nodes && !kept[at];
				at = s->nodes.at[at].parent)
				kept[at] = true;
	}
	for (uint32_t i = 1; i < t->n_nodes; i++)
		if (s->choices_of[i] && !kept[i])
			t->node_to[i] = LOAD_DAMAGED;
	free(kept);
	return true;
}

/* ---- the whole ---- */

static bool split_by_time(struct split *s)
{
	for (size_t p = 0; p < s->thread->trace.n; p++)
		if (!read_trace(s, &s->thread->trace.at[p]))
			return false;
	return split_cells(s) && drop_empty(s);
}

/* Replaces the thread's nodes by the new ones. */
static bool publish_nodes(struct split *s)
{
	struct load_thread *t = s->thread;
	uint32_t *node_to = realloc(t->node_to, s->nodes.n * sizeof *node_to);
	if (!node_to)
		return false;
	memset(node_to + t->n_nodes, 0, (s->nodes.n - t->n_nodes) * sizeof *node_to);
	t->node_to = node_to;
	t->n_nodes = (uint32_t)s->nodes.n;
	t->nodes.n = 1;
	t->nodes.at[0] = (struct load_part){.content = (const uint8_t *)s->nodes.at,
		.n_bytes = s->nodes.n * sizeof *s->nodes.at};
	bool ok = own(s->file, s->nodes.at);
	s->nodes.at = NULL;
	return ok;
}

bool jit_rename_nodes(struct load_file *f, struct load_thread *t, const struct jit_addresses *a)
{
	struct split s = {.file = f, .thread = t, .addresses = a};
	if (t->nodes.n == 0)
		return true;
	s.choices_of = calloc(t->n_nodes, sizeof *s.choices_of);
	bool ok = s.choices_of && copy_nodes(&s);
	if (ok && rename(&s))
		ok = split_by_time(&s);
	ok = ok && publish_nodes(&s);
	free(s.choices_of);
	vec_free(&s.nodes);
	vec_free(&s.chain);
	map_free(&s.variants);
	vec_free(&s.tallies);
	map_free(&s.tally_ids);
	return ok;
}
