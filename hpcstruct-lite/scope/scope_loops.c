/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns loops of the code into loops of the source. A loop belongs to the innermost function or
 * inlined call that contains its code, except for a few stray instructions. So a call inlined into
 * its body is below the loop, and the loop is below the call that it was inlined with. Its line is
 * the line of the instruction that decides whether it goes on, as seen from that scope.
 * doc/structures.md has the rules. See scope_loops.h for the tests.
 */
#include "hpcstruct-lite/scope/scope_loops.h"

#include "common/base/sorted.h"

#include <stdlib.h>

/* How good an instruction is for the line of the loop; smaller is better. */
enum quality {
	BOTTOM_TEST,   /* goes back to the header, or out of the loop */
	TOP_TEST,      /* in the header: goes on, or out of the loop */
	EXIT_TEST,     /* elsewhere: goes on, or out of the loop */
	BACK_JUMP,     /* goes back to the header */
	HEADER,        /* the first instruction */
	NOTHING
};

/* Loops are moved into an inlined call at most this often. Each time they get one level deeper. */
#define MAX_MOVES 16
/* This part of a loop's code (1/16) may be outside the call that the loop belongs to. */
#define STRAY_PART 16

struct place {
	uint32_t position;     /* of the instruction */
	uint32_t file, line;
	enum quality quality;
	bool is_outermost; /* a test where loop statements have it: on the first line of the loop's
			      own code, or back to the header on the last */
};

/*
 * Lines of the code of a loop without its inner loops, in the file of its place; 0: not known yet.
 */
struct span {
	uint32_t first, last;
};

struct loops_scratch {
	struct flow flow;
	struct code_edges edges;
	VEC(uint32_t) scopes;      /* by loop */
	VEC(struct place) places;  /* by loop */
	VEC(struct span) spans;    /* by loop */
	VEC(uint64_t) lines;       /* scratch: file and line */
	VEC(uint32_t) numbers;     /* by loop: its index in the output */
};

void loops_free(struct loops *l)
{
	vec_free(&l->loops);
	vec_free(&l->ranges);
}

struct loops_scratch *loops_scratch_new(void)
{
	return calloc(1, sizeof(struct loops_scratch));
}

void loops_scratch_free(struct loops_scratch *s)
{
	if (!s)
		return;
	flow_free(&s->flow);
	vec_free(&s->edges);
	vec_free(&s->scopes);
	vec_free(&s->places);
	vec_free(&s->spans);
	vec_free(&s->lines);
	vec_free(&s->numbers);
	free(s);
}

const struct flow *loops_flow(const struct loops_scratch *s)
{
	return &s->flow;
}

/* ---- where a loop belongs ---- */

/* Returns the innermost scope that encloses both. */
static uint32_t common_scope(const struct code *c, uint32_t a, uint32_t b)
{
	const struct scope_record *scopes = c->map->scopes.at;
	if (a == SCOPE_NONE || b == SCOPE_NONE)
		return a == SCOPE_NONE ? b : a;
	while (c->depths[a] > c->depths[b])
		a = scopes[a].parent;
	while (c->depths[b] > c->depths[a])
		b = scopes[b].parent;
	while (a != b && scopes[a].parent != SCOPE_NONE) {
		a = scopes[a].parent;
		b = scopes[b].parent;
	}
	return a;
}

static void find_scopes(const struct code *c, struct loops_scratch *s)
{
	const struct flow *f = &s->flow;
	const struct scope_intervals *v = &c->map->intervals;
	for (size_t i = 0; i < f->loops.n; i++)
		s->scopes.at[i] = SCOPE_NONE;
	for (uint32_t b = 0; b < f->n_blocks; b++) {
		uint32_t loop = f->innermost.at[b];
		if (loop == FLOW_NONE)
			continue;
		for (size_t i = code_interval_at(c, f->blocks.at[b].start);
		     i < v->n && v->at[i].offset < f->blocks.at[b].end; i++)
			s->scopes.at[loop] = common_scope(c, s->scopes.at[loop], v->at[i].scope);
	}
	for (size_t i = f->loops.n; i-- > 0;) {
		uint32_t parent = f->loops.at[i].parent;
		if (parent != FLOW_NONE)
			s->scopes.at[parent] =
				common_scope(c, s->scopes.at[parent], s->scopes.at[i]);
	}
}

/* ---- which line it has ---- */

/*
 * Finds the line of a position as seen from `scope`. For code that is inlined there, this is the
 * line of the call. Returns false if the position is not in the scope or has no line.
 */
static bool line_seen_from(const struct code *c, uint32_t scope, uint32_t position, uint32_t *file,
			   uint32_t *line)
{
	const struct structure_interval_record *v =
		&c->map->intervals.at[code_interval_at(c, position)];
	*file = v->file;
	*line = v->line;
	for (uint32_t at = v->scope; at != scope; at = c->map->scopes.at[at].parent) {
		if (at == SCOPE_NONE)
			return false;
		*file = c->map->scopes.at[at].call_file;
		*line = c->map->scopes.at[at].call_line;
	}
	return *file != SCOPE_NONE && *line != 0;
}

static bool is_better(const struct place *a, const struct place *b)
{
	if (a->is_outermost != b->is_outermost)
		return a->is_outermost;
	if (a->quality != b->quality)
		return a->quality < b->quality;
	return a->file == b->file && a->line < b->line;
}

/*
 * Offers a line for the loop. Loop statements enclose their bodies. So the best test is one on the
 * first line, or one back to the header on the last line. If lines in one file are equally good,
 * the first one wins.
 */
static void offer(const struct code *c, struct loops_scratch *s, uint32_t loop, uint32_t position,
		  enum quality quality)
{
	struct place *p = &s->places.at[loop], new = {.position = position, .quality = quality};
	if (!line_seen_from(c, s->scopes.at[loop], position, &new.file, &new.line))
		return;
	const struct span *span = &s->spans.at[loop];
	new.is_outermost = (quality <= EXIT_TEST && new.line == span->first) ||
			   (quality == BOTTOM_TEST && new.line == span->last);
	if (is_better(&new, p))
		*p = new;
}

static void find_spans(const struct code *c, struct loops_scratch *s)
{
	const struct flow *f = &s->flow;
	const struct scope_intervals *v = &c->map->intervals;
	for (uint32_t b = 0; b < f->n_blocks; b++) {
		uint32_t loop = f->innermost.at[b], file, line;
		if (loop == FLOW_NONE)
			continue;
		struct span *span = &s->spans.at[loop];
		for (size_t i = code_interval_at(c, f->blocks.at[b].start);
		     i < v->n && v->at[i].offset < f->blocks.at[b].end; i++) {
			if (!line_seen_from(c, s->scopes.at[loop], v->at[i].offset, &file, &line) ||
			    file != s->places.at[loop].file)
				continue;
			span->first = span->first == 0 || line < span->first ? line : span->first;
			span->last = line > span->last ? line : span->last;
		}
	}
}

/*
 * The header of an irreducible loop is only one of several entries, so a test there is no better
 * than a test elsewhere.
 */
static enum quality test_quality(const struct flow_loop *l, enum quality quality)
{
	return l->is_irreducible ? EXIT_TEST : quality;
}

/*
 * Judges a conditional branch that stays in a loop or leaves it. If irreducible loops are nested,
 * they may be one loop of the source, and the branch counts for both.
 */
static void judge_exit(const struct code *c, struct loops_scratch *s, uint32_t b, uint32_t position)
{
	const struct flow *f = &s->flow;
	const struct flow_block *block = &f->blocks.at[b];
	for (uint32_t loop = f->innermost.at[b]; loop != FLOW_NONE;
	     loop = f->loops.at[loop].parent) {
		uint32_t n_inside = 0;
		for (uint32_t i = block->first_successor; i < block[1].first_successor; i++)
			n_inside += flow_contains(f, loop, f->innermost.at[f->successors.at[i]]);
		if (n_inside == 1)
			offer(c, s, loop, position,
			      b == f->loops.at[loop].header
				      ? test_quality(&f->loops.at[loop], TOP_TEST)
				      : EXIT_TEST);
		if (!f->loops.at[loop].is_irreducible)
			break;
	}
}

/* Records how the block's last jump leaves or repeats the loops around it. */
static void judge_block(const struct code *c, struct loops_scratch *s, const struct flow_code *code,
			uint32_t b)
{
	const struct flow *f = &s->flow;
	const struct flow_block *block = &f->blocks.at[b];
	const struct flow_transfer *t =
		block->transfer == FLOW_NONE ? NULL : &code->transfers[block->transfer];
	uint32_t innermost = f->innermost.at[b], position = t ? t->at : block->end - 1;
	for (uint32_t i = block->first_successor; i < block[1].first_successor; i++) {
		uint32_t to = f->successors.at[i], around = f->innermost.at[to];
		if (around == FLOW_NONE || f->loops.at[around].header != to ||
		    !flow_contains(f, around, innermost))
			continue;
		bool leaves = t && t->is_conditional;
		for (uint32_t k = block->first_successor; k < block[1].first_successor; k++)
			leaves = leaves &&
				 (k == i ||
				  !flow_contains(f, around, f->innermost.at[f->successors.at[k]]));
		offer(c, s, around, position,
		      leaves ? test_quality(&f->loops.at[around], BOTTOM_TEST) : BACK_JUMP);
	}
	if (b == f->loops.at[innermost].header)
		offer(c, s, innermost, block->start, HEADER);
	if (t && t->is_conditional)
		judge_exit(c, s, b, position);
}

/* ---- stray instructions ---- */

/* Returns the inlined call directly below `outer` that contains a position, or SCOPE_NONE. */
static uint32_t call_below(const struct code *c, uint32_t outer, uint32_t position)
{
	uint32_t below = SCOPE_NONE, at = c->map->intervals.at[code_interval_at(c, position)].scope;
	for (; at != SCOPE_NONE && at != outer; at = c->map->scopes.at[at].parent)
		below = at;
	return at == outer ? below : SCOPE_NONE;
}

static bool is_within(const struct code *c, uint32_t scope, uint32_t outer)
{
	while (scope != SCOPE_NONE && c->depths[scope] > c->depths[outer])
		scope = c->map->scopes.at[scope].parent;
	return scope == outer;
}

/* Returns true if all but a few bytes of a loop are in an inlined call. */
static bool is_mostly_in(const struct code *c, const struct loops_scratch *s, uint32_t loop,
			 uint32_t call)
{
	const struct flow *f = &s->flow;
	const struct scope_intervals *v = &c->map->intervals;
	uint64_t n_bytes = 0, n_outside = 0;
	for (uint32_t b = 0; b < f->n_blocks; b++) {
		uint32_t start = f->blocks.at[b].start, end = f->blocks.at[b].end;
		if (!flow_contains(f, loop, f->innermost.at[b]))
			continue;
		n_bytes += end - start;
		for (size_t i = code_interval_at(c, start); i < v->n && v->at[i].offset < end;
		     i++) {
			uint32_t from = v->at[i].offset > start ? v->at[i].offset : start,
				 to = i + 1 < v->n && v->at[i + 1].offset < end
					      ? v->at[i + 1].offset
					      : end;
			n_outside += is_within(c, v->at[i].scope, call) ? 0 : to - from;
		}
	}
	return n_outside * STRAY_PART <= n_bytes;
}

/*
 * Moves a loop into an inlined call if its test and nearly all its code are there. Returns false if
 * there was none to move.
 */
static bool move_loops(const struct code *c, struct loops_scratch *s)
{
	bool moved = false;
	for (uint32_t i = 0; i < s->flow.loops.n; i++) {
		const struct place *p = &s->places.at[i];
		uint32_t parent = s->flow.loops.at[i].parent, scope = s->scopes.at[i];
		if (s->flow.loops.at[i].depth >= LOOPS_MAX_DEPTH)
			continue;
		uint32_t call =
			p->quality == NOTHING ? SCOPE_NONE : call_below(c, scope, p->position);
		if (call != SCOPE_NONE && is_mostly_in(c, s, i, call))
			s->scopes.at[i] = call;
		else if (parent != FLOW_NONE && s->scopes.at[parent] != scope &&
			 is_within(c, s->scopes.at[parent], scope))
			/* it is inside everything that its parent is inside */
			s->scopes.at[i] = s->scopes.at[parent];
		moved |= s->scopes.at[i] != scope;
	}
	return moved;
}

static void judge_blocks(const struct code *c, struct loops_scratch *s,
			 const struct flow_code *code)
{
	for (size_t i = 0; i < s->flow.loops.n; i++)
		s->places.at[i] = (struct place){.file = SCOPE_NONE, .quality = NOTHING};
	for (uint32_t i = 0; i < s->flow.n_blocks; i++)
		if (s->flow.innermost.at[i] != FLOW_NONE)
			judge_block(c, s, code, i);
}

/*
 * Judges the blocks twice, because the first and last line of a loop depend on the file of its
 * place.
 */
static void find_places(const struct code *c, struct loops_scratch *s, const struct flow_code *code)
{
	for (size_t i = 0; i < s->flow.loops.n; i++)
		s->spans.at[i] = (struct span){0, 0};
	judge_blocks(c, s, code);
	find_spans(c, s);
	judge_blocks(c, s, code);
}

/* ---- loops in loops of the same line ---- */

/* Where branches go that leave a loop from its own line. */
struct ways_out {
	bool to_other_line; /* to another line of the loop around it, as seen from their scope */
	bool to_same_line;  /* to the same line there */
	bool further;       /* out of that loop too */
};

static bool has_line(
	const struct code *c, const struct loops_scratch *s, uint32_t loop, uint32_t position)
{
	const struct place *p = &s->places.at[loop];
	uint32_t file, line;
	return line_seen_from(c, s->scopes.at[loop], position, &file, &line) && file == p->file &&
		line == p->line;
}

static void add_ways(const struct code *c, const struct loops_scratch *s, uint32_t loop, uint32_t b,
	struct ways_out *w)
{
	const struct flow *f = &s->flow;
	for (uint32_t i = f->blocks.at[b].first_successor; i < f->blocks.at[b + 1].first_successor;
		i++) {
		uint32_t to = f->successors.at[i], around = f->innermost.at[to];
		if (flow_contains(f, loop, around))
			continue;
		bool same_line = has_line(c, s, loop, f->blocks.at[to].start);
		if (!flow_contains(f, f->loops.at[loop].parent, around))
			w->further = true;
		else if (same_line)
			w->to_same_line = true;
		else
			w->to_other_line = true;
	}
}

static struct ways_out find_ways(const struct code *c, const struct loops_scratch *s,
	const struct flow_code *code, uint32_t loop)
{
	struct ways_out w = {false, false, false};
	for (uint32_t b = 0; b < s->flow.n_blocks; b++) {
		uint32_t transfer = s->flow.blocks.at[b].transfer;
		if (transfer != FLOW_NONE && code->transfers[transfer].is_conditional &&
			flow_contains(&s->flow, loop, s->flow.innermost.at[b]) &&
			has_line(c, s, loop, code->transfers[transfer].at))
			add_ways(c, s, loop, b, &w);
	}
	return w;
}

/*
 * Appends the lines of code in `loop` and not in `but`, as seen from its scope. Returns false when
 * out of memory.
 */
static bool list_lines(const struct code *c, struct loops_scratch *s, uint32_t loop, uint32_t but)
{
	const struct flow *f = &s->flow;
	const struct scope_intervals *v = &c->map->intervals;
	for (uint32_t b = 0; b < f->n_blocks; b++) {
		if (!flow_contains(f, loop, f->innermost.at[b]) ||
			(but != FLOW_NONE && flow_contains(f, but, f->innermost.at[b])))
			continue;
		for (size_t i = code_interval_at(c, f->blocks.at[b].start);
			i < v->n && v->at[i].offset < f->blocks.at[b].end; i++) {
			uint32_t file, line;
			if (!line_seen_from(c, s->scopes.at[loop], v->at[i].offset, &file, &line))
				continue;
			uint64_t *slot = vec_push(&s->lines);
			if (!slot)
				return false;
			*slot = (uint64_t)file << 32 | line;
		}
	}
	return true;
}

static int compare_lines(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/*
 * *has_own_line: the loop around `loop` has a line that `loop` does not have. *only_line: both have
 * the same single line. Returns false when out of memory.
 */
static bool compare_code(const struct code *c, struct loops_scratch *s, uint32_t loop,
	bool *has_own_line, bool *only_line)
{
	vec_clear(&s->lines);
	if (!list_lines(c, s, loop, FLOW_NONE))
		return false;
	size_t n = s->lines.n;
	if (!list_lines(c, s, s->flow.loops.at[loop].parent, loop))
		return false;
	if (n > 1)
		qsort(s->lines.at, n, sizeof *s->lines.at, compare_lines);
	*has_own_line = false;
	for (size_t i = n; i < s->lines.n && !*has_own_line; i++) {
		uint64_t line = s->lines.at[i];
		size_t at = sorted_prefix(n, k, s->lines.at[k] < line);
		*has_own_line = at == n || s->lines.at[at] != line;
	}
	*only_line = n > 0 && s->lines.at[0] == s->lines.at[n - 1] && !*has_own_line;
	return true;
}

static bool can_be_left(const struct flow *f, uint32_t loop)
{
	for (uint32_t b = 0; b < f->n_blocks; b++)
		for (uint32_t i = f->blocks.at[b].first_successor;
			i < f->blocks.at[b + 1].first_successor; i++)
			if (flow_contains(f, loop, f->innermost.at[b]) &&
				!flow_contains(f, loop, f->innermost.at[f->successors.at[i]]))
				return true;
	return false;
}

/*
 * *ends: the condition of a loop ends that loop and never the one around it, which has code of its
 * own. Then they are two loops of the source, because a loop ends when its condition fails. If a
 * compiler splits one loop, it copies lines, or the condition leads to more of that condition.
 */
static bool ends_within(const struct code *c, struct loops_scratch *s, const struct flow_code *code,
	uint32_t loop, bool *ends)
{
	const struct flow_loop *l = &s->flow.loops.at[loop];
	bool has_own_line, only_line;
	*ends = false;
	if (s->places.at[loop].quality > EXIT_TEST || l->is_irreducible ||
		s->flow.loops.at[l->parent].is_irreducible)
		return true;
	struct ways_out w = find_ways(c, s, code, loop);
	if (w.further || !(w.to_other_line || w.to_same_line))
		return true;
	if (!compare_code(c, s, loop, &has_own_line, &only_line))
		return false;
	*ends = (has_own_line && !w.to_same_line) ||
		(only_line && !can_be_left(&s->flow, l->parent));
	return true;
}

/*
 * If a loop is inside a loop of the same line and scope, both are mostly one loop of the source to
 * which the compiler gave two headers. Two loops of the source each have a test, or the test of the
 * inner one ends it inside the outer one. Returns false when out of memory.
 */
static bool is_same_loop(const struct code *c, struct loops_scratch *s,
	const struct flow_code *code, uint32_t loop, bool *same)
{
	const struct flow_loop *l = &s->flow.loops.at[loop];
	*same = false;
	if (l->parent == FLOW_NONE || s->scopes.at[loop] != s->scopes.at[l->parent])
		return true;
	const struct place *inner = &s->places.at[loop], *outer = &s->places.at[l->parent];
	bool same_line = inner->quality != NOTHING && outer->quality != NOTHING &&
		inner->file == outer->file && inner->line == outer->line;
	if (!same_line || (outer->quality <= TOP_TEST && inner->quality <= TOP_TEST))
		return true;
	bool ends;
	if (!ends_within(c, s, code, loop, &ends))
		return false;
	*same = !ends;
	return true;
}

/* ---- output ---- */

static bool append_loops(const struct code *c, struct loops_scratch *s,
	const struct flow_code *code, struct loops *out)
{
	const struct flow *f = &s->flow;
	for (size_t i = 0; i < f->loops.n; i++) {
		const struct flow_loop *l = &f->loops.at[i];
		bool same = false;
		if (l->depth < LOOPS_MAX_DEPTH && !is_same_loop(c, s, code, (uint32_t)i, &same))
			return false;
		if (l->depth >= LOOPS_MAX_DEPTH || same) {
			s->numbers.at[i] = s->numbers.at[l->parent];
			continue;
		}
		struct loop *slot = vec_push(&out->loops);
		if (!slot)
			return false;
		const struct place *p = &s->places.at[i];
		bool has_line = p->quality != NOTHING;
		*slot = (struct loop){l->parent == FLOW_NONE ? SCOPE_NONE
							     : s->numbers.at[l->parent],
				      s->scopes.at[i], has_line ? p->file : SCOPE_NONE,
				      has_line ? p->line : 0, l->is_irreducible};
		s->numbers.at[i] = (uint32_t)(out->loops.n - 1);
	}
	return true;
}

static bool append_ranges(const struct loops_scratch *s, struct loops *out)
{
	const struct flow *f = &s->flow;
	size_t first = out->ranges.n;
	for (uint32_t b = 0; b < f->n_blocks; b++) {
		if (f->innermost.at[b] == FLOW_NONE)
			continue;
		const struct flow_block *block = &f->blocks.at[b];
		uint32_t loop = s->numbers.at[f->innermost.at[b]];
		struct loop_range *last =
			out->ranges.n > first ? &out->ranges.at[out->ranges.n - 1] : NULL;
		if (last && last->loop == loop && last->end == block->start) {
			last->end = block->end;
			continue;
		}
		last = vec_push(&out->ranges);
		if (!last)
			return false;
		*last = (struct loop_range){block->start, block->end, loop};
	}
	return true;
}

bool loops_find(const struct code *c, const struct code_batch *b, const struct code_function *f,
		struct loops_scratch *s, struct loops *out)
{
	struct flow_code code;
	if (!code_prepare(c, b, f, &s->edges, &code) || !flow_build(&s->flow, &code) ||
	    !flow_find_loops(&s->flow, &code))
		return false;
	size_t n = s->flow.loops.n;
	vec_clear(&s->scopes);
	vec_clear(&s->places);
	vec_clear(&s->spans);
	vec_clear(&s->numbers);
	if (n == 0)
		return true;
	if (!vec_extend(&s->scopes, n) || !vec_extend(&s->places, n) || !vec_extend(&s->spans, n) ||
	    !vec_extend(&s->numbers, n))
		return false;
	find_scopes(c, s);
	find_places(c, s, &code);
	for (int i = 0; i < MAX_MOVES && move_loops(c, s); i++)
		find_places(c, s, &code);
	return append_loops(c, s, &code, out) && append_ranges(s, out);
}
