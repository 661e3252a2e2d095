/* SPDX-License-Identifier: BSD-3-Clause */
/* See deep.h. Must not allocate, lock or fault. Test: tests/cli/unwind/unwind_deep.sh. */
#include "hpcrun-lite/unwind/deep.h"

#include <string.h>

uint32_t deep_most_records(const struct unwind_thread *t, uint64_t sp)
{
	return t->deep.least_bytes && sp < t->stack.hi &&
			       t->stack.hi - sp >= t->deep.least_bytes
		       ? DEEP_WINDOW
		       : t->max_depth;
}

bool deep_keep_roots(struct unwind_thread *t, const struct record *r, const uint64_t *address_end)
{
	struct deep *d = &t->deep;
	d->n_addresses = 0;
	d->has_roots = true;
	for (unsigned i = 0; i < DEEP_ROOTS; i++) {
		d->root[i] = r[i];
		d->n_addresses += !r[i].skipped;
		if (i + 1 < DEEP_ROOTS && (r[i].kind == RECORD_OPEN || r[i].sp >= t->stack.hi))
			d->has_roots = false;
	}
	memcpy(d->address, address_end - d->n_addresses, d->n_addresses * sizeof *d->address);
	return d->has_roots;
}

static bool roots_hold(const struct unwind_thread *t, uint64_t sp)
{
	const struct deep *d = &t->deep;
	if (!d->has_roots || d->root[0].sp <= sp || d->root[DEEP_ROOTS - 1].sp > t->stack.hi)
		return false;
	for (unsigned i = 0; i + 1 < DEEP_ROOTS; i++)
		if (!record_still_calls(&d->root[i], &d->root[i + 1]))
			return false;
	return true;
}

/*
 * Walks on beyond the window to the root and keeps only the last frames. This happens if the
 * thread's first paths were too deep. A million frames take some ms, once.
 */
static bool walk_to_roots(const struct walk *w)
{
	enum { ROUNDS = 512 };
	struct unwind_thread *t = w->thread;
	struct walk far = *w;
	const uint64_t n_slow = t->counts.slow_frames;
	enum unwind_end end = UNWIND_DEEP;
	if (t->deep.has_failed || w->bypass || w->n_records < DEEP_WINDOW || w->heuristic)
		return false;
	t->n_records = 0;
	t->records[DEEP_WINDOW - 1] = t->records[w->n_records - 1];
	far.old = 0;
	far.most = t->max_depth;
	far.n_records = far.n_addresses = DEEP_WINDOW;
	for (unsigned i = 0; i < ROUNDS; i++) {
		end = walk_follow(&far);
		if (end != UNWIND_DEEP)
			break;
		memmove(t->records + DEEP_WINDOW, t->records + far.n_records - DEEP_ROOTS,
			DEEP_ROOTS * sizeof *t->records);
		memmove(t->addresses + DEEP_WINDOW, t->addresses + far.n_addresses - DEEP_ROOTS,
			DEEP_ROOTS * sizeof *t->addresses);
		far.n_records = far.n_addresses = DEEP_WINDOW + DEEP_ROOTS;
	}
	/* A slow frame would need the registers of frames that are no longer there. */
	t->deep.has_failed = end != UNWIND_ROOT || far.heuristic ||
			     t->counts.slow_frames != n_slow ||
			     far.n_records < DEEP_WINDOW + DEEP_ROOTS ||
			     !deep_keep_roots(t, t->records + far.n_records - DEEP_ROOTS,
					      t->addresses + far.n_addresses);
	return !t->deep.has_failed;
}

/* Counts the outermost addresses of a deep path that equal those of the previous one. */
static uint32_t count_same_deep(const struct unwind_thread *t, uint32_t n, uint32_t n_old)
{
	const struct deep *d = &t->deep;
	const uint64_t *const old_end = t->addresses + 2 * (size_t)t->max_depth;
	const uint32_t n_all = n + d->n_addresses;
	uint32_t same = 0;
	for (; same < n_all && same < n_old; same++) {
		const uint64_t now = same < d->n_addresses
					     ? d->address[d->n_addresses - 1 - same]
					     : t->addresses[n_all - 1 - same];
		if (now != old_end[-1 - (ptrdiff_t)same])
			break;
	}
	return same;
}

uint32_t deep_join(const struct walk *w, uint32_t n_old, uint32_t *n_root, uint32_t *n_same)
{
	struct unwind_thread *t = w->thread;
	struct deep *d = &t->deep;
	const uint64_t sp = t->leaf.reg[ARCH_SP],
		       used = w->n_tail ? t->stack.hi - sp : w->state.sp - sp;
	if (t->max_depth <= DEEP_LEAST || sp >= t->stack.hi || sp < t->stack.lo)
		return 0;
	if (!d->least_bytes || used < d->least_bytes)
		d->least_bytes = used;
	const uint32_t n = w->n_addresses < DEEP_WINDOW ? w->n_addresses : DEEP_WINDOW;
	if (!roots_hold(t, sp) && !walk_to_roots(w))
		return 0;
	*n_root = d->n_addresses;
	*n_same = count_same_deep(t, n, n_old);
	uint64_t *const to = t->addresses + 2 * (size_t)t->max_depth - n - d->n_addresses;
	memcpy(to, t->addresses, n * sizeof *to);
	memcpy(to + n, d->address, d->n_addresses * sizeof *to);
	return n + d->n_addresses;
}
