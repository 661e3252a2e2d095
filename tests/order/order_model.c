/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory as the model sees it: each location has the list of all its stores, in modification order,
 * and each thread has a view, the earliest store of each location that it may still read. A store
 * carries the view that an acquire takes from it. See order.h. Test:
 * tests/order/test_order_litmus.c.
 */
#include "tests/order/order_internal.h"

#include <string.h>

enum { LOCATIONS = 160, STORES = 32, WORDS = 512, UNMAPPED = 4, RANGES = 8 };
enum { PLAIN_WRITE, ATOMIC_WRITE, PLAIN_READ, ATOMIC_READ, N_ACCESS };

/* `clock` says what happened before, to find races. */
struct view {
	uint8_t store[LOCATIONS];
	uint16_t clock[ORDER_THREADS_MOST];
};

struct store {
	uint64_t value;
	uint8_t at; /* its place in the modification order */
	bool is_change;
	struct view view;
};

struct location {
	uintptr_t address;
	unsigned n_bytes, n;
	bool may_race;
	uint64_t first; /* its value before the run */
	struct store store[STORES];
	uint8_t in_order[STORES];
	uint16_t last[N_ACCESS][ORDER_THREADS_MOST];
};

/* Eight bytes of memory. A location neither contains a cut nor crosses a word. */
struct word {
	uintptr_t address;
	uint8_t cuts;        /* bit i: a location begins at byte i */
	uint8_t location[8]; /* by its first byte: index + 1 */
};

struct range {
	uintptr_t at;
	size_t n;
};

/* acquired: what an acquire fence takes. released: what a relaxed store carries since a fence. */
static struct thread {
	struct view now, acquired, released;
	struct range pending; /* a plain store that happens after the call; n 0: none */
	uint64_t history;     /* a hash of all it has read */
	bool is_racing;       /* its last access may have raced */
} threads[ORDER_THREADS_MOST];

static struct location location[LOCATIONS];
static unsigned n_locations;
static struct word words[WORDS];
static struct view of_fences; /* of sequentially consistent operations */
static struct range unmapped[UNMAPPED], race[RANGES];
static unsigned n_unmapped, n_races;

/* ---- locations ---- */

static uint64_t peek(uintptr_t at, unsigned n)
{
	uint64_t v = 0;
	memcpy(&v, (const void *)at, n); /* little-endian, as all our processors are */
	return v;
}

static void poke(uintptr_t at, unsigned n, uint64_t v)
{
	if (peek(at, n) != v) /* constants cannot be written */
		memcpy((void *)at, &v, n);
}

static struct word *word_of(uintptr_t at)
{
	const uintptr_t address = at & ~(uintptr_t)7;
	size_t i = (size_t)(address * UINT64_C(0x9E3779B97F4A7C15) >> 40) % WORDS;
	for (unsigned tries = 0; tries < WORDS; tries++, i = (i + 1) % WORDS) {
		if (!words[i].address)
			words[i].address = address;
		if (words[i].address == address)
			return &words[i];
	}
	order_stop("the checker has too few words");
}

/* The bytes from `at` on that are one location, at most n. */
static unsigned extent_of(const struct word *w, uintptr_t at, size_t n)
{
	const unsigned from = at & 7;
	unsigned size = from ? from & -from : 8;
	while (size > n)
		size /= 2;
	for (unsigned i = 1; i < size; i++)
		if (w->cuts >> (from + i) & 1)
			return i;
	return size;
}

static void cut(uintptr_t at)
{
	struct word *w = word_of(at);
	if (w->cuts >> (at & 7) & 1)
		return;
	w->cuts |= (uint8_t)(1u << (at & 7));
	for (unsigned i = 0; i < (at & 7); i++)
		if (w->location[i] && i + location[w->location[i] - 1].n_bytes > (at & 7))
			order_again();
}

static bool is_in(const struct range *r, unsigned n, uintptr_t at)
{
	for (unsigned i = 0; i < n; i++)
		if (at - r[i].at < r[i].n)
			return true;
	return false;
}

static void begin_location(struct location *l)
{
	l->n = 1;
	l->in_order[0] = 0;
	l->store[0] = (struct store){.value = l->first};
	memset(l->last, 0, sizeof l->last);
}

static struct location *location_of(uintptr_t at, size_t most)
{
	struct word *w = word_of(at);
	const unsigned size = extent_of(w, at, most);
	if (!w->location[at & 7]) {
		if (n_locations == LOCATIONS)
			order_stop("the checker has too few locations");
		struct location *l = &location[n_locations++];
		l->address = at;
		l->n_bytes = size;
		l->may_race = is_in(race, n_races, at);
		l->first = peek(at, size);
		begin_location(l);
		w->location[at & 7] = (uint8_t)n_locations;
	}
	return &location[w->location[at & 7] - 1];
}

static struct location *atomic_location(uintptr_t at, unsigned n)
{
	cut(at);
	if ((at + n) & 7)
		cut(at + n);
	struct location *l = location_of(at, n);
	if (l->n_bytes != n)
		order_stop("an atomic access covers several locations");
	return l;
}

static void cut_range(uintptr_t at, size_t n)
{
	if (at & 7)
		cut(at);
	if ((at + n) & 7)
		cut(at + n);
}

/* ---- views ---- */

static unsigned place(const struct view *v, const struct location *l)
{
	return l->store[v->store[l - location]].at;
}

static void raise(struct view *v, const struct location *l, unsigned store)
{
	if (l->store[store].at > place(v, l))
		v->store[l - location] = (uint8_t)store;
}

static void join(struct view *v, const struct view *with)
{
	for (unsigned i = 0; i < n_locations; i++)
		raise(v, &location[i], with->store[i]);
	for (unsigned i = 0; i < ORDER_THREADS_MOST; i++)
		v->clock[i] = v->clock[i] > with->clock[i] ? v->clock[i] : with->clock[i];
}

static void note(struct thread *t, uint64_t v)
{
	t->history = (t->history ^ v) * UINT64_C(0xff51afd7ed558ccd);
	t->history ^= t->history >> 32;
}

/* Looks for a race with what did not happen before, and records the access. */
static void record(struct location *l, int access)
{
	struct thread *t = &threads[order_thread];
	const bool is_write = access == PLAIN_WRITE || access == ATOMIC_WRITE;
	const bool is_plain = access == PLAIN_WRITE || access == PLAIN_READ;
	if (is_in(unmapped, n_unmapped, l->address))
		order_stop("memory is used after it was unmapped");
	note(t, (uint64_t)(l - location) * N_ACCESS + (unsigned)access);
	t->now.clock[order_thread]++;
	for (int a = 0; a < N_ACCESS && !l->may_race; a++) {
		if ((!is_write && a >= PLAIN_READ) ||
		    (!is_plain && (a == ATOMIC_WRITE || a == ATOMIC_READ)))
			continue;
		for (int i = 0; i < ORDER_THREADS_MOST; i++)
			if (i != order_thread && l->last[a][i] > t->now.clock[i])
				order_stop("data race");
	}
	l->last[access][order_thread] = t->now.clock[order_thread];
}

/* ---- reading and writing ---- */

static bool is_within(const struct view *v, const struct view *other, const struct location *l)
{
	for (unsigned i = 0; i < n_locations; i++)
		if (&location[i] != l && place(v, &location[i]) > place(other, &location[i]))
			return false;
	for (unsigned i = 0; i < ORDER_THREADS_MOST; i++)
		if (v->clock[i] > other->clock[i])
			return false;
	return true;
}

/*
 * One of the stores from place `from` on. Not one with the value of an older one that says as
 * little about other places: whatever follows can follow that one, too.
 */
static unsigned choose_store(const struct location *l, unsigned from)
{
	unsigned store[STORES], n = 0;
	for (unsigned at = from; at < l->n; at++) {
		const struct store *s = &l->store[l->in_order[at]];
		unsigned k = 0;
		while (k < n && !(l->store[store[k]].value == s->value &&
				  is_within(&l->store[store[k]].view, &s->view, l)))
			k++;
		if (k == n)
			store[n++] = l->in_order[at];
	}
	return store[order_choose(n)];
}

static void take_read(struct location *l, unsigned store, int order)
{
	struct thread *t = &threads[order_thread];
	const struct store *s = &l->store[store];
	raise(&t->now, l, store);
	if (order == RELAXED || order == RELEASE)
		join(&t->acquired, &s->view);
	else
		join(&t->now, &s->view);
	note(t, s->value);
}

static unsigned first_readable(const struct location *l, int order)
{
	const unsigned own = place(&threads[order_thread].now, l), fence = place(&of_fences, l);
	return order == SEQ_CST && fence > own ? fence : own;
}

/* Puts a store at a place of the modification order. `read`: by a change, what it read. */
static void insert(struct location *l, unsigned at, uint64_t value, int order,
		   const struct store *read)
{
	struct thread *t = &threads[order_thread];
	if (l->n == STORES)
		order_stop("the checker has too few stores");
	const unsigned i = l->n++;
	for (unsigned k = i; k > at; k--) {
		l->in_order[k] = l->in_order[k - 1];
		l->store[l->in_order[k]].at = (uint8_t)k;
	}
	struct store *s = &l->store[i];
	l->in_order[at] = (uint8_t)i;
	s->value = value;
	s->at = (uint8_t)at;
	s->is_change = read != NULL;
	raise(&t->now, l, i);
	s->view = order >= RELEASE ? t->now : t->released;
	raise(&s->view, l, i);
	if (read)
		join(&s->view, &read->view);
	if (order == SEQ_CST)
		raise(&of_fences, l, i);
	poke(l->address, l->n_bytes, l->store[l->in_order[l->n - 1]].value);
}

/* A place after what the thread knows, but not between a change and what it read. */
static void insert_somewhere(struct location *l, uint64_t value, int order)
{
	const unsigned from = first_readable(l, order) + 1;
	unsigned place[STORES], n = 0;
	for (unsigned at = l->n; at >= from; at--)
		if (at == l->n || !l->store[l->in_order[at]].is_change)
			place[n++] = at;
	insert(l, place[order_choose(n)], value, order, NULL);
}

static void switch_before_atomic(void)
{
	threads[order_thread].is_racing = false;
	order_switch();
}

/*
 * Plain accesses that race are one step if no atomic one is between them. What another thread does
 * meanwhile it can as well do before: a load may still read the older stores.
 */
static void switch_before_race(void)
{
	if (!threads[order_thread].is_racing)
		order_switch();
	threads[order_thread].is_racing = true;
}

void model_settle(void)
{
	struct thread *t = &threads[order_thread];
	uint64_t value[LOCATIONS];
	struct location *l[LOCATIONS];
	unsigned n = 0;
	for (size_t k = 0; k < t->pending.n; k += l[n++]->n_bytes) {
		l[n] = location_of(t->pending.at + k, t->pending.n - k);
		value[n] = peek(l[n]->address, l[n]->n_bytes);
	}
	t->pending.n = 0;
	for (unsigned i = 0; i < n; i++) {
		if (l[i]->may_race)
			switch_before_race();
		record(l[i], PLAIN_WRITE);
		insert_somewhere(l[i], value[i], RELAXED);
	}
}

static bool is_own_stack(uintptr_t at);

void model_read(uintptr_t at, size_t n)
{
	if (is_own_stack(at))
		return;
	model_settle();
	cut_range(at, n);
	uint64_t value[LOCATIONS];
	struct location *l[LOCATIONS];
	unsigned n_read = 0;
	for (size_t k = 0; k < n; k += l[n_read++]->n_bytes) {
		struct location *x = l[n_read] = location_of(at + k, n - k);
		if (x->may_race)
			switch_before_race();
		record(x, PLAIN_READ);
		const unsigned from = first_readable(x, RELAXED),
			       store = x->may_race ? choose_store(x, from) : x->in_order[from];
		take_read(x, store, RELAXED);
		value[n_read] = x->store[store].value;
	}
	/* after all switches, because other threads read, too */
	for (unsigned i = 0; i < n_read; i++)
		poke(l[i]->address, l[i]->n_bytes, value[i]);
}

void model_write(uintptr_t at, size_t n)
{
	if (is_own_stack(at))
		return;
	model_settle();
	cut_range(at, n);
	/* Now, while memory has the value from before the run. */
	for (size_t k = 0; k < n;)
		k += location_of(at + k, n - k)->n_bytes;
	threads[order_thread].pending = (struct range){at, n};
}

uint64_t model_load(uintptr_t at, unsigned n, int order)
{
	if (is_own_stack(at))
		return peek(at, n);
	model_settle();
	struct location *l = atomic_location(at, n);
	switch_before_atomic();
	record(l, ATOMIC_READ);
	const unsigned store = choose_store(l, first_readable(l, order));
	take_read(l, store, order);
	return l->store[store].value;
}

void model_store(uintptr_t at, unsigned n, uint64_t value, int order)
{
	if (is_own_stack(at)) {
		poke(at, n, value);
		return;
	}
	model_settle();
	struct location *l = atomic_location(at, n);
	switch_before_atomic();
	record(l, ATOMIC_WRITE);
	insert_somewhere(l, value, order);
}

/* The stores that a change may read: no other change has read them. */
static unsigned changeable(const struct location *l, int order, const uint64_t *expected,
			   unsigned *store)
{
	unsigned n = 0;
	for (unsigned at = first_readable(l, order); at < l->n; at++) {
		const struct store *s = &l->store[l->in_order[at]];
		const bool is_taken = at + 1 < l->n && l->store[l->in_order[at + 1]].is_change;
		if (!is_taken || (expected && s->value != *expected))
			store[n++] = l->in_order[at];
	}
	return n;
}

uint64_t model_change(uintptr_t at, unsigned n, uint64_t (*change)(uint64_t, uint64_t),
		      uint64_t operand, int order)
{
	model_settle();
	struct location *l = atomic_location(at, n);
	unsigned store[STORES];
	switch_before_atomic();
	record(l, ATOMIC_READ);
	record(l, ATOMIC_WRITE);
	const unsigned n_stores = changeable(l, order, NULL, store);
	const struct store *s = &l->store[store[order_choose(n_stores)]];
	take_read(l, (unsigned)(s - l->store), order);
	const uint64_t value = change(s->value, operand), mask = ~UINT64_C(0) >> (64 - 8 * n);
	insert(l, s->at + 1u, value & mask, order, s);
	return s->value;
}

bool model_compare(uintptr_t at, unsigned n, uint64_t *expected, uint64_t value, int order,
		   int failure_order)
{
	model_settle();
	struct location *l = atomic_location(at, n);
	unsigned store[STORES];
	switch_before_atomic();
	record(l, ATOMIC_READ);
	const unsigned n_stores = changeable(l, order, expected, store);
	const struct store *s = &l->store[store[order_choose(n_stores)]];
	const bool is_same = s->value == *expected;
	take_read(l, (unsigned)(s - l->store), is_same ? order : failure_order);
	*expected = s->value;
	if (is_same) {
		record(l, ATOMIC_WRITE);
		insert(l, s->at + 1u, value, order, s);
	}
	return is_same;
}

void model_fence(int order)
{
	model_settle();
	switch_before_atomic();
	struct thread *t = &threads[order_thread];
	note(t, (unsigned)order);
	if (order != RELAXED && order != RELEASE)
		join(&t->now, &t->acquired);
	if (order == SEQ_CST) {
		join(&t->now, &of_fences);
		join(&of_fences, &t->now);
		memset(of_fences.clock, 0, sizeof of_fences.clock); /* no synchronization */
	}
	if (order >= RELEASE)
		t->released = t->now;
}

void order_unmap(const void *at, size_t n_bytes)
{
	model_settle();
	for (unsigned i = 0; i < n_locations; i++)
		if (location[i].address - (uintptr_t)at < n_bytes)
			record(&location[i], PLAIN_WRITE);
	if (n_unmapped == UNMAPPED)
		order_stop("the checker has too few ranges");
	unmapped[n_unmapped++] = (struct range){(uintptr_t)at, n_bytes};
}

/* ---- runs ---- */

/* Threads run on stacks of the search; what is there is no one else's. */
static bool is_own_stack(uintptr_t at)
{
	extern uintptr_t order_stacks, order_stacks_end;
	return at >= order_stacks && at < order_stacks_end;
}

void order_may_race(const void *at, size_t n_bytes)
{
	if (n_races == RANGES)
		order_stop("the checker has too few ranges");
	race[n_races++] = (struct range){(uintptr_t)at, n_bytes};
}

void order_reset(void)
{
	n_races = 0;
}

void model_forget(void)
{
	n_locations = 0;
	memset(words, 0, sizeof words);
}

void model_forget_locations(void)
{
	n_locations = 0;
	for (unsigned i = 0; i < WORDS; i++)
		memset(words[i].location, 0, sizeof words[i].location);
}

void model_begin(void)
{
	for (unsigned i = 0; i < n_locations; i++)
		begin_location(&location[i]);
	memset(threads, 0, sizeof threads);
	memset(&of_fences, 0, sizeof of_fences);
	n_unmapped = 0;
}

void model_show_last(void)
{
	for (unsigned i = 0; i < n_locations; i++) {
		const struct location *l = &location[i];
		poke(l->address, l->n_bytes, l->store[l->in_order[l->n - 1]].value);
	}
}

void model_restore(void)
{
	for (unsigned i = 0; i < n_locations; i++)
		poke(location[i].address, location[i].n_bytes, location[i].first);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
	return h ^ h >> 29;
}

static uint64_t mix_view(uint64_t h, const struct view *v)
{
	for (unsigned i = 0; i < n_locations; i++)
		if (location[i].n > 1)
			h = mix(h, place(v, &location[i]) | (uint64_t)i << 8);
	for (unsigned i = 0; i < ORDER_THREADS_MOST; i++)
		h = mix(h, v->clock[i]);
	return h;
}

/* Stores are known by their places, so that runs that differ in irrelevant order have one state. */
uint64_t model_hash(void)
{
	uint64_t h = mix_view(n_unmapped, &of_fences);
	for (unsigned i = 0; i < ORDER_THREADS_MOST; i++) {
		h = mix_view(mix(h, threads[i].history), &threads[i].now);
		h = mix_view(mix_view(h, &threads[i].acquired), &threads[i].released);
	}
	for (unsigned i = 0; i < n_locations; i++) {
		const struct location *l = &location[i];
		for (unsigned k = 1; k < l->n; k++) {
			const struct store *s = &l->store[l->in_order[k]];
			h = mix_view(mix(h, s->value * 2 + s->is_change + i), &s->view);
		}
		for (int a = 0; a < N_ACCESS && l->n > 1; a++)
			for (int t = 0; t < ORDER_THREADS_MOST; t++)
				h = mix(h, l->last[a][t]);
	}
	return h;
}
