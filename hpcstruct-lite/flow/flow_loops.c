/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops and their nesting; see flow.h for the source of the algorithm. In short: a depth-first
 * search separates the edges that go back to an ancestor from all others. Then we visit the blocks
 * from the last found to the first. The loop of a block contains the blocks that reach its back
 * edges; they are then collapsed into that block. An edge between branches of the tree is added
 * when the lowest common ancestor of its ends is visited. If it enters a collapsed loop, that loop
 * is irreducible. Test: tests/unit/struct/test_flow.c.
 */
#include "hpcstruct-lite/flow/flow.h"

#include <string.h>

/* One word for each block in each array. */
struct search {
	struct flow *f;
	uint32_t *preorder;       /* number of the block, FLOW_NONE: not found yet */
	uint32_t *order;          /* blocks in the order they were found */
	uint32_t *tree;           /* number of the first block of its tree */
	uint32_t *parent;         /* in the depth-first tree */
	uint32_t *next_successor; /* FLOW_NONE: no successor is left, the block is finished */
	uint32_t *ancestor;       /* union-find: lowest ancestor that is not finished */
	uint32_t *stack;
	uint32_t *back, *crossing, *entering; /* heads of lists of links */
	uint32_t *collapsed;      /* union-find: the header a block was collapsed into */
	uint32_t *loop_parent;    /* header of the enclosing loop, as known so far */
	uint32_t *marked;         /* union-find over loops already marked irreducible */
	uint32_t *body_of;        /* header of the loop whose body it was last added to */
	uint32_t *is_header, *is_irreducible, *has_predecessor;
	uint32_t n, n_found;
	bool ok;
};

enum { N_ARRAYS = 16 };

static uint32_t find(uint32_t *parents, uint32_t x)
{
	while (parents[x] != x) {
		parents[x] = parents[parents[x]];
		x = parents[x];
	}
	return x;
}

static bool prepare(struct search *s, struct flow *f)
{
	uint32_t **const arrays[N_ARRAYS] = {
		&s->preorder,       &s->order,    &s->tree,      &s->parent,
		&s->next_successor, &s->ancestor, &s->stack,     &s->back,
		&s->crossing,       &s->entering, &s->collapsed, &s->loop_parent,
		&s->marked,         &s->body_of,  &s->is_header, &s->is_irreducible};
	size_t n = f->n_blocks;
	vec_clear(&f->words);
	vec_clear(&f->innermost);
	vec_clear(&f->loops);
	vec_clear(&f->links);
	uint32_t *words = vec_extend(&f->words, (N_ARRAYS + 1) * n + 1);
	if (!words || !vec_extend(&f->innermost, n + 1))
		return false;
	memset(words, 0xff, (N_ARRAYS + 1) * n * sizeof *words);
	for (size_t i = 0; i < N_ARRAYS; i++)
		*arrays[i] = words + i * n;
	s->has_predecessor = words + N_ARRAYS * n;
	for (uint32_t i = 0; i < n; i++) {
		s->ancestor[i] = s->collapsed[i] = s->marked[i] = i;
		s->is_header[i] = s->is_irreducible[i] = s->has_predecessor[i] = 0;
	}
	for (size_t i = 0; i < f->successors.n; i++)
		s->has_predecessor[f->successors.at[i]] = 1;
	s->f = f;
	s->n = (uint32_t)n;
	s->ok = true;
	return true;
}

static void add_link(struct search *s, uint32_t *list, uint32_t from, uint32_t to)
{
	struct flow_link *l = vec_push(&s->f->links);
	s->ok = s->ok && l;
	if (!l)
		return;
	*l = (struct flow_link){from, to, *list};
	*list = (uint32_t)(s->f->links.n - 1);
}

static void discover(struct search *s, uint32_t block, uint32_t parent, uint32_t tree)
{
	s->preorder[block] = s->n_found;
	s->order[s->n_found++] = block;
	s->tree[block] = tree;
	s->parent[block] = parent;
	s->next_successor[block] = s->f->blocks.at[block].first_successor;
	if (parent != FLOW_NONE)
		add_link(s, &s->entering[block], parent, block);
}

/* Sorts an edge to a block that was found before into one of the lists. */
static void classify(struct search *s, uint32_t from, uint32_t to)
{
	if (s->tree[to] != s->tree[from])
		return;
	if (s->next_successor[to] != FLOW_NONE) { /* on the stack */
		add_link(s, &s->back[to], from, to);
		return;
	}
	uint32_t common = find(s->ancestor, to);
	add_link(s, &s->crossing[common], from, to);
}

/* Searches depth-first from one block, over blocks that were not found yet. */
static void search_from(struct search *s, uint32_t root)
{
	const struct flow *f = s->f;
	uint32_t depth = 0, tree = s->n_found;
	discover(s, root, FLOW_NONE, tree);
	s->stack[depth++] = root;
	while (depth > 0 && s->ok) {
		uint32_t block = s->stack[depth - 1];
		if (s->next_successor[block] < f->blocks.at[block + 1].first_successor) {
			uint32_t to = f->successors.at[s->next_successor[block]++];
			if (s->preorder[to] != FLOW_NONE) {
				classify(s, block, to);
				continue;
			}
			discover(s, to, block, tree);
			s->stack[depth++] = to;
			continue;
		}
		depth--;
		s->next_successor[block] = FLOW_NONE;
		if (depth > 0)
			s->ancestor[block] = s->stack[depth - 1];
	}
}

/*
 * Marks all loops around `block` that are known now: an edge enters them from outside. Marks each
 * loop only once.
 */
static void mark_irreducible(struct search *s, uint32_t block)
{
	for (uint32_t t = s->loop_parent[block]; t != FLOW_NONE;) {
		uint32_t u = find(s->marked, t);
		s->is_irreducible[u] = 1;
		t = s->loop_parent[u];
		if (t != FLOW_NONE)
			s->marked[u] = t;
	}
}

static void put_in_crossing(struct search *s, uint32_t block)
{
	for (uint32_t i = s->crossing[block], next; i != FLOW_NONE && s->ok; i = next) {
		struct flow_link l = s->f->links.at[i];
		next = l.next;
		uint32_t to = find(s->collapsed, l.to);
		mark_irreducible(s, l.to);
		add_link(s, &s->entering[to], l.from, to);
	}
}

static void take_into_body(struct search *s, uint32_t header, uint32_t block, uint32_t *n_body)
{
	uint32_t x = find(s->collapsed, block);
	if (x == header || s->body_of[x] == header)
		return;
	s->body_of[x] = header;
	s->stack[(*n_body)++] = x;
}

/* Finds the body of a loop. Collects it in the stack, which the search no longer needs. */
static void find_loop(struct search *s, uint32_t header)
{
	uint32_t n_body = 0;
	for (uint32_t i = s->back[header]; i != FLOW_NONE; i = s->f->links.at[i].next)
		take_into_body(s, header, s->f->links.at[i].from, &n_body);
	for (uint32_t k = 0; k < n_body; k++)
		for (uint32_t i = s->entering[s->stack[k]]; i != FLOW_NONE;
		     i = s->f->links.at[i].next)
			take_into_body(s, header, s->f->links.at[i].from, &n_body);
	for (uint32_t k = 0; k < n_body; k++) {
		s->collapsed[s->stack[k]] = header;
		s->loop_parent[s->stack[k]] = header;
	}
	s->is_header[header] = s->back[header] != FLOW_NONE;
}

/*
 * Numbers the loops in the order in which their headers were found. A loop's header is found before
 * the loops inside it.
 */
static bool number_loops(struct search *s)
{
	struct flow *f = s->f;
	uint32_t *number = s->next_successor;
	for (uint32_t i = 0; i < s->n_found; i++) {
		uint32_t block = s->order[i];
		if (!s->is_header[block])
			continue;
		uint32_t around = s->loop_parent[block],
			 parent = around == FLOW_NONE ? FLOW_NONE : number[around];
		struct flow_loop *l = vec_push(&f->loops);
		if (!l)
			return false;
		*l = (struct flow_loop){block, parent,
					parent == FLOW_NONE ? 0 : f->loops.at[parent].depth + 1,
					s->is_irreducible[block] != 0};
		number[block] = (uint32_t)(f->loops.n - 1);
	}
	for (uint32_t i = 0; i < s->n; i++)
		f->innermost.at[i] = s->is_header[i]                  ? number[i]
				     : s->loop_parent[i] == FLOW_NONE ? FLOW_NONE
								      : number[s->loop_parent[i]];
	return true;
}

bool flow_find_loops(struct flow *f, const struct flow_code *code)
{
	struct search s = {0};
	if (!prepare(&s, f))
		return false;
	if (f->entry != FLOW_NONE)
		search_from(&s, f->entry);
	for (int pass = 0; pass < 2 && code->with_unreached;
	     pass++) /* first the blocks without a predecessor */
		for (uint32_t i = 0; i < s.n && s.ok; i++)
			if (s.preorder[i] == FLOW_NONE && (pass == 1 || !s.has_predecessor[i]))
				search_from(&s, i);
	for (uint32_t i = s.n_found; i-- > 0 && s.ok;) {
		put_in_crossing(&s, s.order[i]);
		find_loop(&s, s.order[i]);
	}
	return s.ok && number_loops(&s);
}

bool flow_contains(const struct flow *f, uint32_t loop, uint32_t inner)
{
	if (loop == FLOW_NONE)
		return true;
	while (inner != FLOW_NONE && inner > loop)
		inner = f->loops.at[inner].parent;
	return inner == loop;
}
