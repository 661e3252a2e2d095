/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/gpu_clock and gpu_line: device times become ours; operations of a
 * queue become lanes without overlap. */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/attribute/gpu/join/gpu_clock.h"
#include "hpcprof-lite/attribute/gpu/join/gpu_line.h"

#include <stdlib.h>
#include <string.h>

/* ---- clocks ---- */

static struct gpu_clock clock_of(struct msr_gpu_clock *pairs, size_t n)
{
	return (struct gpu_clock){.pairs = pairs, .n = n};
}

static void test_without_pairs_it_is_our_clock(void **state)
{
	(void)state;
	uint64_t error = 1;
	struct gpu_clock c = clock_of(NULL, 0);
	assert_int_equal(gpu_clock_convert(&c, 12345, &error), 12345);
	assert_int_equal(error, 0);
}

static void test_one_pair_is_an_offset(void **state)
{
	(void)state;
	uint64_t error;
	struct msr_gpu_clock pair = {1, 0, 1000, 5000, 7};
	struct gpu_clock c = clock_of(&pair, 1);
	assert_int_equal(gpu_clock_convert(&c, 1000, &error), 5000);
	assert_int_equal(gpu_clock_convert(&c, 1900, &error), 5900);
	assert_int_equal(gpu_clock_convert(&c, 200, &error), 4200);
	assert_int_equal(error, 7);
	assert_int_equal(gpu_clock_convert(&c, UINT64_MAX, &error),
			 INT64_MAX); /* cut, not wrapped */
}

static void test_between_pairs_it_is_linear(void **state)
{
	(void)state;
	uint64_t error;
	const uint64_t s = 1000000000;
	/* the device loses 10 us in the first second and gains 20 us in the next */
	struct msr_gpu_clock pairs[] = {{1, 0, 100, s, 5},
					{1, 0, 100 + s - 10000, 2 * s, 9},
					{1, 0, 100 + 2 * s + 10000, 3 * s, 4}};
	struct gpu_clock c = clock_of(pairs, 3);
	assert_int_equal(gpu_clock_convert(&c, 100, &error), s);
	assert_int_equal(gpu_clock_convert(&c, 100 + (s - 10000) / 2, &error), s + s / 2);
	assert_int_equal(error, 9);
	assert_int_equal(gpu_clock_convert(&c, 100 + s - 10000, &error), 2 * s);
	assert_int_equal(gpu_clock_convert(&c, 100 + s - 10000 + (s + 20000) / 4, &error),
			 2 * s + s / 4);
	/* beyond the ends at the rate found there: within a nanosecond of rounding */
	uint64_t after = gpu_clock_convert(&c, 100 + 2 * s + 10000 + (s + 20000), &error);
	assert_true(after + 1 >= 4 * s && after <= 4 * s + 1);
	uint64_t before = gpu_clock_convert(&c, 0, &error);
	assert_true(before >= s - 101 && before <= s - 99);
	/* and back to the middle: the place found last is only a hint */
	assert_int_equal(gpu_clock_convert(&c, 100 + (s - 10000) / 2, &error), s + s / 2);
}

static void test_pairs_too_near_give_no_rate(void **state)
{
	(void)state;
	uint64_t error;
	/* 1 us apart, right to 1 us: their slope of 3 says nothing */
	struct msr_gpu_clock pairs[] = {{1, 0, 1000, 100000, 1000}, {1, 0, 2000, 103000, 1000}};
	struct load_gpu g = {.pairs = {pairs, 2, 2}};
	gpu_clock_thin(&g);
	assert_int_equal(g.pairs.n, 1);
	struct gpu_clock c = gpu_clock_find(&g, 1);
	assert_int_equal(gpu_clock_convert(&c, 1001000, &error), 100000 + 1000000);
	assert_int_equal(gpu_clock_convert(&c, 500, &error), 99500);
}

static void test_the_better_of_near_pairs_stays(void **state)
{
	(void)state;
	const uint64_t s = 1000000000;
	struct msr_gpu_clock pairs[] = {{1, 0, 1000, s, 900},
					{1, 0, 2000, s + 1000, 50},
					{1, 0, 3000, s + 2000, 700},
					{1, 0, s, 2 * s, 800},
					{1, 0, s + 500, 2 * s + 500, 60},
					{2, 0, 5, 6, 1}};
	struct load_gpu g = {.pairs = {pairs, 6, 6}};
	gpu_clock_thin(&g);
	assert_int_equal(g.pairs.n, 3);
	assert_int_equal(pairs[0].device_ns, 2000);
	assert_int_equal(pairs[1].device_ns, s + 500);
	assert_int_equal(gpu_clock_find(&g, 1).n, 2);
	assert_int_equal(gpu_clock_find(&g, 2).n, 1);
	assert_int_equal(gpu_clock_find(&g, 3).n, 0);
}

static void test_rises_with_the_time(void **state)
{
	(void)state;
	struct msr_gpu_clock pairs[50];
	for (uint64_t i = 0; i < 50; i++)
		pairs[i] = (struct msr_gpu_clock){1, 0, 1000 + i * 1000000 + hash_u64(i) % 5000,
						  77 + i * 1000000, 100};
	struct gpu_clock c = clock_of(pairs, 50);
	uint64_t last = 0, error;
	for (uint64_t t = 0; t < 60000000; t += 997) {
		uint64_t now = gpu_clock_convert(&c, t, &error);
		assert_true(now >= last);
		last = now;
	}
}

/* ---- lines ---- */

struct made {
	struct model_gpu_item *items;
	struct msr_gpu_op *records;
	struct gpu_line line;
};

static void make(struct made *m, uint64_t n)
{
	m->items = calloc(n + 1, sizeof *m->items);
	m->records = calloc(n + 1, sizeof *m->records);
	assert_true(m->items && m->records);
	for (uint64_t i = 0; i < n; i++) {
		m->records[i].id_kind = i + 1;
		m->items[i].record = &m->records[i];
	}
	m->line = (struct gpu_line){.items = m->items, .n = n};
}

static void clean(struct made *m)
{
	free(m->line.lane_n);
	free(m->items);
	free(m->records);
}

/* Sorted, lanes without overlap, counts and busy time right. */
static void check(const struct made *m)
{
	uint64_t end[GPU_LINE_LANES] = {0}, n[GPU_LINE_LANES] = {0};
	const struct gpu_line *l = &m->line;
	for (uint64_t i = 0; i < l->n; i++) {
		const struct model_gpu_item *a = &l->items[i];
		assert_true(a->lane < l->n_lanes && a->start_ns >= end[a->lane] &&
			    a->end_ns >= a->start_ns);
		end[a->lane] = a->end_ns;
		n[a->lane]++;
	}
	for (uint32_t i = 0; i < l->n_lanes; i++)
		assert_int_equal(n[i], l->lane_n[i]);
}

static void test_in_order_is_one_lane(void **state)
{
	(void)state;
	struct made m;
	make(&m, 1000);
	for (uint64_t i = 0; i < 1000; i++) {
		m.items[i].start_ns = 10 * i;
		m.items[i].end_ns = 10 * i + (i % 2 ? 10 : 4);
	}
	assert_true(gpu_line_finish(&m.line));
	check(&m);
	assert_int_equal(m.line.n_lanes, 1);
	assert_int_equal(m.line.busy_ns, 7000);
	assert_int_equal(m.line.n_clipped, 0);
	assert_int_equal(m.line.last_ns, 10000);
	clean(&m);
}

static void test_overlap_takes_lanes(void **state)
{
	(void)state;
	struct made m;
	make(&m, 3);
	m.items[0] = (struct model_gpu_item){.start_ns = 10, .end_ns = 50, .record = m.records};
	m.items[1] = (struct model_gpu_item){.start_ns = 20, .end_ns = 30, .record = m.records + 1};
	m.items[2] = (struct model_gpu_item){.start_ns = 30, .end_ns = 60, .record = m.records + 2};
	assert_true(gpu_line_finish(&m.line));
	check(&m);
	assert_int_equal(m.line.n_lanes, 2);
	assert_int_equal(m.line.items[1].lane, 1);
	assert_int_equal(m.line.items[2].lane, 1);
	assert_int_equal(m.line.busy_ns, 50);
	clean(&m);
}

static void test_more_than_lanes_is_clipped(void **state)
{
	(void)state;
	struct made m;
	make(&m, GPU_LINE_LANES + 2);
	for (uint64_t i = 0; i < m.line.n; i++) {
		m.items[i].start_ns = 100 + i;
		m.items[i].end_ns = 1000 + i;
	}
	m.items[m.line.n - 1].end_ns = 500; /* inside all others: nothing is left of it */
	assert_true(gpu_line_finish(&m.line));
	check(&m);
	assert_int_equal(m.line.n_lanes, GPU_LINE_LANES);
	assert_int_equal(m.line.n_clipped, 2);
	assert_int_equal(m.line.busy_ns, 900 + GPU_LINE_LANES);
	clean(&m);
}

static int compare_pairs(const void *a, const void *b)
{
	return memcmp(a, b, 2 * sizeof(uint64_t)); /* big-endian below */
}

/* Any order comes out sorted and complete: nearly sorted, two threads' stretches, reversed,
 * random. */
static void test_any_order_is_sorted(void **state)
{
	(void)state;
	enum { N = 5000 };
	for (unsigned how = 0; how < 4; how++) {
		struct made m;
		uint64_t(*expected)[2] = calloc(N, sizeof *expected);
		make(&m, N);
		for (uint64_t i = 0; i < N; i++) {
			uint64_t at = how == 0   ? i * 10 + hash_u64(i) % 200
				      : how == 1 ? i % (N / 2) * 10
				      : how == 2 ? (N - i) * 10
						 : hash_u64(i) % 100000;
			m.items[i].start_ns = 1000 + at;
			m.items[i].end_ns = 1000 + at + 1;
			expected[i][0] = __builtin_bswap64(1000 + at);
			expected[i][1] = __builtin_bswap64(i + 1);
		}
		qsort(expected, N, sizeof *expected, compare_pairs);
		m.line.n = N;
		assert_true(gpu_line_finish(&m.line));
		check(&m);
		for (uint64_t i = 0; i < N && m.line.n_clipped == 0; i++) {
			assert_int_equal(m.items[i].start_ns, __builtin_bswap64(expected[i][0]));
			assert_int_equal(m.items[i].record->id_kind,
					 __builtin_bswap64(expected[i][1]));
		}
		assert_int_equal(m.line.n_clipped, 0);
		free(expected);
		clean(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_pairs_it_is_our_clock),
		cmocka_unit_test(test_one_pair_is_an_offset),
		cmocka_unit_test(test_between_pairs_it_is_linear),
		cmocka_unit_test(test_pairs_too_near_give_no_rate),
		cmocka_unit_test(test_the_better_of_near_pairs_stays),
		cmocka_unit_test(test_rises_with_the_time),
		cmocka_unit_test(test_in_order_is_one_lane),
		cmocka_unit_test(test_overlap_takes_lanes),
		cmocka_unit_test(test_more_than_lanes_is_clipped),
		cmocka_unit_test(test_any_order_is_sorted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
