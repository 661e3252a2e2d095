/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcstruct-lite/flow: blocks of written-out code, and loops against brute force on random
 * graphs. The brute force knows two truths. One is the meaning of Ramalingam's loops, written down
 * as it stands: of all blocks below a header in the depth-first tree, those that reach one of its
 * back edges there. The other does not depend on a tree: an edge to a block that dominates its
 * source makes a natural loop (Aho, Lam, Sethi, Ullman, "Compilers", 9.6), and each must be found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcstruct-lite/flow/flow.h"

#include <stdlib.h>
#include <string.h>

enum { MAX = 16, STEP = 4 };

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)(state * UINT64_C(2685821657736338717) >> 33) % n;
}

/* A graph as code: block i is at STEP * i, and ends with an indirect jump to its successors. */
struct graph {
	uint32_t n;
	bool edge[MAX][MAX];
	struct flow_transfer transfers[MAX];
	struct flow_edge edges[MAX * MAX];
	struct flow_range range;
	struct flow_code code;
};

static void finish_graph(struct graph *g)
{
	size_t n_edges = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		g->transfers[i] = (struct flow_transfer){STEP * i,     STEP * (i + 1), FLOW_NONE,
							 ISA_INDIRECT, false,          false};
		for (uint32_t k = 0; k < g->n; k++)
			if (g->edge[i][k])
				g->edges[n_edges++] = (struct flow_edge){STEP * i, STEP * k};
	}
	g->range = (struct flow_range){0, STEP * g->n};
	g->code = (struct flow_code){.ranges = &g->range,
				     .transfers = g->transfers,
				     .edges = g->edges,
				     .n_ranges = 1,
				     .n_transfers = g->n,
				     .n_edges = n_edges};
}

static void random_graph(struct graph *g)
{
	memset(g, 0, sizeof *g);
	g->n = 1 + below(MAX);
	for (uint32_t k = below(3 * g->n) + 1; k > 0; k--)
		g->edge[below(g->n)][below(g->n)] = true;
	for (uint32_t i = 0; i + 1 < g->n; i++)
		g->edge[i][i + 1] |= below(4) != 0;
	finish_graph(g);
}

/* Depth-first numbers by recursion, in the order of successors. */
struct tree {
	bool found[MAX], below[MAX][MAX]; /* below[a][b]: b is in the tree under a, or a itself */
	uint32_t path[MAX], depth, order[MAX], n;
};

static void grow(const struct graph *g, struct tree *t, uint32_t at)
{
	t->found[at] = true;
	t->order[t->n++] = at;
	t->path[t->depth++] = at;
	for (uint32_t i = 0; i < t->depth; i++)
		t->below[t->path[i]][at] = true;
	for (uint32_t k = 0; k < g->n; k++)
		if (g->edge[at][k] && !t->found[k])
			grow(g, t, k);
	t->depth--;
}

/* from reaches to on a path of blocks in `inside`. */
static bool reaches(const struct graph *g, const bool *inside, uint32_t from, uint32_t to,
		    bool *seen)
{
	if (from == to)
		return true;
	seen[from] = true;
	for (uint32_t k = 0; k < g->n; k++)
		if (g->edge[from][k] && inside[k] && !seen[k] && reaches(g, inside, k, to, seen))
			return true;
	return false;
}

struct truth {
	bool is_header[MAX], in[MAX][MAX],
		is_irreducible[MAX]; /* in[h][b]: b is in the loop of h */
	bool dominates[MAX][MAX], reachable[MAX];
};

static void find_truth(const struct graph *g, const struct tree *t, struct truth *x)
{
	memset(x, 0, sizeof *x);
	for (uint32_t h = 0; h < g->n; h++) {
		for (uint32_t b = 0; b < g->n; b++)
			x->is_header[h] |= t->below[h][b] && g->edge[b][h];
		if (!x->is_header[h])
			continue;
		x->in[h][h] = true;
		for (uint32_t b = 0; b < g->n; b++)
			for (uint32_t y = 0; y < g->n; y++) {
				bool seen[MAX] = {false};
				if (b != h && t->below[h][b] && t->below[h][y] && g->edge[y][h] &&
				    reaches(g, t->below[h], b, y, seen))
					x->in[h][b] = true;
			}
		for (uint32_t a = 0; a < g->n; a++)
			for (uint32_t b = 0; b < g->n; b++)
				x->is_irreducible[h] |= t->found[a] && !x->in[h][a] && b != h &&
							x->in[h][b] && g->edge[a][b];
	}
	for (uint32_t d = 0; d < g->n; d++)
		for (uint32_t b = 0; b < g->n; b++) {
			bool others[MAX], all[MAX], seen[MAX] = {false}, seen_all[MAX] = {false};
			for (uint32_t i = 0; i < MAX; i++) {
				others[i] = i != d;
				all[i] = true;
			}
			x->reachable[b] = reaches(g, all, 0, b, seen_all);
			x->dominates[d][b] = d == b || d == 0 || !reaches(g, others, 0, b, seen);
		}
}

static void check_graph(const struct graph *g, struct flow *f)
{
	struct tree t = {0};
	struct truth x;
	uint32_t loop_of[MAX];
	grow(g, &t, 0);
	find_truth(g, &t, &x);
	assert_true(flow_build(f, &g->code));
	assert_int_equal(f->n_blocks, g->n);
	assert_true(flow_find_loops(f, &g->code));
	memset(loop_of, 0xff, sizeof loop_of);
	for (uint32_t l = 0; l < f->loops.n; l++) {
		const struct flow_loop *loop = &f->loops.at[l];
		assert_true(loop->parent == FLOW_NONE
				    ? loop->depth == 0
				    : loop->parent < l &&
					      loop->depth == f->loops.at[loop->parent].depth + 1);
		assert_int_equal(loop_of[loop->header], FLOW_NONE);
		loop_of[loop->header] = l;
		assert_int_equal(loop->is_irreducible, x.is_irreducible[loop->header]);
	}
	for (uint32_t h = 0; h < g->n; h++) {
		assert_int_equal(loop_of[h] != FLOW_NONE, x.is_header[h]);
		for (uint32_t b = 0; b < g->n && x.is_header[h]; b++) {
			assert_int_equal(flow_contains(f, loop_of[h], f->innermost.at[b]),
					 x.in[h][b]);
			if (!x.is_irreducible[h] && x.in[h][b])
				assert_true(x.dominates[h][b]);
			if (x.reachable[b] && g->edge[b][h] && x.dominates[h][b])
				assert_true(flow_contains(f, loop_of[h], f->innermost.at[b]));
		}
	}
	for (uint32_t b = 0; b < g->n; b++)
		for (uint32_t h = 0; h < g->n; h++)
			if (x.reachable[b] && g->edge[b][h] && x.dominates[h][b])
				assert_true(x.is_header[h]);
}

static void test_random_graphs(void **unused)
{
	static struct graph g;
	struct flow f = {0};
	(void)unused;
	for (int i = 0; i < 30000; i++) {
		random_graph(&g);
		check_graph(&g, &f);
	}
	flow_free(&f);
}

/* The smallest irreducible region: two blocks that lead to each other, both entered from
 * outside. */
static void test_irreducible(void **unused)
{
	static struct graph g = {.n = 4,
				 .edge = {[0] = {[1] = true, [2] = true},
					  [1] = {[2] = true},
					  [2] = {[1] = true, [3] = true}}};
	struct flow f = {0};
	(void)unused;
	finish_graph(&g);
	assert_true(flow_build(&f, &g.code) && flow_find_loops(&f, &g.code));
	assert_int_equal(f.loops.n, 1);
	assert_true(f.loops.at[0].is_irreducible);
	assert_true(f.innermost.at[1] == 0 && f.innermost.at[2] == 0 &&
		    f.innermost.at[0] == FLOW_NONE && f.innermost.at[3] == FLOW_NONE);
	flow_free(&f);
}

/* A loop whose body is entered from code that nothing leads to stays a natural loop, and that
 * code's own loop is found when it is wanted. */
static void test_unreached(void **unused)
{
	static struct graph g = {.n = 6,
				 .edge = {[0] = {[1] = true},
					  [1] = {[2] = true},
					  [2] = {[1] = true},
					  [3] = {[4] = true},
					  [4] = {[3] = true, [5] = true},
					  [5] = {[2] = true}}};
	struct flow f = {0};
	(void)unused;
	finish_graph(&g);
	assert_true(flow_build(&f, &g.code) && flow_find_loops(&f, &g.code));
	assert_int_equal(f.loops.n, 1);
	g.code.with_unreached = true;
	assert_true(flow_find_loops(&f, &g.code));
	assert_int_equal(f.loops.n, 2);
	assert_false(f.loops.at[0].is_irreducible);
	assert_true(f.loops.at[0].header == 1 && f.loops.at[1].header == 3 &&
		    f.innermost.at[5] == FLOW_NONE);
	flow_free(&f);
}

/* Kinds of transfers: two ranges, a call that comes back, one that does not, a conditional return,
 * a jump out of the function. */
static void test_blocks(void **unused)
{
	static const struct flow_range ranges[] = {{100, 140}, {200, 210}};
	static const struct flow_transfer transfers[] = {
		{104, 108, 7000, ISA_CALL, false, false},
		{110, 112, 200, ISA_JUMP, true, false},    /* into the other range */
		{114, 116, FLOW_NONE, ISA_RETURN, true, false},
		{120, 124, 7000, ISA_CALL, false, true},   /* never comes back */
		{128, 130, 100, ISA_JUMP, true, false},    /* the loop */
		{134, 136, 9000, ISA_JUMP, false, false},  /* out of the function */
		{206, 210, 128, ISA_JUMP, false, false},
	};
	static const struct flow_code code = {ranges, transfers, NULL, 2, 7, 0, 100, false};
	static const uint32_t starts[] = {100, 112, 116, 124, 128, 130, 136, 200};
	static const uint32_t successors[][2] = {{1, 7},         {2, FLOW_NONE}, {FLOW_NONE, 0},
						 {4, FLOW_NONE}, {5, 0},         {FLOW_NONE, 0},
						 {FLOW_NONE, 0}, {4, FLOW_NONE}};
	struct flow f = {0};
	(void)unused;
	assert_true(flow_build(&f, &code));
	assert_int_equal(f.n_blocks, 8);
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t first = f.blocks.at[i].first_successor,
			 n = f.blocks.at[i + 1].first_successor - first;
		assert_int_equal(f.blocks.at[i].start, starts[i]);
		assert_int_equal(n, successors[i][0] == FLOW_NONE   ? 0
				    : successors[i][1] == FLOW_NONE ? 1
								    : 2);
		for (uint32_t k = 0; k < n; k++)
			assert_int_equal(f.successors.at[first + k], successors[i][k]);
	}
	assert_true(flow_find_loops(&f, &code));
	assert_int_equal(f.loops.n, 1);
	assert_true(f.innermost.at[0] == 0 && f.innermost.at[7] == 0 && f.innermost.at[4] == 0 &&
		    f.innermost.at[1] == FLOW_NONE && f.innermost.at[3] == FLOW_NONE);
	assert_int_equal(flow_block_at(&f, 111), 0);
	assert_int_equal(flow_block_at(&f, 150), FLOW_NONE);
	flow_free(&f);
}

/* As deep as code can be: no recursion, and time that grows with the size. */
static void test_deep_nest(void **unused)
{
	enum { DEEP = 100000 };
	struct flow_transfer *transfers = calloc(2 * DEEP, sizeof *transfers);
	struct flow f = {0};
	(void)unused;
	assert_non_null(transfers);
	for (uint32_t i = 0; i < DEEP; i++) {
		transfers[i] = (struct flow_transfer){4 * i + 2, 4 * i + 4, 4 * (2 * DEEP),
						      ISA_JUMP,  true,      false}; /* out */
		transfers[DEEP + i] = (struct flow_transfer){4 * (DEEP + i) + 2,
							     4 * (DEEP + i) + 4,
							     4 * (DEEP - 1 - i),
							     ISA_JUMP,
							     true,
							     false}; /* back to the header */
	}
	struct flow_range range = {0, 8 * DEEP};
	struct flow_code code = {&range, transfers, NULL, 1, 2 * DEEP, 0, 0, false};
	assert_true(flow_build(&f, &code) && flow_find_loops(&f, &code));
	assert_int_equal(f.loops.n, DEEP);
	for (uint32_t i = 0; i < DEEP; i++)
		assert_true(f.loops.at[i].depth == i && !f.loops.at[i].is_irreducible);
	flow_free(&f);
	free(transfers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_graphs),
		cmocka_unit_test(test_irreducible),
		cmocka_unit_test(test_unreached),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_deep_nest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
