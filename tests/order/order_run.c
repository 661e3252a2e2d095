/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search: threads as contexts, choices, states that were seen, and tests. A run repeats the
 * choices of the one before up to the last that has another alternative, and takes that one. A run
 * that comes to a known state ends there. See order.h. Test: tests/order/test_order_litmus.c.
 */
#include "tests/order/order_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { CHOICES = 4096, STACK_BYTES = 256 << 10, SITES = 64 };

int order_thread = -1;
uintptr_t order_stacks, order_stacks_end;

static struct {
	const struct order_program *program;
	const struct order_site *weakened;
	uint8_t choice[CHOICES], n_ways[CHOICES];
	unsigned depth, n_known; /* of this run, and of its choices that are given */
	ucontext_t home, context[ORDER_THREADS_MOST];
	unsigned n_threads;
	bool has_begun[ORDER_THREADS_MOST], is_done[ORDER_THREADS_MOST];
	enum { RUN, SEEN, FAULT, AGAIN } end;
	const char *fault;
	uint64_t *state;
	size_t n_states, n_room; /* a power of two */
	struct order_site site[SITES];
	unsigned n_sites;
	struct order_site here[ORDER_THREADS_MOST];
} run;

/* ---- choices ---- */

unsigned order_choose(unsigned n)
{
	if (n <= 1)
		return 0;
	if (run.depth == CHOICES)
		order_stop("the checker has too few choices, or a loop does not end");
	const unsigned i = run.depth++;
	if (i >= run.n_known)
		run.choice[i] = 0;
	run.n_ways[i] = (uint8_t)n;
	return run.choice[i];
}

/* Prepares the next run. Returns false if all were made. */
static bool next_run(void)
{
	while (run.depth && run.choice[run.depth - 1] + 1 == run.n_ways[run.depth - 1])
		run.depth--;
	if (!run.depth)
		return false;
	run.choice[run.depth - 1]++;
	run.n_known = run.depth;
	return true;
}

static bool add_state(uint64_t *table, size_t room, uint64_t h)
{
	size_t i = h & (room - 1);
	while (table[i] && table[i] != h)
		i = (i + 1) & (room - 1);
	const bool is_new = !table[i];
	table[i] = h;
	return is_new;
}

static bool is_new_state(void)
{
	const uint64_t h = model_hash() | 1;
	if (run.n_states * 2 >= run.n_room) {
		const size_t room = run.n_room ? run.n_room * 2 : 1 << 12;
		uint64_t *larger = calloc(room, sizeof *larger);
		if (!larger)
			order_stop("no memory for states");
		for (size_t i = 0; i < run.n_room; i++)
			if (run.state[i])
				add_state(larger, room, run.state[i]);
		free(run.state);
		run.state = larger;
		run.n_room = room;
	}
	const bool is_new = add_state(run.state, run.n_room, h);
	run.n_states += is_new;
	return is_new;
}

/* ---- threads ---- */

static _Noreturn void leave(int end)
{
	run.end = end;
	order_thread = -1;
	setcontext(&run.home);
	abort();
}

void order_stop(const char *fault)
{
	static char text[256];
	const struct order_site *here = &run.here[order_thread < 0 ? 0 : order_thread];
	snprintf(text, sizeof text, "%s, thread %d after %s, line %d", fault, order_thread,
		 here->function ? here->function : "its start", here->line);
	run.fault = text;
	leave(FAULT);
}

void order_fault(const char *what)
{
	if (order_thread >= 0)
		order_stop(what);
	run.fault = what; /* from finish() */
	run.end = FAULT;
}

void order_again(void)
{
	leave(AGAIN);
}

/* Chooses the next thread; the present one first, so that the first run has few switches. */
static int next_thread(void)
{
	int able[ORDER_THREADS_MOST];
	unsigned n = 0;
	for (unsigned i = 0; i < run.n_threads; i++) {
		const unsigned t =
			((unsigned)(order_thread < 0 ? 0 : order_thread) + i) % run.n_threads;
		if (!run.is_done[t])
			able[n++] = (int)t;
	}
	return n ? able[order_choose(n)] : -1;
}

void order_switch(void)
{
	/* A thread that begins was chosen just now, in this state. */
	if (!run.has_begun[order_thread]) {
		run.has_begun[order_thread] = true;
		return;
	}
	if (run.depth >= run.n_known && !is_new_state())
		leave(SEEN);
	const int from = order_thread, to = next_thread();
	if (from == to)
		return;
	order_thread = to;
	swapcontext(&run.context[from], &run.context[to]);
}

static void run_thread(void)
{
	run.program->thread[order_thread]();
	model_settle();
	run.is_done[order_thread] = true;
	const int to = next_thread();
	order_thread = to;
	setcontext(to < 0 ? &run.home : &run.context[to]);
	abort();
}

static void run_once(void)
{
	volatile bool is_back = false;
	run.depth = 0;
	run.end = RUN;
	run.n_threads = 0;
	model_begin();
	memset(run.has_begun, 0, sizeof run.has_begun);
	memset(run.is_done, 0, sizeof run.is_done);
	memset(run.here, 0, sizeof run.here);
	while (run.program->thread[run.n_threads]) {
		ucontext_t *c = &run.context[run.n_threads];
		getcontext(c);
		c->uc_stack.ss_sp = (void *)(order_stacks + run.n_threads++ * STACK_BYTES);
		c->uc_stack.ss_size = STACK_BYTES;
		makecontext(c, run_thread, 0);
	}
	getcontext(&run.home);
	if (is_back)
		return;
	is_back = true;
	order_thread = next_thread();
	setcontext(&run.context[order_thread]);
}

static bool get_stacks(void)
{
	const size_t n = (size_t)STACK_BYTES * ORDER_THREADS_MOST;
	void *at = order_stacks ? NULL
				: mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				       -1, 0);
	if (at == MAP_FAILED)
		return false;
	if (at) {
		order_stacks = (uintptr_t)at;
		order_stacks_end = order_stacks + n;
	}
	return true;
}

struct order_result order_explore(const struct order_program *p, const struct order_site *weakened)
{
	struct order_result r = {0};
	run.program = p;
	run.weakened = weakened;
	run.fault = NULL;
	run.n_known = run.n_states = run.n_room = 0;
	free(run.state);
	run.state = NULL;
	if (!get_stacks())
		return (struct order_result){.fault = "no memory for stacks"};
	model_forget();
	do {
		run_once();
		r.n_runs++;
		if (run.end == RUN && p->finish) {
			model_show_last();
			p->finish();
		}
		model_restore();
		if (run.end == AGAIN) { /* with the new layout, and from the first run on */
			model_forget_locations();
			run.depth = run.n_known = run.n_states = 0;
			memset(run.state, 0, run.n_room * sizeof *run.state);
			r.n_runs = 0;
		}
	} while (run.end != FAULT && (run.end == AGAIN || next_run()));
	r.fault = run.end == FAULT ? run.fault : NULL;
	r.n_states = run.n_states;
	return r;
}

/* ---- sites ---- */

void order_at(const char *function, int line, const char *operation)
{
	if (order_thread >= 0)
		run.here[order_thread] = (struct order_site){function, operation, line, 0};
}

static bool is_same(const struct order_site *a, const struct order_site *b)
{
	return a->line == b->line && strcmp(a->function, b->function) == 0 &&
	       strcmp(a->operation, b->operation) == 0;
}

int order_weakened(int order)
{
	struct order_site *here = &run.here[order_thread];
	unsigned i = 0;
	if (order == RELAXED || !here->function)
		return order;
	while (i < run.n_sites && !is_same(&run.site[i], here))
		i++;
	if (i == run.n_sites && i < SITES) {
		run.site[run.n_sites] = *here;
		run.site[run.n_sites++].order = order;
	}
	return run.weakened && is_same(run.weakened, here) ? RELAXED : order;
}

static int by_line(const void *a, const void *b)
{
	const struct order_site *x = a, *y = b;
	const int c = strcmp(x->function, y->function);
	return c ? c : x->line - y->line;
}

/* ---- tests ---- */

static unsigned n_tests, n_failed;

void order_ok(bool is_ok, const char *what)
{
	printf("%sok %u - %s\n", is_ok ? "" : "not ", ++n_tests, what);
	n_failed += !is_ok;
}

int order_done(void)
{
	printf("1..%u\n", n_tests);
	return n_failed != 0;
}

static const char *spare_because(const struct order_spare *spare, const char *function, unsigned i)
{
	for (; spare && spare->function; spare++)
		if (spare->i == i && strcmp(spare->function, function) == 0)
			return spare->why;
	return NULL;
}

/* Explores all programs, until one has a fault. Returns the fault. */
static const char *explore_all(const struct order_program *p, const struct order_site *weakened,
			       const struct order_program **who)
{
	for (*who = p; p->name; p++) {
		const struct order_result r = order_explore(p, weakened);
		*who = p;
		if (r.fault)
			return r.fault;
	}
	return NULL;
}

static void test_orders(const struct order_program *p, const struct order_site *site, unsigned n,
			const struct order_spare *spare)
{
	static const char *const orders[] = {"relaxed", "consume", "acquire",
					     "release", "acq_rel", "seq_cst"};
	char what[512];
	unsigned k = 0, n_spare = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct order_program *who;
		k = i && strcmp(site[i].function, site[i - 1].function) == 0 ? k + 1 : 1;
		const char *fault = explore_all(p, &site[i], &who),
			   *why = spare_because(spare, site[i].function, k);
		n_spare += why != NULL;
		snprintf(what, sizeof what, "%s %u, %s %s weakened: %s%s%s", site[i].function, k,
			 orders[site[i].order], site[i].operation, fault ? who->name : "no fault",
			 fault ? ": "
			 : why ? ": "
			       : "",
			 fault ? fault
			 : why ? why
			       : "");
		order_ok((fault == NULL) == (why != NULL), what);
	}
	while (spare && spare->function)
		n_spare -= spare++ != NULL;
	order_ok(n_spare == 0, "every order that is called spare is there");
}

void order_test(const struct order_program *p, const struct order_spare *spare)
{
	char what[512];
	struct order_site site[SITES];
	run.n_sites = 0;
	bool is_right = true;
	for (const struct order_program *i = p; i->name; i++) {
		const struct order_result r = order_explore(i, NULL);
		snprintf(what, sizeof what, "%s: %s (%llu states, %llu runs)", i->name,
			 r.fault ? r.fault : "no fault", (unsigned long long)r.n_states,
			 (unsigned long long)r.n_runs);
		order_ok(!r.fault, what);
		is_right &= !r.fault;
	}
	const unsigned n = run.n_sites;
	memcpy(site, run.site, sizeof site);
	qsort(site, n, sizeof *site, by_line);
	if (is_right)
		test_orders(p, site, n, spare);
}
