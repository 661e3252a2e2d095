/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the checker with small programs whose outcomes are known. Names and verdicts are those of
 * Alglave, Maranget, Tautschnig: Herding cats (TOPLAS 2014) and Lahav et al. (PLDI 2017); see
 * order.h. Each thread writes what it read to result[]; `n_seen` counts each outcome.
 */
#include "tests/order/order.h"

#include <stdio.h>

#define X(v, o) atomic_store_explicit(&x, v, memory_order_##o)
#define Y(v, o) atomic_store_explicit(&y, v, memory_order_##o)
#define READ_X(o) atomic_load_explicit(&x, memory_order_##o)
#define READ_Y(o) atomic_load_explicit(&y, memory_order_##o)
#define FENCE(o) atomic_thread_fence(memory_order_##o)

static _Atomic int x, y;
static int plain;
/* Of the threads themselves; a race would be a fault. */
static int result[4];
static unsigned n_seen[16];

/* Counts the outcome, which is a number of four bits. */
static void count(void)
{
	n_seen[(result[0] | result[1] << 1 | result[2] << 2 | result[3] << 3) & 15]++;
}

static void write_x_sc(void)
{
	X(1, seq_cst);
}
static void write_y_sc(void)
{
	Y(1, seq_cst);
}
static void write_x_relaxed(void)
{
	X(1, relaxed);
}

/* Store buffering: each thread writes one place and reads the other. */
static void sb_0(void)
{
	X(1, release);
	result[0] = READ_Y(acquire);
}
static void sb_1(void)
{
	Y(1, release);
	result[1] = READ_X(acquire);
}
static void sb_0_sc(void)
{
	X(1, seq_cst);
	result[0] = READ_Y(seq_cst);
}
static void sb_1_sc(void)
{
	Y(1, seq_cst);
	result[1] = READ_X(seq_cst);
}
static void sb_0_fence(void)
{
	X(1, relaxed);
	FENCE(seq_cst);
	result[0] = READ_Y(relaxed);
}
static void sb_1_fence(void)
{
	Y(1, relaxed);
	FENCE(seq_cst);
	result[1] = READ_X(relaxed);
}

/* Message passing: 1 and 0 is the outcome that a reader must not see. */
static void mp_write(void)
{
	X(1, relaxed);
	Y(1, release);
}
static void mp_write_relaxed(void)
{
	X(1, relaxed);
	Y(1, relaxed);
}
static void mp_write_fence(void)
{
	X(1, relaxed);
	FENCE(release);
	Y(1, relaxed);
}
static void mp_read(void)
{
	result[0] = READ_Y(acquire);
	result[1] = READ_X(relaxed);
}
static void mp_read_relaxed(void)
{
	result[0] = READ_Y(relaxed);
	result[1] = READ_X(relaxed);
}
static void mp_read_fence(void)
{
	result[0] = READ_Y(relaxed);
	FENCE(acquire);
	result[1] = READ_X(relaxed);
}
static void mp_write_plain(void)
{
	plain = 1;
	Y(1, release);
}
static void mp_write_plain_relaxed(void)
{
	plain = 1;
	Y(1, relaxed);
}
static void mp_read_plain(void)
{
	result[0] = READ_Y(acquire);
	result[1] = result[0] ? plain : 0;
}

/* Load buffering, and coherence. */
static void lb_0(void)
{
	result[0] = READ_Y(relaxed);
	X(1, relaxed);
}
static void lb_1(void)
{
	result[1] = READ_X(relaxed);
	Y(1, relaxed);
}
static void corr(void)
{
	result[0] = READ_X(relaxed);
	result[1] = READ_X(relaxed);
}

/* Independent reads of independent writes. */
static void iriw_2(void)
{
	result[0] = READ_X(acquire);
	result[1] = READ_Y(acquire);
}
static void iriw_3(void)
{
	result[2] = READ_Y(acquire);
	result[3] = READ_X(acquire);
}
static void iriw_2_sc(void)
{
	result[0] = READ_X(seq_cst);
	result[1] = READ_Y(seq_cst);
}
static void iriw_3_sc(void)
{
	result[2] = READ_Y(seq_cst);
	result[3] = READ_X(seq_cst);
}

/* 2+2W: both first stores are last in the modification order. */
static void ww_0(void)
{
	X(2, relaxed);
	Y(1, relaxed);
}
static void ww_1(void)
{
	Y(2, relaxed);
	X(1, relaxed);
}
static void ww_0_release(void)
{
	X(2, release);
	Y(1, release);
}
static void ww_1_release(void)
{
	Y(2, release);
	X(1, release);
}
static void ww_0_sc(void)
{
	X(2, seq_cst);
	Y(1, seq_cst);
}
static void ww_1_sc(void)
{
	Y(2, seq_cst);
	X(1, seq_cst);
}
static void ww_count(void)
{
	result[0] = READ_X(relaxed) == 2;
	result[1] = READ_Y(relaxed) == 2;
	count();
}

/* Changes are atomic, and they continue a release sequence. A store does not (C++20). */
static void add(void)
{
	atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
}
static void add_twice(void)
{
	add();
	add();
}

static void add_between(void)
{
	result[0] = atomic_fetch_add_explicit(&x, 1, memory_order_relaxed) == 1;
}

static void add_count(void)
{
	result[0] = READ_X(relaxed) == 2;
	count();
}
static void add_y(void)
{
	atomic_fetch_add_explicit(&y, 1, memory_order_relaxed);
}
static void chain_read(void)
{
	result[0] = READ_Y(acquire) == 2;
	result[1] = READ_X(relaxed);
}
static void store_after_release(void)
{
	X(1, relaxed);
	Y(1, release);
	Y(2, relaxed);
}
static void compare(void)
{
	int zero = 0;
	if (atomic_compare_exchange_strong_explicit(&x, &zero, 1, memory_order_relaxed,
						    memory_order_relaxed))
		result[0]++;
}
static void compare_count(void)
{
	result[0] &= 1;
	count();
}
/* Write to read causality. */
static void wrc(void)
{
	if (READ_X(relaxed))
		Y(1, release);
}
static void wrc_relaxed(void)
{
	if (READ_X(relaxed))
		Y(1, relaxed);
}

enum { NEVER, SOMETIMES, RACE };
static const struct litmus {
	struct order_program p;
	unsigned outcome;
	int verdict;
} litmus[] = {
	{{"SB, release and acquire", {sb_0, sb_1}, count}, 0, SOMETIMES},
	{{"SB, seq_cst", {sb_0_sc, sb_1_sc}, count}, 0, NEVER},
	{{"SB, seq_cst fences", {sb_0_fence, sb_1_fence}, count}, 0, NEVER},
	{{"SB, one seq_cst fence", {sb_0_fence, sb_1}, count}, 0, SOMETIMES},
	{{"MP, release and acquire", {mp_write, mp_read}, count}, 1, NEVER},
	{{"MP, both seen", {mp_write, mp_read}, count}, 3, SOMETIMES},
	{{"MP, relaxed store", {mp_write_relaxed, mp_read}, count}, 1, SOMETIMES},
	{{"MP, relaxed load", {mp_write, mp_read_relaxed}, count}, 1, SOMETIMES},
	{{"MP, fences", {mp_write_fence, mp_read_fence}, count}, 1, NEVER},
	{{"MP, release fence, acquire load", {mp_write_fence, mp_read}, count}, 1, NEVER},
	{{"MP, release fence alone", {mp_write_fence, mp_read_relaxed}, count}, 1, SOMETIMES},
	{{"MP, acquire fence alone", {mp_write_relaxed, mp_read_fence}, count}, 1, SOMETIMES},
	{{"MP, plain data", {mp_write_plain, mp_read_plain}, count}, 1, NEVER},
	{{"MP, plain data, relaxed store", {mp_write_plain_relaxed, mp_read_plain}, count},
	 0,
	 RACE},
	{{"LB: never, because the model has no promises", {lb_0, lb_1}, count}, 3, NEVER},
	{{"CoRR", {write_x_relaxed, corr}, count}, 1, NEVER},
	{{"IRIW, acquire", {write_x_sc, write_y_sc, iriw_2, iriw_3}, count}, 5, SOMETIMES},
	{{"IRIW, seq_cst", {write_x_sc, write_y_sc, iriw_2_sc, iriw_3_sc}, count}, 5, NEVER},
	{{"2+2W, relaxed", {ww_0, ww_1}, ww_count}, 3, SOMETIMES},
	{{"2+2W, release", {ww_0_release, ww_1_release}, ww_count}, 3, SOMETIMES},
	{{"2+2W, seq_cst", {ww_0_sc, ww_1_sc}, ww_count}, 3, NEVER},
	{{"two additions, one is lost", {add, add}, add_count}, 0, NEVER},
	{{"a thread begins between two additions", {add_twice, add_between}, count}, 1, SOMETIMES},
	{{"... before and after them", {add_twice, add_between}, count}, 0, SOMETIMES},
	{{"two compare-and-swaps, both succeed", {compare, compare}, compare_count}, 0, NEVER},
	{{"a relaxed change continues a release sequence", {mp_write, add_y, chain_read}, count},
	 1,
	 NEVER},
	{{"... and is seen", {mp_write, add_y, chain_read}, count}, 3, SOMETIMES},
	{{"a relaxed store ends a release sequence", {store_after_release, chain_read}, count},
	 1,
	 SOMETIMES},
	{{"WRC, release and acquire", {write_x_relaxed, wrc, mp_read}, count}, 1, NEVER},
	{{"WRC, relaxed store", {write_x_relaxed, wrc_relaxed, mp_read}, count}, 1, SOMETIMES},
	{{"WRC, relaxed load", {write_x_relaxed, wrc, mp_read_relaxed}, count}, 1, SOMETIMES},
};

int main(void)
{
	for (size_t i = 0; i < sizeof litmus / sizeof *litmus; i++) {
		const struct litmus *l = &litmus[i];
		memset(n_seen, 0, sizeof n_seen);
		memset(result, 0, sizeof result);
		const struct order_result r = order_explore(&l->p, NULL);
		const int verdict = r.fault ? RACE : n_seen[l->outcome] ? SOMETIMES : NEVER;
		order_ok(verdict == l->verdict, l->p.name);
		if (verdict != l->verdict)
			printf("# %s, expected %d, got %d\n", r.fault ? r.fault : "", l->verdict,
			       verdict);
	}
	return order_done();
}
