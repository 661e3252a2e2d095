/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of clocks from what is known of operations, and a device's timer that is checked before it
 * is believed. */
#include "tests/unit/opencl/fake_opencl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void bounds(void **state)
{
	int64_t low, high;
	(void)state;
	/* The device is 1000 behind: queued at 1100 of ours, ended at 1500. */
	struct ocl_moment m = {.enter_ns = 1090,
			       .return_ns = 1130,
			       .seen_ns = 1600,
			       .queued = 100,
			       .start = 300,
			       .end = 500};
	assert_true(ocl_clock_bounds(&m, &low, &high));
	assert_int_equal(low, 990);
	assert_int_equal(high, 1030);
	/* Without the return, the end that was seen bounds it. */
	m.return_ns = 0;
	assert_true(ocl_clock_bounds(&m, &low, &high));
	assert_int_equal(high, 1100);
	/* A time of queueing by another clock says nothing: start and end alone. */
	m = (struct ocl_moment){.enter_ns = 1090,
				.return_ns = 1130,
				.seen_ns = 1600,
				.queued = 900000,
				.start = 300,
				.end = 500};
	assert_true(ocl_clock_bounds(&m, &low, &high));
	assert_int_equal(low, 790);
	assert_int_equal(high, 1100);
	/* Seen before it was asked for: no clock at all. */
	m = (struct ocl_moment){.enter_ns = 2000, .seen_ns = 1600, .start = 300, .end = 500};
	assert_false(ocl_clock_bounds(&m, &low, &high));
}

static struct ocl_clock *clock_of_fake(const struct ocl_device **device)
{
	struct ocl_state *s = ocl_enter();
	ocl_leave();
	assert_non_null(s);
	pthread_mutex_lock(&s->define);
	*device = ocl_device_get(s, fake_device());
	pthread_mutex_unlock(&s->define);
	assert_non_null(*device);
	return (*device)->clock;
}

/* Four operations to a pair, of which the tightest counts; a wait between. */
static void tightest(void **state)
{
	const struct ocl_device *d;
	(void)state;
	fake_start();
	struct ocl_clock *c = clock_of_fake(&d);
	uint64_t now = clock_mono_ns();
	unsigned n = 0;
	while (ocl_clock_wants(c, now))
		n++;
	assert_int_equal(n, 4);
	assert_false(ocl_clock_wants(c, now + 1000000));
	assert_true(ocl_clock_wants(c, now + 1000000000));
	for (unsigned i = 0; i < 4; i++) {
		uint64_t width =
			i == 2 ? 200001 : 900000; /* all worse than what is delivered at once */
		ocl_clock_add(c, &(struct ocl_moment){.enter_ns = 5000000,
						      .return_ns = 5000000 + width,
						      .seen_ns = 9000000,
						      .queued = 1000000,
						      .start = 1000100,
						      .end = 1000200});
	}
	assert_int_equal(fake_host.n_pairs, 1);
	assert_in_range(fake_host.pair_error, 100000, 100001);
	assert_in_range(fake_host.pair_offset, 4100000, 4100001);
	ocl_clock_flush(c);
	assert_int_equal(fake_host.n_pairs, 1);
	/* Our own clock is not shifted by our uncertainty. */
	ocl_clock_add(c, &(struct ocl_moment){.enter_ns = 999000,
					      .return_ns = 1001500,
					      .seen_ns = 2000000,
					      .queued = 1000000,
					      .start = 1000100,
					      .end = 1000200});
	ocl_clock_flush(c);
	assert_int_equal(fake_host.n_pairs, 2);
	assert_int_equal(fake_host.pair_offset, 0);
	assert_int_equal(fake_host.pair_error, 1500);
}

/* One operation with wide bounds, so that whatever the timer offers is tighter. */
static void add_wide(struct ocl_clock *c)
{
	uint64_t now = clock_mono_ns(), device = now + (uint64_t)fake.clock_offset;
	ocl_clock_add(c, &(struct ocl_moment){.enter_ns = now - 300000,
					      .return_ns = now + 300000,
					      .seen_ns = now + 400000,
					      .queued = device,
					      .start = device + 1,
					      .end = device + 2});
}

static void timer(int64_t timer_offset, bool believed)
{
	const struct ocl_device *d;
	fake_start();
	fake.has_timer = true;
	fake.clock_offset = 70000000000;
	fake.timer_offset = timer_offset;
	struct ocl_clock *c = clock_of_fake(&d);
	ocl_clock_ask_timer(c, d);
	ocl_clock_flush(c);
	assert_int_equal(fake_host.n_pairs, 0); /* not before it was checked */
	add_wide(c);
	ocl_clock_ask_timer(c, d);
	ocl_clock_flush(c);
	assert_true(fake_host.n_pairs > 0);
	int64_t off = fake_host.pair_offset + 70000000000;
	assert_true(off <= (int64_t)fake_host.pair_error && -off <= (int64_t)fake_host.pair_error);
	if (!believed)
		assert_in_range(fake_host.pair_error, 299000, 301000);
}

static void timer_checked(void **state)
{
	(void)state;
	timer(0, true);
	timer(5000000, false);
	timer(-5000000, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bounds), cmocka_unit_test(tightest),
					   cmocka_unit_test(timer_checked)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
