/* SPDX-License-Identifier: BSD-3-Clause */
/* See generated.h. Must not fault or change errno. */
#include "hpcrun-lite/unwind/code/generated.h"

#include "common/safe/load.h"

#include <string.h>

/* What `more` needs. */
struct reader {
	struct generated *g;
	const struct generated_place *place;
};

static size_t read_window(struct generated *g, uint64_t at, size_t n_bytes)
{
	if (g->reads_left == 0)
		return 0;
	g->reads_left--;
	g->n_reads++;
	return load_guarded(g->window, at, n_bytes);
}

static bool move_window(struct leave_code *code, uint64_t pc)
{
	const struct reader *r = code->arg;
	if (r->place->in_module(r->place->arg, pc))
		return false;
	code->lo = pc;
	code->hi = pc + read_window(r->g, pc, GENERATED_WINDOW_BYTES);
	code->bytes = r->g->window;
	return code->hi > pc;
}

/* ---- ways that are kept ---- */

/* Adds n bytes to a check value. Four lanes, because a multiplication takes some cycles. */
static uint64_t add_to_check(uint64_t check, const uint8_t *bytes, size_t n)
{
	enum { LANES = 4 };
	const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t lane[LANES] = {check, check + 1, check + 2, check + 3}, word[LANES];
	for (; n >= sizeof word; bytes += sizeof word, n -= sizeof word) {
		memcpy(word, bytes, sizeof word);
		for (unsigned i = 0; i < LANES; i++) {
			lane[i] = (lane[i] ^ word[i]) * k;
			lane[i] ^= lane[i] >> 29;
		}
	}
	memset(word, 0, sizeof word);
	memcpy(word, bytes, n);
	for (unsigned i = 0; i < LANES; i++) {
		check = (check ^ lane[i]) * k;
		check = (check ^ word[i] ^ check >> 31) * k;
	}
	return check ^ n;
}

/*
 * Computes the check value of the code that a way depends on. Returns false if the code cannot be
 * read.
 */
static bool check_code(struct generated *g, const struct generated_way *way, uint64_t *check)
{
	*check = 0;
	for (unsigned i = 0; i < way->n_runs; i++)
		for (uint64_t at = way->run[i].lo; at < way->run[i].hi;) {
			const uint64_t left = way->run[i].hi - at;
			const size_t n =
				left < GENERATED_WINDOW_BYTES ? left : GENERATED_WINDOW_BYTES;
			if (read_window(g, at, n) != n)
				return false;
			*check = add_to_check(*check, g->window, n);
			at += n;
		}
	return true;
}

static bool is_unchanged(struct generated *g, struct generated_way *way)
{
	uint64_t check;
	if (way->walk == g->walk)
		return true;
	if (!check_code(g, way, &check))
		return false;
	if (check != way->check) {
		way->n_runs = 0;
		return false;
	}
	way->walk = g->walk;
	return true;
}

/*
 * At way->lo itself is_exact must match, because a search from a return address first checks
 * whether a function begins there.
 */
static bool covers(const struct generated_way *way, uint64_t pc, bool is_exact)
{
	return way->n_runs && pc >= way->lo && pc <= way->hi &&
	       (pc > way->lo || is_exact == way->is_exact);
}

static struct generated_way *find_way(struct generated *g, uint64_t pc, bool is_exact)
{
	for (unsigned i = 0; i < GENERATED_WAYS; i++)
		if (covers(&g->way[i], pc, is_exact) && is_unchanged(g, &g->way[i]))
			return &g->way[i];
	return NULL;
}

/*
 * Returns an empty entry, or the entry of a way that this one contains, or else the next one in
 * turn.
 */
static struct generated_way *find_room(struct generated *g, const struct generated_way *way)
{
	for (unsigned i = 0; i < GENERATED_WAYS; i++)
		if (!g->way[i].n_runs || (g->way[i].lo >= way->lo && g->way[i].hi <= way->hi))
			return &g->way[i];
	return &g->way[g->next++ % GENERATED_WAYS];
}

static bool is_sp_or_bp(const struct leave_value *v)
{
	return v->reg == MACHINE_SP || v->reg == MACHINE_BP;
}

/*
 * Keeps the way, or the fact that there is none. Then the code may be large, and only its beginning
 * is checked. A wrong "none" does no harm, because there is no worse answer.
 */
static void keep_way(struct generated *g, const struct generated_place *place,
		     const struct leave *leave, bool is_found)
{
	struct generated_way way = {.lo = place->pc,
				    .hi = leave->same_hi,
				    .walk = g->walk,
				    .is_exact = place->is_exact,
				    .is_found = is_found,
				    .n_runs = (uint8_t)(is_found ? leave->n_runs : 1)};
	uint64_t n_bytes = 0;
	if (leave->n_runs == 0 || way.n_runs > LEAVE_RUNS)
		return;
	memcpy(way.run, leave->run, sizeof way.run);
	if (is_found) {
		way.cfa = leave->cfa;
		way.bp = leave->bp;
		way.ra = leave->ra;
		if (!is_sp_or_bp(&way.cfa) || !is_sp_or_bp(&way.bp) ||
		    (ARCH_RETURN_BITS && !is_sp_or_bp(&way.ra)))
			way.hi = way.lo;
	} else {
		const uint64_t most = way.lo + GENERATED_NO_WAY_BYTES;
		way.run[0].lo = way.lo;
		way.run[0].hi = way.run[0].hi < most ? way.run[0].hi : most;
		way.hi = way.hi < way.run[0].hi ? way.hi : way.run[0].hi - 1;
	}
	for (unsigned i = 0; i < way.n_runs; i++)
		n_bytes += way.run[i].hi - way.run[i].lo;
	if (n_bytes <= GENERATED_CHECK_MAX && check_code(g, &way, &way.check))
		*find_room(g, &way) = way;
}

/* Searches, but saves some system calls for the check of what it finds. */
static bool search(struct generated *g, const struct generated_place *place,
		   struct leave_work *work, struct leave *leave)
{
	struct reader reader = {g, place};
	const struct leave_code code = {
		.arg = &reader, .more = move_window, .insns_max = g->insns_left};
	const unsigned spared =
		g->reads_left < GENERATED_READS_MAX / 2 ? g->reads_left : GENERATED_READS_MAX / 2;
	g->n_searches++;
	g->reads_left -= spared;
	const bool is_found = leave_find(&code, place->pc, place->is_exact, work, leave);
	g->reads_left += spared;
	g->insns_left -= leave->n_insns < g->insns_left ? leave->n_insns : g->insns_left;
	return is_found;
}

static void begin_walk(struct generated *g, uint64_t walk)
{
	g->walk = walk;
	g->reads_left = GENERATED_READS_MAX;
	g->insns_left = LEAVE_INSNS_MAX;
}

bool generated_find(struct generated *g, const struct generated_place *place,
		    struct leave_work *work, struct leave *leave)
{
	if (g->walk != place->walk)
		begin_walk(g, place->walk);
	const struct generated_way *way = find_way(g, place->pc, place->is_exact);
	if (way) {
		leave->cfa = way->cfa;
		leave->bp = way->bp;
		leave->ra = way->ra;
		return way->is_found;
	}
	if (g->insns_left == 0)
		return false;
	const unsigned insns_left = g->insns_left;
	const bool is_found = search(g, place, work, leave);
	/*
	 * Later in a walk a search may fail only because earlier ones used up the budget; that is
	 * not kept.
	 */
	if (is_found || insns_left == LEAVE_INSNS_MAX || g->insns_left > 0)
		keep_way(g, place, leave, is_found);
	return is_found;
}
