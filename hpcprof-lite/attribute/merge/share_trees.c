/* SPDX-License-Identifier: BSD-3-Clause */
/* See share_trees.h. Test: tests/unit/prof_parts/test_parts.c. */
#include "hpcprof-lite/attribute/merge/share_trees.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 30 };

/* What a part knows about the parts that merge into it. */
struct joining {
	struct comm *c;
	struct merge_tree *tree;
	/* by step: the node of the tree for each node of the other part */
	uint32_t *to_node[MOST_STEPS];
	uint64_t n[MOST_STEPS];        /* nodes of the other part; 0: none merges in this step */
	uint64_t n_own;                /* nodes of this part when it merged into another */
};

static bool agree(struct comm *c, bool ok)
{
	return comm_agree(c, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
}

/*
 * The lower part of this part's pair at distance d. The upper part merges into it and is in no pair
 * afterwards. COMM_NOBODY: this part is in no pair.
 */
static int lower_of(const struct comm *c, int d)
{
	if (c->part % (2 * d) == d)
		return c->part - d;
	return c->part % (2 * d) == 0 && c->part + d < c->n_parts ? c->part : COMM_NOBODY;
}

/* Merges pairs at distance d. Begins and ends a step of all parts. */
static bool join_pairs(struct joining *j, unsigned step, int d)
{
	const struct comm *c = j->c;
	const int lower = lower_of(c, d);
	const bool gets = lower == c->part;
	struct merge_tree other = {0};
	uint64_t n = j->tree->nodes.n;
	bool ok = true;
	if (lower != COMM_NOBODY)
		comm_pass(c, lower + d, lower, &n, &n, sizeof n);
	if (gets) {
		j->n[step] = n;
		j->to_node[step] = malloc(n * sizeof *j->to_node[step]);
		ok = j->to_node[step] && vec_extend(&other.nodes, n);
	} else if (lower != COMM_NOBODY) {
		j->n_own = n;
	}
	ok = agree(j->c, ok);
	if (ok && lower != COMM_NOBODY)
		comm_pass(c, lower + d, lower, j->tree->nodes.at, other.nodes.at,
			  n * sizeof *other.nodes.at);
	ok = ok && (!gets || merge_trees(j->tree, &other, j->to_node[step]));
	merge_free(&other);
	return agree(j->c, ok);
}

/* Sends the nodes of the first part to all parts. */
static bool send_whole(struct joining *j)
{
	struct merge_tree *t = j->tree;
	uint64_t n = t->nodes.n;
	comm_broadcast(j->c, &n, sizeof n);
	if (j->c->part != 0)
		merge_free(t);
	else
		map_free(&t->index);
	if (!agree(j->c, j->c->part == 0 || vec_extend(&t->nodes, n)))
		return false;
	comm_broadcast(j->c, t->nodes.at, n * sizeof *t->nodes.at);
	return true;
}

/*
 * Tells the parts where their nodes are. Starts from the first part; each part then tells those
 * that merged into it.
 */
static void send_back(struct joining *j, uint32_t *to_whole)
{
	const struct comm *c = j->c;
	for (unsigned step = MOST_STEPS; step-- > 0;) {
		const int d = 1 << step, lower = d < c->n_parts ? lower_of(c, d) : COMM_NOBODY;
		const uint64_t n = lower == c->part ? j->n[step] : j->n_own;
		for (uint64_t i = 0; i < j->n[step]; i++)
			j->to_node[step][i] = to_whole[j->to_node[step][i]];
		if (lower != COMM_NOBODY)
			comm_pass(c, lower, lower + d, j->to_node[step], to_whole,
				  n * sizeof *to_whole);
	}
}

bool share_trees(struct comm *c, bool ok, struct merge_tree *tree, uint32_t **to_whole)
{
	struct joining j = {.c = c, .tree = tree};
	ok = agree(c, ok);
	for (unsigned step = 0; ok && step < MOST_STEPS && 1 << step < c->n_parts; step++)
		ok = join_pairs(&j, step, 1 << step);
	if (ok && c->part == 0)
		j.n_own = tree->nodes.n;
	*to_whole = ok ? malloc((j.n_own + 1) * sizeof **to_whole) : NULL;
	ok = agree(c, *to_whole) && send_whole(&j);
	for (uint64_t i = 0; ok && c->part == 0 && i < j.n_own; i++)
		(*to_whole)[i] = (uint32_t)i;
	if (ok)
		send_back(&j, *to_whole);
	for (unsigned step = 0; step < MOST_STEPS; step++)
		free(j.to_node[step]);
	return ok;
}
