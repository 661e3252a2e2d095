/* SPDX-License-Identifier: BSD-3-Clause */
/* Advice about kernels and devices (view_advice.h): each appears with its evidence, none without,
 * and the estimates are those of their models. The facts are made up; the last test takes a
 * model's. */
#include "hpcprof-lite/view/advice/view_advice.h"
#include "tests/unit/sink/model_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- estimates ---- */

static void estimates(void **state)
{
	struct advice_interval i = advice_from_saved(0.5, 0.75, 0.8);
	(void)state;
	assert_float_equal(i.low, 2, 1e-12);
	assert_float_equal(i.likely, 4, 1e-12);
	assert_float_equal(i.high, 5, 1e-12);
	assert_float_equal(advice_bound(i, 3).high, 3, 1e-12);
	assert_float_equal(advice_bound(i, 3).likely, 3, 1e-12);
	assert_float_equal(advice_bound(i, 3).low, 2, 1e-12);
	assert_float_equal(advice_bound(i, 0.5).high, 1, 1e-12); /* never slower */
	assert_float_equal(advice_from_saved(-1, 0, 2).low, 1, 1e-12);
	assert_true(advice_from_saved(-1, 0, 2).high <= 100.0001);
	i = advice_from_saved(0.5, 0, 0.25); /* each is at least the one before */
	assert_float_equal(i.likely, 2, 1e-12);
	assert_float_equal(i.high, 2, 1e-12);
	/* each warp issues in one of ten cycles: 1 - 0.9^2 of 1 - 0.9 */
	assert_float_equal(advice_more_warps(0.1, 1, 2), 1.9, 1e-12);
	assert_float_equal(advice_more_warps(0.1, 2, 1), 1, 1e-12);
	assert_float_equal(advice_more_warps(0, 1, 2), 1, 1e-12);
	assert_float_equal(advice_more_warps(1, 1, 2), 1, 1e-12);
}

/* ---- kernels ---- */

/* A kernel of 1 s on 132 SMs with full occupancy, whose one line has all of 10,000 samples. */
struct made {
	struct advice_line line;
	struct advice_kernel kernel;
};

static void make(struct made *d, double issued)
{
	*d = (struct made){.kernel = {.function = 3,
				      .seconds = 1,
				      .launches = 10,
				      .beside = 1,
				      .samples = {.all = 10000, .issued = issued},
				      .memory_rate = 18,
				      .shape = {.units = 132,
						.blocks = 132 * 8 * 64,
						.block_warps = 8,
						.block_threads = 256,
						.registers = 32,
						.warps = 64,
						.warps_most = 64,
						.limit = MODEL_LIMIT_WARPS}}};
}

/* Samples that wait, all and those without an issue. */
static void wait_for(struct made *d, enum advice_reason r, double stalled, double idle)
{
	d->kernel.samples.stalled[r] += stalled;
	d->kernel.samples.idle[r] += idle;
}

static struct view_advices ask(struct made *d)
{
	struct view_advices a = {0};
	d->line = (struct advice_line){7, d->kernel.samples};
	d->kernel.lines = &d->line;
	d->kernel.n_lines = 1;
	assert_true(view_advice_kernel(&d->kernel, &a));
	for (size_t i = 0; i < a.rows.n; i++) {
		const struct view_advice *r = &a.rows.at[i];
		assert_true(r->n_facts > 0 && r->n_facts <= VIEW_FACTS);
		assert_true(r->factor.low >= 1 && r->factor.likely >= r->factor.low);
		assert_true(r->factor.high >= r->factor.likely);
		assert_true(view_advice_saved(r) > 0 && view_advice_saved(r) < r->seconds);
		assert_int_equal(r->function, 3);
		for (unsigned p = 0; p < r->n_places; p++)
			assert_true(r->places[p].context >= 7 && r->places[p].share <= 1);
	}
	return a;
}

/* The row of this kind; fails if it is missing, or if there are others unless `more`. */
static struct view_advice only(struct made *d, enum view_advice_kind kind, bool more)
{
	struct view_advices a = ask(d);
	struct view_advice found = {.kind = VIEW_N_ADVICE_KINDS};
	for (size_t i = 0; i < a.rows.n; i++)
		if (a.rows.at[i].kind == kind)
			found = a.rows.at[i];
	assert_int_equal(found.kind, kind);
	assert_true(more || a.rows.n == 1);
	view_advice_free(&a);
	return found;
}

static void nothing(struct made *d)
{
	struct view_advices a = ask(d);
	for (size_t i = 0; i < a.rows.n; i++)
		print_error("not expected: %s\n", view_advice_key(a.rows.at[i].kind));
	assert_int_equal(a.rows.n, 0);
	view_advice_free(&a);
}

static double fact(const struct view_advice *a, const char *what)
{
	for (unsigned i = 0; i < a->n_facts; i++)
		if (strstr(a->facts[i].what, what))
			return a->facts[i].value;
	print_error("no fact '%s'\n", what);
	fail();
	return 0;
}

static void clean_kernels_have_none(void **state)
{
	struct made d;
	(void)state;
	make(&d, 2300); /* as hot_line of tests/gpu/truth_kernels.cu on an H200 */
	wait_for(&d, ADVICE_FIXED, 5900, 810);
	wait_for(&d, ADVICE_FETCH, 440, 130);
	wait_for(&d, ADVICE_OTHER, 1000, 0);
	nothing(&d);
	make(&d, 60); /* a copy that takes the bandwidth of memory, in pieces of 16 bytes */
	wait_for(&d, ADVICE_MEMORY, 9500, 8580);
	wait_for(&d, ADVICE_DRAIN, 130, 120);
	nothing(&d);
	make(&d, 180); /* a transposition: warps wait at a barrier for loads of others */
	wait_for(&d, ADVICE_MEMORY, 6340, 4590);
	wait_for(&d, ADVICE_BARRIER, 2630, 1910);
	d.kernel.causes = &(struct advice_cause){.context = 8,
						 .reason = ADVICE_MEMORY,
						 .operation = ADVICE_GLOBAL,
						 .samples = 6340,
						 .issued = 15,
						 .cycles = 6340 * 1000};
	d.kernel.n_causes = 1;
	nothing(&d);
	make(&d, 1500); /* barriers that are reached together */
	wait_for(&d, ADVICE_BARRIER, 900, 100);
	nothing(&d);
	make(&d, 20); /* a copy with as many bytes stored as loaded, 4 loads under way */
	wait_for(&d, ADVICE_MEMORY, 7600, 7600);
	wait_for(&d, ADVICE_DRAIN, 2100, 2100);
	d.kernel.causes = &(struct advice_cause){.context = 8,
						 .reason = ADVICE_MEMORY,
						 .operation = ADVICE_GLOBAL,
						 .samples = 4000,
						 .issued = 2.4,
						 .bytes = 2.4 * 16,
						 .cycles = 4000 * 4700.0};
	d.kernel.n_causes = 1;
	nothing(&d);
	d.kernel.causes = NULL;
	d.kernel.n_causes = 0;
	make(&d, 300); /* a histogram in shared memory: loads ahead would wait for that unit */
	wait_for(&d, ADVICE_MEMORY, 4000, 3000);
	wait_for(&d, ADVICE_SHORT_QUEUE, 3800, 3000);
	d.kernel.causes = (struct advice_cause[]){{.context = 8,
						   .reason = ADVICE_MEMORY,
						   .operation = ADVICE_GLOBAL,
						   .samples = 4000,
						   .issued = 4,
						   .bytes = 4 * 16,
						   .cycles = 4000 * 700.0,
						   .in_loop = 4000},
						  {.context = 9,
						   .reason = ADVICE_SHORT,
						   .operation = ADVICE_SHARED,
						   .samples = 700,
						   .issued = 40}};
	d.kernel.n_causes = 2;
	d.kernel.shape.shared_bytes = 8224;
	nothing(&d);
	make(&d, 0); /* no samples, and a shape without a flaw */
	d.kernel.samples.all = 0;
	nothing(&d);
	make(&d, 500); /* idle parts were not measured: nothing is known to be lost */
	wait_for(&d, ADVICE_MEMORY, 9000, 0);
	nothing(&d);
	make(&d, 500); /* nor do they add up */
	d.kernel.memory_rate = 0;
	wait_for(&d, ADVICE_MEMORY, 4000, 9000);
	nothing(&d);
}

/* Without causes, a line issues four instructions for each access. */
static void memory(void **state)
{
	struct made d;
	(void)state;
	make(&d, 10); /* each access takes 3,960 cycles, and there are few */
	wait_for(&d, ADVICE_MEMORY, 9900, 9800);
	wait_for(&d, ADVICE_DRAIN, 90, 90);
	struct view_advice a = only(&d, VIEW_ADVICE_SCATTERED, false);
	assert_float_equal(fact(&a, "mean wait of a warp"), 3960, 1);
	assert_float_equal(fact(&a, "waiting for memory"), 0.98, 1e-9);
	assert_float_equal(fact(&a, "end of stores"), 0.009, 1e-9);
	assert_float_equal(a.factor.low, 1 / (1 - 0.4945), 1e-6);
	/* 0.011 instructions in a cycle of each scheduler: 0.044 / 4 accesses of 4 to 16 bytes */
	assert_float_equal(fact(&a, "side by side"), 0.011 * 32 * 16, 1e-9);
	assert_float_equal(a.factor.likely, 18 / (0.011 * 32 * 16), 1e-6);
	assert_float_equal(a.factor.high, 2 * 18 / (0.011 * 32 * 4), 1e-6);
	assert_int_equal(a.n_places, 1);
	assert_float_equal(a.places[0].share, 1, 1e-12);
	d.kernel.memory_rate = 0; /* then it may be what memory delivers */
	nothing(&d);

	make(&d, 60); /* 660 cycles: alone */
	wait_for(&d, ADVICE_MEMORY, 9900, 9900);
	a = only(&d, VIEW_ADVICE_IN_FLIGHT, false);
	assert_float_equal(a.factor.low, 1 / (1 - 0.495), 1e-6);
	assert_float_equal(a.factor.likely, 18 / (0.01 * 32 * 16), 1e-6);
	d.kernel.memory_rate = 0; /* not known */
	a = only(&d, VIEW_ADVICE_IN_FLIGHT, false);
	assert_float_equal(a.factor.likely, 1 / (1 - 0.99 * 7 / 8), 1e-6);
	assert_float_equal(a.factor.high, 1 / (1 - 0.99), 1e-6);

	make(&d, 1000); /* it issues so much that loads may take all that memory delivers */
	wait_for(&d, ADVICE_MEMORY, 7500, 5000);
	nothing(&d);
	d.kernel.shape.local_bytes = 104;
	a = only(&d, VIEW_ADVICE_LOCAL, false);
	assert_float_equal(fact(&a, "local memory of a thread"), 104, 1e-9);
	assert_float_equal(a.factor.likely, 2, 1e-9);
}

/* With causes, accesses and their bytes are counted. */
static void counted_accesses(void **state)
{
	struct advice_cause c = {.context = 8,
				 .reason = ADVICE_MEMORY,
				 .operation = ADVICE_GLOBAL,
				 .samples = 9000,
				 .issued = 20,
				 .bytes = 20 * 8,
				 .cycles = 9000 * 500.0,
				 .in_loop = 9000};
	struct made d;
	(void)state;
	make(&d, 500);
	wait_for(&d, ADVICE_MEMORY, 9000, 8000);
	d.kernel.causes = &c;
	d.kernel.n_causes = 1;
	struct view_advice a = only(&d, VIEW_ADVICE_IN_FLIGHT, false);
	double asked = 4 * 0.2 * 20 / 500 * 32 * 8;
	assert_float_equal(fact(&a, "mean wait of a warp"), 500, 1e-9);
	assert_float_equal(a.factor.low, 1 / 0.6, 1e-9);
	assert_float_equal(a.factor.likely, 18 / asked, 1e-9);
	assert_float_equal(a.factor.high, 36 / asked, 1e-9);
	c.bytes = 20; /* of one byte */
	a = only(&d, VIEW_ADVICE_IN_FLIGHT, false);
	assert_float_equal(a.factor.likely, 1 / (1 - 0.8 * 7 / 8), 1e-9);
	c.in_loop = 4000; /* most run once: there are no other loads to begin */
	nothing(&d);
	c.in_loop = 9000;
	c.cycles = 9000 * 900.0; /* other accesses are under way: memory may be busy */
	nothing(&d);
	c.issued = 10; /* with 32 bytes for each thread it is not */
	only(&d, VIEW_ADVICE_IN_FLIGHT, false);
	c.issued = 20;
	c.cycles = 9000 * 2500.0; /* it is, by a byte in a cycle */
	a = only(&d, VIEW_ADVICE_SCATTERED, false);
	assert_float_equal(fact(&a, "side by side"), asked / 8, 1e-9);
	assert_float_equal(a.factor.likely, 5, 1e-9);

	make(&d, 1500); /* near data, and a full queue */
	wait_for(&d, ADVICE_MEMORY, 1000, 500);
	wait_for(&d, ADVICE_MEMORY_QUEUE, 3000, 2000);
	c.samples = 1000;
	c.issued = 600;
	c.bytes = 600 * 4;
	c.cycles = 1000 * 30.0;
	d.kernel.causes = &c;
	d.kernel.n_causes = 1;
	a = only(&d, VIEW_ADVICE_QUEUE, false);
	assert_float_equal(fact(&a, "access memory"), 0.4, 1e-9);
	assert_float_equal(fact(&a, "bytes of an access"), 4, 1e-9);
	assert_float_equal(a.factor.low, 1 / (1 - 0.125), 1e-9);
	assert_float_equal(a.factor.likely, 1 / (1 - 0.25 - 0.4 * 0.75 * 0.75), 1e-9);
	assert_float_equal(a.factor.high, 1 / (1 - 0.25 - 0.4 * 0.75), 1e-9);
	struct advice_cause two[] = {c, c}; /* as many copies, of unknown width, change no bytes */
	two[1].context = 9;
	two[1].bytes = 0;
	d.kernel.causes = two;
	d.kernel.n_causes = 2;
	a = only(&d, VIEW_ADVICE_QUEUE, false);
	assert_float_equal(fact(&a, "bytes of an access"), 4, 1e-9);
	two[0].bytes = 0; /* atomic operations alone */
	a = only(&d, VIEW_ADVICE_QUEUE, false);
	assert_int_equal(a.n_facts, 3);
	assert_float_equal(a.factor.likely, 1 / (1 - 0.25), 1e-9);
	d.kernel.causes = &c;
	d.kernel.n_causes = 1;
	d.kernel.shape.warps = 16; /* more warps do not empty the queue */
	d.kernel.memory_rate = 0;
	only(&d, VIEW_ADVICE_QUEUE, false);
}

/* What waits behind a full queue of accesses, and what fewer of them give. */
static void full_queues(void **state)
{
	struct advice_cause c = {.context = 8,
				 .reason = ADVICE_MEMORY,
				 .operation = ADVICE_GLOBAL,
				 .samples = 5000,
				 .issued = 20,
				 .bytes = 20,
				 .cycles = 5000 * 3000.0};
	struct made d;
	(void)state;
	make(&d, 100);
	wait_for(&d, ADVICE_MEMORY, 5000, 5000);
	wait_for(&d, ADVICE_MEMORY_QUEUE, 3000, 3000);
	wait_for(&d, ADVICE_SHORT_QUEUE, 1500, 1500);
	d.kernel.causes = &c;
	d.kernel.n_causes = 1;
	d.kernel.memory_rate = 180;
	struct view_advice a = only(&d, VIEW_ADVICE_SCATTERED, false);
	assert_float_equal(a.factor.likely, 20, 1e-9);
	d.kernel.shape.shared_bytes = 4096; /* that unit may have waits of its own */
	a = only(&d, VIEW_ADVICE_SCATTERED, true);
	assert_float_equal(a.factor.likely, 5, 1e-9);
	d.kernel.shape.shared_bytes = 0;
	c.cycles = 5000 * 300.0;
	c.bytes = 20 * 4;
	a = only(&d, VIEW_ADVICE_QUEUE, false);
	assert_float_equal(a.factor.low, 1 / 0.6, 1e-9);
	assert_float_equal(a.factor.likely, 4, 1e-9); /* a fourth of the accesses */
	assert_float_equal(a.factor.high, 1 / (1 - 0.8 - 0.2 * 0.05), 1e-9);
}

/* Just below the thresholds there is none, though the factor would be worth a row. */
static void thresholds(void **state)
{
	struct made d;
	(void)state;
	make(&d, 20);
	d.kernel.samples.all = 199;
	wait_for(&d, ADVICE_PIPE, 150, 100);
	nothing(&d);
	d.kernel.samples.all = 200;
	only(&d, VIEW_ADVICE_PIPE, false);
	make(&d, 20); /* also of warps that are too few */
	d.kernel.shape.warps = 16;
	d.kernel.samples.all = 199;
	wait_for(&d, ADVICE_FIXED, 150, 100);
	nothing(&d);
	d.kernel.samples.all = 200;
	only(&d, VIEW_ADVICE_OCCUPANCY, true);

	make(&d, 60);
	wait_for(&d, ADVICE_MEMORY, 9900, 990);
	d.kernel.memory_rate = 0;
	nothing(&d);
	wait_for(&d, ADVICE_MEMORY, 0, 110);
	only(&d, VIEW_ADVICE_IN_FLIGHT, false);

	make(&d, 48); /* 817 cycles: memory may be busy */
	wait_for(&d, ADVICE_MEMORY, 9800, 9800);
	nothing(&d);
	d.kernel.samples.issued = 50; /* 784 */
	only(&d, VIEW_ADVICE_IN_FLIGHT, false);
	make(&d, 15); /* 2,640 cycles, but 16 bytes for each thread are half of what it delivers */
	wait_for(&d, ADVICE_MEMORY, 9900, 9820);
	nothing(&d);
	d.kernel.memory_rate = 19;
	only(&d, VIEW_ADVICE_SCATTERED, false);
	make(&d, 800); /* all that ends is a tenth, less what waits for memory anyway */
	wait_for(&d, ADVICE_MEMORY, 4000, 0);
	wait_for(&d, ADVICE_BARRIER, 2000, 1990);
	nothing(&d);
	wait_for(&d, ADVICE_BARRIER, 100, 100);
	struct view_advice a = only(&d, VIEW_ADVICE_BARRIER, false);
	assert_float_equal(a.factor.likely, 1 / (1 - 0.209 * (1 - 4000 / 7900.0)), 1e-9);
	assert_float_equal(a.factor.high, 1 / (1 - fmin(0.21 * (1 - 4000 / 7900.0), 0.209)), 1e-9);

	make(&d, 500);
	d.kernel.beside = 2; /* the other half is of others */
	wait_for(&d, ADVICE_PIPE, 5000, 5000);
	assert_float_equal(only(&d, VIEW_ADVICE_PIPE, false).seconds, 0.5, 1e-12);
}

/* What the lines that are waited for do decides, where it is known. */
static void causes(void **state)
{
	struct advice_cause list[] = {
		{.context = 8, .reason = ADVICE_MEMORY, .operation = ADVICE_LOCAL, .samples = 6000},
		{.context = 9,
		 .reason = ADVICE_MEMORY,
		 .operation = ADVICE_GLOBAL,
		 .samples = 3000},
		{.context = 10,
		 .reason = ADVICE_SHORT,
		 .operation = ADVICE_SHARED,
		 .samples = 6000},
		{.context = 11,
		 .reason = ADVICE_SHORT,
		 .operation = ADVICE_SPECIAL,
		 .samples = 3000}};
	struct made d;
	struct view_advices a;
	(void)state;
	make(&d, 60);
	wait_for(&d, ADVICE_MEMORY, 9940, 9900);
	d.kernel.causes = list;
	d.kernel.n_causes = 2;
	a = ask(&d);
	assert_int_equal(a.rows.n, 1); /* what is not local is the smaller part */
	assert_int_equal(a.rows.at[0].kind, VIEW_ADVICE_LOCAL);
	assert_float_equal(fact(&a.rows.at[0], "for local memory"), 2.0 / 3, 1e-9);
	assert_float_equal(a.rows.at[0].factor.low, 1 / (1 - 0.33), 1e-9);
	assert_float_equal(a.rows.at[0].factor.likely, 1 / (1 - 0.66), 1e-9);
	assert_float_equal(a.rows.at[0].factor.high, 1 / (1 - 0.99), 1e-9); /* others wait behind */
	assert_int_equal(a.rows.at[0].n_places, 1);
	assert_int_equal(a.rows.at[0].places[0].context, 8);
	view_advice_free(&a);
	list[0].issued = 30; /* half of all instructions would go */
	a = ask(&d);
	assert_float_equal(a.rows.at[0].factor.likely, 1 / (1 - 0.66 - 0.005), 1e-9);
	view_advice_free(&a);
	list[0].issued = 0;
	list[0].operation = ADVICE_GLOBAL;
	list[0].in_loop = 6000;
	d.kernel.shape.local_bytes = 64; /* nobody waits for it */
	a = ask(&d);
	assert_int_equal(a.rows.at[0].kind, VIEW_ADVICE_IN_FLIGHT);
	assert_int_equal(a.rows.at[0].n_places, 2);
	assert_int_equal(a.rows.at[0].places[1].context, 9);
	view_advice_free(&a);
	list[0].samples = list[1].samples = 1000; /* of most samples, nothing is known */
	a = ask(&d);
	assert_int_equal(a.rows.at[0].kind, VIEW_ADVICE_LOCAL);
	assert_int_equal(a.rows.at[0].places[0].context, 7); /* the line that waits */
	assert_float_equal(a.rows.at[0].factor.low, 1 / (1 - 0.495), 1e-9);
	view_advice_free(&a);

	make(&d, 100);
	wait_for(&d, ADVICE_SHORT, 9000, 9000);
	d.kernel.causes = list + 2;
	d.kernel.n_causes = 2;
	a = ask(&d);
	assert_int_equal(a.rows.n, 2);
	assert_int_equal(a.rows.at[0].kind, VIEW_ADVICE_BANKS);
	assert_int_equal(a.rows.at[0].places[0].context, 10);
	assert_int_equal(a.rows.at[1].kind, VIEW_ADVICE_SPECIAL);
	assert_int_equal(a.rows.at[1].places[0].context, 11);
	assert_float_equal(a.rows.at[1].factor.likely, 1 / (1 - 0.3), 1e-9);
	view_advice_free(&a);
	for (unsigned i = 2; i < 4; i++) { /* a tenth of 90 % is not worth a row or a place */
		list[i].samples = 8100;
		list[5 - i].samples = 900;
		a = ask(&d);
		assert_int_equal(a.rows.n, 1);
		assert_int_equal(a.rows.at[0].kind,
				 i == 2 ? VIEW_ADVICE_BANKS : VIEW_ADVICE_SPECIAL);
		view_advice_free(&a);
	}
	list[2].operation = ADVICE_SPECIAL;
	list[2].samples = 800;
	list[3].samples = 8200;
	assert_int_equal(only(&d, VIEW_ADVICE_SPECIAL, false).n_places, 1);
	list[3].operation = ADVICE_TABLE;
	struct view_advice row = only(&d, VIEW_ADVICE_CONSTANT, false);
	assert_float_equal(row.factor.likely, 1 / (1 - 0.9 * 8200 / 9000), 1e-9);
	assert_int_equal(row.places[0].context, 11);
}

/* Atomic operations and volatile loads fill the queue of all accesses. */
static void accesses_in_a_row(void **state)
{
	struct advice_cause list[] = {{.context = 8,
				       .reason = ADVICE_MEMORY,
				       .operation = ADVICE_ATOMIC,
				       .samples = 3000,
				       .issued = 1,
				       .cycles = 3000 * 9000.0},
				      {.context = 9,
				       .reason = ADVICE_MEMORY,
				       .operation = ADVICE_GLOBAL,
				       .samples = 6000,
				       .issued = 1,
				       .bytes = 4,
				       .cycles = 6000 * 9000.0}};
	struct made d;
	(void)state;
	make(&d, 500);
	wait_for(&d, ADVICE_MEMORY, 9000, 9000);
	wait_for(&d, ADVICE_DRAIN, 500, 500);
	d.kernel.causes = list;
	d.kernel.n_causes = 2;
	struct view_advice a = only(&d, VIEW_ADVICE_ATOMICS, false);
	assert_float_equal(fact(&a, "for atomic operations"), 1.0 / 3, 1e-9);
	assert_float_equal(a.factor.likely, 1 / (1 - 0.95), 1e-9); /* the loads wait behind them */
	assert_int_equal(a.places[0].context, 8);
	list[0].issued = 40; /* as many as memory could do if each had an address of its own */
	only(&d, VIEW_ADVICE_SCATTERED, false);
	list[0].issued = 1;
	list[0].samples = 900; /* loads are what warps wait for */
	list[1].samples = 8100;
	only(&d, VIEW_ADVICE_SCATTERED, false);

	list[0].operation = ADVICE_STRONG;
	list[0].samples = list[1].samples = 4500;
	list[0].cycles = list[1].cycles = 4500 * 9000.0;
	a = only(&d, VIEW_ADVICE_VOLATILE, false);
	assert_float_equal(fact(&a, "for volatile loads"), 0.5, 1e-9);
	assert_float_equal(a.factor.likely, 1 / (1 - 0.9), 1e-9);
	list[0].cycles = list[1].cycles = 4500 * 300.0; /* nothing waits behind them */
	assert_float_equal(only(&d, VIEW_ADVICE_VOLATILE, false).factor.likely, 1 / (1 - 0.45),
			   1e-9);
	list[0].operation = ADVICE_GLOBAL;
	nothing(&d);
}

/* Conversions have the unit of special functions; a division is known by the one it begins with. */
/* Single bytes, side by side: not all that memory delivers. */
static void narrow(void **state)
{
	struct advice_cause c = {.context = 8,
				 .reason = ADVICE_MEMORY,
				 .operation = ADVICE_GLOBAL,
				 .samples = 8000,
				 .issued = 40,
				 .bytes = 40,
				 .cycles = 8000 * 900.0};
	struct made d;
	(void)state;
	make(&d, 500);
	wait_for(&d, ADVICE_MEMORY, 8500, 7000);
	d.kernel.causes = &c;
	d.kernel.n_causes = 1;
	struct view_advice a = only(&d, VIEW_ADVICE_NARROW, false);
	const double asked = 4 * 0.3 * 40 / 500 * 32;
	assert_float_equal(fact(&a, "loads ask for"), asked, 1e-9);
	assert_float_equal(fact(&a, "bytes of an access"), 1, 1e-9);
	assert_float_equal(a.factor.low, 1 / (1 - 0.35), 1e-9);
	assert_float_equal(a.factor.likely, 1 / (1 - (0.7 + 0.08 * 0.3) * 15 / 16), 1e-9);
	assert_float_equal(a.factor.high, 2 * 18 / asked, 1e-9);
	assert_int_equal(a.places[0].context, 8);
	c.bytes = 40 * 4; /* the usual width */
	nothing(&d);
	c.bytes = 40;
	c.cycles = 8000 * 100.0; /* they hit the L1 cache */
	nothing(&d);
	c.cycles = 8000 * 900.0;
	c.issued = c.bytes = 20; /* they may be anywhere */
	nothing(&d);
	c.issued = c.bytes = 40;
	d.kernel.memory_rate = 12; /* with as many stores, that is half of it */
	nothing(&d);
}

/* Few cycles are lost, but many issue loads of what the L1 cache has. */
static void reuse(void **state)
{
	struct advice_cause c = {.context = 8,
				 .reason = ADVICE_MEMORY,
				 .operation = ADVICE_GLOBAL,
				 .samples = 2000,
				 .issued = 600,
				 .bytes = 600 * 4,
				 .cycles = 2000 * 80.0,
				 .in_loop = 2000};
	struct made d;
	(void)state;
	make(&d, 2000);
	wait_for(&d, ADVICE_MEMORY, 2500, 200);
	d.kernel.causes = &c;
	d.kernel.n_causes = 1;
	struct view_advice a = only(&d, VIEW_ADVICE_QUEUE, false);
	const double loads = 0.3 * 0.98;
	assert_float_equal(fact(&a, "loads ask for"), 4 * loads * 32 * 4, 1e-9);
	assert_float_equal(a.factor.low, 1 / (1 - loads), 1e-9);
	assert_float_equal(a.factor.likely, 1 / (1 - 0.02 - 2 * loads), 1e-9);
	assert_float_equal(a.factor.high, 1 / (1 - 0.02 - 3 * loads), 1e-9);
	assert_int_equal(a.places[0].context, 8);
	c.in_loop = 0; /* each thread loads once */
	nothing(&d);
	c.in_loop = 2000;
	c.cycles = 2000 * 300.0; /* of the L2 cache */
	nothing(&d);
	c.cycles = 2000 * 80.0;
	c.bytes = 600; /* bytes, as the L2 cache could deliver */
	nothing(&d);
	c.issued = 400; /* a fifth of the instructions, of less than all cycles */
	c.bytes = 400 * 4;
	nothing(&d);
}

/* Accesses wait for room in the queue of shared memory, though it has little to do. */
static void conflicts(void **state)
{
	struct advice_cause c = {.context = 8,
				 .reason = ADVICE_SHORT,
				 .operation = ADVICE_SHARED,
				 .samples = 300,
				 .issued = 50,
				 .bytes = 50 * 4};
	struct made d;
	(void)state;
	make(&d, 200);
	wait_for(&d, ADVICE_SHORT, 400, 300);
	wait_for(&d, ADVICE_SHORT_QUEUE, 7700, 7700);
	d.kernel.causes = &c;
	d.kernel.n_causes = 1;
	struct view_advice a = only(&d, VIEW_ADVICE_BANKS, false);
	assert_float_equal(fact(&a, "a warp waits for each access"), 162, 1e-9);
	/* 0.2 instructions in a cycle of 4 schedulers, one in four loads; and as many stores */
	assert_float_equal(fact(&a, "needs without conflicts"), 0.4, 1e-9);
	assert_float_equal(a.factor.low, 1 / (1 - 0.4), 1e-9);
	assert_float_equal(a.factor.likely, 1 / 0.4, 1e-9);
	assert_float_equal(a.factor.high, 1 / 0.2, 1e-9);
	assert_int_equal(a.places[0].context, 8);
	c.bytes = 50 * 16; /* four cycles each: it is busy */
	nothing(&d);
	c.bytes = 0; /* atomic operations take longer */
	nothing(&d);
	c.bytes = 50 * 4;
	wait_for(&d, ADVICE_SHORT_QUEUE, -5000, -5000); /* warps mostly wait for something else */
	wait_for(&d, ADVICE_OTHER, 5000, 5000);
	c.issued = 20;
	c.bytes = 80;
	nothing(&d);
}

static void conversions(void **state)
{
	struct advice_cause list[] = {{.context = 8,
				       .reason = ADVICE_SHORT,
				       .operation = ADVICE_CONVERSION,
				       .samples = 500,
				       .issued = 60},
				      {.context = 9,
				       .reason = ADVICE_SHORT,
				       .operation = ADVICE_SPECIAL,
				       .samples = 400,
				       .issued = 10}};
	struct made d;
	(void)state;
	make(&d, 200);
	wait_for(&d, ADVICE_SHORT, 900, 900);
	wait_for(&d, ADVICE_SHORT_QUEUE, 7100, 7100);
	d.kernel.causes = list;
	d.kernel.n_causes = 2;
	struct view_advice a = only(&d, VIEW_ADVICE_CONVERSIONS, false);
	assert_float_equal(fact(&a, "instructions that convert"), 0.3, 1e-9);
	assert_float_equal(a.factor.likely, 1 / (1 - 0.8 - 0.35 * 0.2), 1e-9);
	assert_int_equal(a.places[0].context, 8);
	list[1].samples = 600; /* as sin does, which also converts */
	only(&d, VIEW_ADVICE_SPECIAL, false);

	make(&d, 3000); /* few cycles are lost, but 60 % of them issue divisions */
	wait_for(&d, ADVICE_SHORT, 1000, 500);
	list[0].operation = ADVICE_DIVISION;
	list[0].issued = 100;
	d.kernel.causes = list;
	d.kernel.n_causes = 1;
	a = only(&d, VIEW_ADVICE_DIVISION, false);
	assert_float_equal(fact(&a, "instructions that divide"), 0.6, 1e-9);
	assert_float_equal(a.factor.likely, 1 / (1 - 0.6 * 0.95), 1e-9);
	list[0].issued = 15; /* 9 % */
	nothing(&d);
}

/* Nearly all cycles have an issue, and 80 % of the instructions are those of further paths. */
static void paths(void **state)
{
	struct advice_cause c = {.context = 8,
				 .reason = ADVICE_MEMORY, /* of whatever waits where they meet */
				 .operation = ADVICE_PATHS,
				 .issued = 2400};
	struct made d;
	(void)state;
	make(&d, 3000);
	wait_for(&d, ADVICE_FIXED, 1000, 500);
	d.kernel.causes = &c;
	d.kernel.n_causes = 1;
	struct view_advice a = only(&d, VIEW_ADVICE_DIVERGENCE, false);
	assert_float_equal(a.factor.likely, 1 / (1 - 0.8 * 0.95), 1e-9);
	assert_int_equal(a.places[0].context, 8);
	c.issued = 600; /* 19 % */
	nothing(&d);
}

/* SMs that run out of blocks, and what follows from too few. */
static void idle_units(void **state)
{
	struct made d;
	(void)state;
	make(&d, 1000);
	d.kernel.shape.blocks = 132;
	d.kernel.busy_units = 0.5;
	struct view_advice a = only(&d, VIEW_ADVICE_TAIL, false);
	assert_float_equal(a.factor.likely, 2, 1e-9);
	d.kernel.busy_units = 0.85; /* within what starts and ends of blocks differ */
	nothing(&d);
	d.kernel.busy_units = 0.5;
	d.kernel.launches = 1e5; /* 10 us */
	nothing(&d);
	d.kernel.launches = 10;
	d.kernel.shape.blocks = 132 * 9; /* the last wave explains it */
	only(&d, VIEW_ADVICE_WAVE, false);

	make(&d, 1000); /* with more blocks, warps would hide what each of them waits for */
	d.kernel.shape.blocks = 24;
	wait_for(&d, ADVICE_FIXED, 8000, 7000);
	only(&d, VIEW_ADVICE_GRID, false);
	d.kernel.shape.blocks = 80; /* that gives less than interleaved chains */
	only(&d, VIEW_ADVICE_DEPENDENT, true);
}

static void units(void **state)
{
	static const struct {
		enum advice_reason reason;
		enum view_advice_kind kind;
		double low, likely;
	} cases[] = {
		{ADVICE_PIPE, VIEW_ADVICE_PIPE, 1 / 0.75, 2},
		{ADVICE_FETCH, VIEW_ADVICE_FETCH, 1 / 0.75, 2},
		{ADVICE_BRANCH, VIEW_ADVICE_BRANCH, 1 / 0.75, 2},
		{ADVICE_SHORT, VIEW_ADVICE_SPECIAL, 1 / 0.75, 2},
		{ADVICE_SHORT_QUEUE, VIEW_ADVICE_SPECIAL, 1 / 0.75, 2},
		{ADVICE_BARRIER, VIEW_ADVICE_BARRIER, 1 / 0.75, 2},
		{ADVICE_FIXED, VIEW_ADVICE_DEPENDENT, 1 / 0.75, 2},
	};
	struct made d;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		make(&d, 1500);
		wait_for(&d, cases[i].reason, 8000, 5000);
		struct view_advice a = only(&d, cases[i].kind, false);
		assert_float_equal(a.factor.low, cases[i].low, 1e-9);
		assert_float_equal(a.factor.likely, cases[i].likely, 1e-9);
		make(&d, 1500); /* below the threshold */
		wait_for(&d, cases[i].reason, 8000, 900);
		nothing(&d);
	}
	make(&d, 100); /* 320 cycles for each access to shared memory */
	d.kernel.shape.shared_bytes = 4096;
	wait_for(&d, ADVICE_SHORT, 8000, 8000);
	struct view_advice a = only(&d, VIEW_ADVICE_BANKS, false);
	assert_float_equal(fact(&a, "for each access"), 320, 1e-9);
	assert_float_equal(a.factor.likely, 5, 1e-9);
	wait_for(&d, ADVICE_BARRIER, 1900, 900); /* for those that wait for shared memory */
	assert_float_equal(only(&d, VIEW_ADVICE_BANKS, false).factor.high, 1 / (1 - 0.89), 1e-9);
	d.kernel.samples.issued = 400; /* 80 cycles */
	nothing(&d);
	make(&d, 900); /* 8.9 cycles for each instruction: some miss */
	wait_for(&d, ADVICE_CONSTANT, 8000, 5000);
	a = only(&d, VIEW_ADVICE_CONSTANT, false);
	assert_float_equal(a.factor.likely, 2, 1e-9);
	d.kernel.samples.issued = 1100; /* 7.3: no more than an index in a register costs */
	a = only(&d, VIEW_ADVICE_DEPENDENT, false);
	assert_float_equal(a.factor.likely, 2, 1e-9);
	wait_for(&d, ADVICE_FIXED, 1000, 1000); /* one chain has both */
	a = only(&d, VIEW_ADVICE_DEPENDENT, false);
	assert_float_equal(a.factor.likely, 2.5, 1e-9);
	d.kernel.shape.warps = d.kernel.shape.eased_warps = 16;
	assert_float_equal(only(&d, VIEW_ADVICE_OCCUPANCY, true).factor.high, 2.5, 1e-9);
	make(&d, 800); /* more order does not help a unit that is busy */
	wait_for(&d, ADVICE_PIPE, 4000, 4000);
	wait_for(&d, ADVICE_FIXED, 4000, 4000);
	a = only(&d, VIEW_ADVICE_PIPE, false);
	assert_float_equal(a.factor.likely, 1 / 0.6, 1e-9);
	assert_float_equal(a.factor.high, 5, 1e-9); /* with the chains that feed it */
}

static void shapes(void **state)
{
	struct made d;
	(void)state;
	make(&d, 0);
	d.kernel.samples.all = 0;
	d.kernel.shape.blocks = 16;
	struct view_advice a = only(&d, VIEW_ADVICE_GRID, false);
	assert_float_equal(a.factor.likely, 132.0 / 16, 1e-9);
	assert_float_equal(a.factor.high, 132.0 / 16, 1e-9);
	assert_float_equal(a.factor.low, (1 + 132.0 / 16) / 2, 1e-9);
	d.kernel.samples.all =
		10000; /* one block of 8 warps where 64 fit issues in half the cycles */
	wait_for(&d, ADVICE_OTHER, 5000, 5000);
	a = only(&d, VIEW_ADVICE_GRID, true);
	assert_float_equal(a.factor.high, 132.0 / 16 * advice_more_warps(0.5, 8, 64), 1e-9);
	/* at least, the same warps are spread: 16 / 132 of a block on each SM */
	assert_float_equal(a.factor.low, 132.0 / 16 * (1 - pow(0.5, 16.0 / 132)) / 0.5, 1e-9);
	d.kernel.samples.all = 0;
	d.kernel.beside = 4; /* others may use the SMs */
	nothing(&d);
	d.kernel.beside = 1;
	d.kernel.launches = 1e6; /* 1 us each */
	nothing(&d);

	make(&d, 0);
	d.kernel.samples.all = 0;
	d.kernel.shape.blocks = 132 * 9; /* 8 fit */
	a = only(&d, VIEW_ADVICE_WAVE, false);
	assert_float_equal(fact(&a, "waves"), 1.125, 1e-9);
	assert_float_equal(a.factor.likely, 2 / 1.125, 1e-9);
	d.kernel.busy_units = 0.85; /* samples say that less was idle */
	assert_float_equal(only(&d, VIEW_ADVICE_WAVE, false).factor.likely, 1 / 0.85, 1e-9);
	d.kernel.busy_units = 0.95;
	nothing(&d);
	d.kernel.busy_units = 0;
	d.kernel.shape.blocks = 132 * 16;
	nothing(&d);
	d.kernel.busy_units = 0;
	d.kernel.shape.blocks = 8470; /* 8.02 waves */
	nothing(&d);
	d.kernel.shape.blocks = 1922; /* 1.82 waves */
	nothing(&d);

	make(&d, 1000);
	wait_for(&d, ADVICE_FIXED, 9000, 8000);
	d.kernel.shape.warps = 16;
	d.kernel.shape.limit = MODEL_LIMIT_REGISTERS;
	d.kernel.shape.registers = 128;
	d.kernel.shape.eased = 96;
	d.kernel.shape.eased_warps = 20;
	a = only(&d, VIEW_ADVICE_OCCUPANCY, true);
	assert_float_equal(fact(&a, "registers of a thread"), 128, 1e-9);
	assert_float_equal(fact(&a, "more warps fit with"), 96, 1e-9);
	assert_float_equal(a.factor.low, advice_more_warps(0.2, 4, 5), 1e-9);
	assert_float_equal(a.factor.likely, advice_more_warps(0.2, 4, 16), 1e-9);
	assert_float_equal(a.factor.high, 5, 1e-9);
	d.kernel.samples.idle[ADVICE_FIXED] = 3000; /* more warps end no other losses */
	wait_for(&d, ADVICE_OTHER, 0, 5000);
	d.kernel.samples.stalled[ADVICE_OTHER] = 5000;
	assert_float_equal(only(&d, VIEW_ADVICE_OCCUPANCY, true).factor.high, 1 / 0.7, 1e-9);
	wait_for(&d, ADVICE_BRANCH, 1000, 1000); /* but of branches */
	assert_float_equal(only(&d, VIEW_ADVICE_OCCUPANCY, true).factor.high, 1 / 0.6, 1e-9);
	d.kernel.samples.stalled[ADVICE_BRANCH] = d.kernel.samples.idle[ADVICE_BRANCH] = 0;
	d.kernel.samples.idle[ADVICE_OTHER] = 0;
	d.kernel.samples.idle[ADVICE_FIXED] = 1500; /* too few to tell */
	nothing(&d);
	d.kernel.samples.idle[ADVICE_FIXED] = 8000;
	d.kernel.shape.warps = 64;
	d.kernel.shape.blocks = 132; /* 8 warps on each SM: next are twice as many */
	a = only(&d, VIEW_ADVICE_OCCUPANCY, true);
	assert_float_equal(fact(&a, "with more blocks"), 64, 1e-9);
	assert_float_equal(a.factor.low, advice_more_warps(0.2, 2, 4), 1e-9);
	d.kernel.shape.blocks = 132 * 64;
	d.kernel.shape.block_warps = 1;
	d.kernel.shape.block_threads = 8; /* a larger block fills its warps, too */
	d.kernel.shape.warps = d.kernel.shape.eased_warps = 32;
	d.kernel.shape.limit = MODEL_LIMIT_GROUPS;
	a = only(&d, VIEW_ADVICE_OCCUPANCY, true);
	assert_float_equal(a.factor.likely, 4 * advice_more_warps(0.2, 32, 64), 1e-9);
	d.kernel.shape.units = 0; /* not known */
	only(&d, VIEW_ADVICE_DEPENDENT, false);
}

/* ---- devices ---- */

static struct view_advices ask_device(const struct advice_device *d)
{
	struct view_advices a = {0};
	assert_true(view_advice_device(d, &a));
	return a;
}

static void one_of_device(const struct advice_device *d, enum view_advice_kind kind, double low,
			  double likely, double high)
{
	struct view_advices a = ask_device(d);
	assert_int_equal(a.rows.n, 1);
	assert_int_equal(a.rows.at[0].kind, kind);
	assert_float_equal(a.rows.at[0].factor.low, low, 1e-9);
	assert_float_equal(a.rows.at[0].factor.likely, likely, 1e-9);
	assert_float_equal(a.rows.at[0].factor.high, high, 1e-9);
	assert_int_equal(a.rows.at[0].function, MODEL_NONE);
	view_advice_free(&a);
}

static void devices(void **state)
{
	struct advice_device d = {.whole = 10, .kernels = 10, .n_kernels = 100};
	(void)state;
	struct view_advices a = ask_device(&d);
	assert_int_equal(a.rows.n, 0);

	d = (struct advice_device){.whole = 10, .kernels = 6, .n_kernels = 1e6, .n_launches = 1e6};
	d.idle[MODEL_GPU_IDLE_LAUNCH] = 3;
	d.idle[MODEL_GPU_IDLE_QUEUED] = 1; /* kernels of 6 us: it is of the same cause */
	one_of_device(&d, VIEW_ADVICE_LAUNCHES, 10 / 8.0, 10 / 6.4, 10 / 6.0);
	d.n_kernels = 100;
	one_of_device(&d, VIEW_ADVICE_LAUNCHES, 10 / 8.5, 10 / 7.3, 10 / 7.0);
	d.is_sampled = true; /* that made them slow */
	a = ask_device(&d);
	assert_int_equal(a.rows.n, 0);
	d.kernels = 0.2; /* but a launch takes longer than 0.2 us without that, too */
	d.n_kernels = d.n_launches = 1e6;
	one_of_device(&d, VIEW_ADVICE_LAUNCHES, 10 / 8.9, 10 / 8.02, 10 / 6.0);
	d.kernels = 6;
	d.n_kernels = 100;
	d.is_sampled = false;
	d.n_launches = 10; /* they are in graphs already */
	a = ask_device(&d);
	assert_int_equal(a.rows.n, 0);

	d = (struct advice_device){.whole = 10, .kernels = 5, .n_kernels = 100, .n_waits = 100};
	d.idle[MODEL_GPU_IDLE_SYNC] = 5;
	one_of_device(&d, VIEW_ADVICE_WAITS, 10 / 7.5, 10 / 5.5, 10 / 5.0);

	d = (struct advice_device){.whole = 10, .kernels = 4, .n_kernels = 100};
	d.idle[MODEL_GPU_IDLE_NOTHING] = 6;
	one_of_device(&d, VIEW_ADVICE_HOST, 10 / 8.0, 10 / 6.0, 10 / 6.0);
	d.setup = 4; /* before there was anything to compute with */
	one_of_device(&d, VIEW_ADVICE_HOST, 10 / 9.0, 10 / 8.0, 10 / 8.0);
	d.n_allocations = 200; /* a part of them waits for kernels */
	d.allocation = 5;
	one_of_device(&d, VIEW_ADVICE_ALLOCATIONS, 10 / 9.0, 10 / 8.2, 10 / 8.0);
	d.n_calls = 2; /* a line with less than a tenth of the time is left out */
	d.calls[0] = (struct view_place){8, 0.05};
	d.calls[1] = (struct view_place){9, 0.95};
	a = ask_device(&d);
	assert_int_equal(a.rows.at[0].n_places, 1);
	assert_int_equal(a.rows.at[0].places[0].context, 9);
	view_advice_free(&a);
	d.allocation = 1;
	one_of_device(&d, VIEW_ADVICE_ALLOCATIONS, 10 / 9.5, 10 / 9.1, 10 / 8.0);
	d.allocation = 0.9; /* there is more work beside it */
	one_of_device(&d, VIEW_ADVICE_HOST, 10 / 9.0, 10 / 8.0, 10 / 8.0);
	d.setup = 6;
	a = ask_device(&d);
	assert_int_equal(a.rows.n, 0);

	d = (struct advice_device){.whole = 10,
				   .kernels = 4,
				   .copies = 5,
				   .overlap = 1,
				   .pieces = 5,
				   .n_kernels = 100};
	one_of_device(&d, VIEW_ADVICE_OVERLAP, 10 / 8.5, 10 / 7.0, 10 / 5.0);
	d.to_device = (struct view_gpu_sum){.n = 10, .bytes = 100000000, .ns = 3000000000};
	d.from_device = (struct view_gpu_sum){.n = 10, .bytes = 100000000, .ns = 2000000000};
	one_of_device(&d, VIEW_ADVICE_OVERLAP, 10 / 8.5, 10 / 7.0, 10 / 4.0); /* in turn */

	d = (struct advice_device){.whole = 10, .copies = 10, .link_rate = 50e9};
	d.to_device = (struct view_gpu_sum){1000, 100000000000, 10000000000, 0};
	one_of_device(&d, VIEW_ADVICE_PINNED, 10 / 6.0, 10 / 2.0, 10 / 2.0);
	d.to_device.once_bytes = 24000000000; /* pinning takes 2 s */
	one_of_device(&d, VIEW_ADVICE_PINNED, 10 / 7.0, 10 / 4.0, 10 / 2.0);
	d.to_device.once_bytes = 100000000000; /* each is copied once */
	a = ask_device(&d);
	assert_int_equal(a.rows.n, 0);
	d.to_device.once_bytes = 0;
	d.link_rate = 12e9; /* 10 of 12 GB/s */
	a = ask_device(&d);
	assert_int_equal(a.rows.n, 0);
	d.link_rate = 50e9;
	d.to_device = (struct view_gpu_sum){1000000, 100000000000, 10000000000, 0};
	/* pieces of 100 KB: it is their number that takes the time, 2.4 us for each */
	one_of_device(&d, VIEW_ADVICE_COPIES, 10 / 8.8, 10 / 7.84, 10 / 7.6);
	d.to_device.n = 800000; /* 125 KB */
	a = ask_device(&d);
	assert_int_equal(a.rows.n, 0);
	/* 256 bytes take 5 ns, and to begin a copy 2.4 us */
	d.copies = 4;
	d.to_device = (struct view_gpu_sum){2000000, 512000000, 4000000000, 0};
	d.idle[MODEL_GPU_IDLE_QUEUED] = 4;
	const double saved = 4 - 512e6 / 50e9 + 4;
	one_of_device(&d, VIEW_ADVICE_COPIES, 10 / (10 - saved / 2), 10 / (10 - saved * 0.9),
		      10 / (10 - saved));
	d.n_kernels = 1000000; /* there are kernels between them */
	a = ask_device(&d);
	assert_int_equal(a.rows.n, 0);
}

/* ---- models ---- */

static void words(void **state)
{
	(void)state;
	for (unsigned k = 0; k < VIEW_N_ADVICE_KINDS; k++) {
		assert_true(*view_advice_key(k) && *view_advice_title(k));
		assert_true(*view_advice_cure(k) && *view_advice_assumption(k));
		/* 28 columns before and 12 for the kernel fit beside it in 80 */
		assert_true(k >= VIEW_ADVICE_LAUNCHES || strlen(view_advice_title(k)) <= 38);
		for (unsigned other = 0; other < k; other++)
			assert_string_not_equal(view_advice_key(k), view_advice_key(other));
	}
}

/* Facts of a model: samples are those of its kernels, once each, and rows are in order. */
static void of_a_model(void **state)
{
	struct model *m = fixture_make(&(struct fixture_options){.n_processes = 2,
								 .n_threads = 2,
								 .n_metrics = 1,
								 .n_samples = 20,
								 .n_gpu_ops = 41,
								 .traces = true});
	struct view_gpu g;
	struct advice_facts f;
	struct view_advices a;
	double samples = 0, issued = 0, stalled = 0;
	(void)state;
	assert_true(view_gpu_open(m, &g));
	assert_true(advice_facts_make(m, &g, &f));
	assert_true(f.kernels.n > 0);
	for (size_t i = 0; i < f.kernels.n; i++) {
		const struct advice_kernel *k = &f.kernels.at[i];
		double of_lines = 0;
		for (size_t j = 0; j < k->n_lines; j++)
			of_lines += k->lines[j].samples.all;
		assert_true(of_lines == k->samples.all);
		samples += k->samples.all;
		issued += k->samples.issued;
		for (unsigned r = 0; r < ADVICE_N_REASONS; r++)
			stalled += k->samples.stalled[r];
	}
	assert_true(samples == view_total(m, view_find_metric(m, MODEL_ROLE_SAMPLES)));
	assert_true(issued + stalled <= samples && issued > 0);
	const size_t n_kernels = f.kernels.n;
	const uint32_t first = f.kernels.at[0].function;
	advice_facts_free(&f);
	((struct model_function *)m->functions)[first].is_nccl = true;
	assert_true(advice_facts_make(m, &g, &f));
	assert_int_equal(f.kernels.n, n_kernels - 1);
	advice_facts_free(&f);
	assert_true(view_advice_make(m, &g, &a));
	for (size_t i = 1; i < a.rows.n; i++)
		assert_true(view_advice_saved(&a.rows.at[i]) <=
			    view_advice_saved(&a.rows.at[i - 1]));
	view_advice_free(&a);
	view_gpu_close(&g);
	fixture_free(m);
}

/* Only call paths that allocate again and again count. */
static void allocations_of_a_model(const struct model *m, const struct view_gpu *g)
{
	const uint32_t calls = view_find_metric(m, MODEL_ROLE_KERNELS),
		       seconds = view_find_metric(m, MODEL_ROLE_KERNEL_TIME);
	struct model_metric *metrics = (struct model_metric *)m->metrics;
	struct advice_facts f;
	double n = 0, few = 0, sum = 0, shares = 0;
	metrics[calls].role = MODEL_ROLE_MEMORY_CALLS; /* as if kernels were allocations */
	metrics[seconds].role = MODEL_ROLE_MEMORY_TIME;
	for (size_t i = 0; i < m->n_totals; i++)
		if (m->totals[i].metric == calls && m->totals[i].sum[MODEL_POINT] >= 10)
			n += m->totals[i].sum[MODEL_POINT];
		else if (m->totals[i].metric == calls)
			few += m->totals[i].sum[MODEL_POINT];
	assert_true(n > 0 && few > 0);
	assert_true(advice_facts_make(m, g, &f));
	for (size_t d = 0; d < f.devices.n; d++) {
		n -= f.devices.at[d].n_allocations;
		sum += f.devices.at[d].allocation;
		assert_true(f.devices.at[d].n_calls > 0);
		for (unsigned i = 0; i < f.devices.at[d].n_calls; i++)
			shares += f.devices.at[d].calls[i].share;
	}
	assert_float_equal(n, 0, 1e-9);
	assert_true(sum > 0);
	assert_true(shares > 0 && shares <= (double)f.devices.n * 1.0001);
	advice_facts_free(&f);
	metrics[calls].role = MODEL_ROLE_KERNELS;
	metrics[seconds].role = MODEL_ROLE_KERNEL_TIME;
}

/* The time of a device is from its first operation to its last; counts are shared out. */
static void devices_of_a_model(void **state)
{
	struct model *m = fixture_make(&(struct fixture_options){.n_processes = 2,
								 .n_threads = 2,
								 .n_metrics = 1,
								 .n_samples = 20,
								 .n_gpu_ops = 41,
								 .traces = true});
	struct model_gpu_idle *idle = calloc(m->n_gpu_devices, sizeof *idle);
	const struct model_gpu_idle *old = m->gpu_idle;
	struct view_gpu g;
	struct advice_facts f;
	double launches = 0;
	(void)state;
	assert_true(idle && m->n_gpu_devices == 2);
	for (uint32_t d = 0; d < 2; d++) {
		idle[d] = (struct model_gpu_idle){
			.is_known = true, .watched_ns = 10000000000, .kernel_ns = 1000000000};
		idle[d].idle_ns[MODEL_GPU_IDLE_BEFORE] = 2000000000;
		idle[d].idle_ns[MODEL_GPU_IDLE_AFTER] = 3000000000;
	}
	m->gpu_idle = idle;
	m->gpu_ledger.launched[MSR_GPU_KERNEL] = 30;
	assert_true(view_gpu_open(m, &g));
	assert_true(advice_facts_make(m, &g, &f));
	assert_int_equal(f.devices.n, 2);
	for (size_t d = 0; d < 2; d++) {
		assert_float_equal(f.devices.at[d].whole, 5, 1e-9);
		launches += f.devices.at[d].n_launches;
	}
	assert_float_equal(launches, 30, 1e-9);
	advice_facts_free(&f);
	allocations_of_a_model(m, &g);
	m->gpu_sampling.sampled_ns = 1000; /* to begin takes 110 ms; what is queued later counts */
	idle[0].idle_ns[MODEL_GPU_IDLE_QUEUED] = 50000000;
	idle[1].idle_ns[MODEL_GPU_IDLE_QUEUED] = 1000000000;
	idle[1].setup_ns = 500000000;
	assert_true(advice_facts_make(m, &g, &f));
	assert_float_equal(f.devices.at[0].whole, 4.95, 1e-9);
	assert_float_equal(f.devices.at[1].whole, 4.89, 1e-9);
	assert_float_equal(f.devices.at[1].idle[MODEL_GPU_IDLE_QUEUED], 0.89, 1e-9);
	assert_float_equal(f.devices.at[1].setup, 0.5, 1e-9);
	advice_facts_free(&f);
	m->gpu_sampling.sampled_ns = 1000; /* most kernels were serialized, with gaps between */
	m->gpu_sampling.serialized_ns = 900;
	assert_true(advice_facts_make(m, &g, &f));
	assert_int_equal(f.devices.n, 0);
	advice_facts_free(&f);
	view_gpu_close(&g);
	m->gpu_idle = old;
	free(idle);
	fixture_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(estimates),
		cmocka_unit_test(clean_kernels_have_none),
		cmocka_unit_test(memory),
		cmocka_unit_test(counted_accesses),
		cmocka_unit_test(full_queues),
		cmocka_unit_test(thresholds),
		cmocka_unit_test(causes),
		cmocka_unit_test(accesses_in_a_row),
		cmocka_unit_test(narrow),
		cmocka_unit_test(reuse),
		cmocka_unit_test(conflicts),
		cmocka_unit_test(conversions),
		cmocka_unit_test(paths),
		cmocka_unit_test(idle_units),
		cmocka_unit_test(units),
		cmocka_unit_test(shapes),
		cmocka_unit_test(devices),
		cmocka_unit_test(words),
		cmocka_unit_test(of_a_model),
		cmocka_unit_test(devices_of_a_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
