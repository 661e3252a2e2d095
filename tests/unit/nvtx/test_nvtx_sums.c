/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/runtime/nvtx/nvtx_sums: equal ranges share a sum; the stack knows domains; a
 * quarter of the records is for outermost ranges; open ranges have records at the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/runtime/sums/nvtx_sums.h"
#include "hpcrun-lite/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREAD = 3, EVENTS_MOST = 40 };

static char directory[] = "/tmp/hpctoolkit-lite-nvtx.XXXXXX";
static struct nvtx_thread thread;

static int setup(void **state)
{
	const char *cause = "";
	const struct store_options options = {
		.directory = directory, .host = "h", .rank = -1, .n_ranks = -1, .pid = 1};
	(void)state;
	if (!store_open(&options, &cause))
		fail_msg("%s", cause);
	return 0;
}

static int teardown(void **state)
{
	char path[4352];
	(void)state;
	nvtx_sums_free(&thread, true);
	snprintf(path, sizeof path, "%s", store_path());
	store_finish(true);
	store_forget();
	unlink(path);
	return 0;
}

/* What the file holds. */
struct seen {
	uint64_t n_sums, n_begun, n, n_with_event, n_events, n_open;
	struct msr_nvtx_range first;
	struct msr_nvtx_event last;
};

static void look_at_events(struct seen *s, const struct msr_view *v)
{
	const struct msr_nvtx_event *e = (const void *)v->content;
	for (size_t i = 0; i < v->n_bytes / sizeof *e; i++) {
		s->last = e[i];
		s->n_events++;
		s->n_open += e[i].flags == MSR_NVTX_EVENT_OPEN;
	}
}

static void look_at_ranges(struct seen *s, const struct msr_view *v)
{
	const struct msr_nvtx_range *r = (const void *)v->content;
	for (size_t i = 0; i < v->n_bytes / sizeof *r; i++) {
		if (!s->n_sums++)
			memcpy(&s->first, &r[i], sizeof s->first);
		s->n_begun += r[i].n_begun;
		s->n += r[i].n;
		s->n_with_event += r[i].n_events;
	}
}

static struct seen look(void)
{
	struct seen s = {0};
	FILE *f = fopen(store_path(), "r");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	size_t n = (size_t)ftell(f);
	uint8_t *bytes = aligned_alloc(64, (n + 63) & ~(size_t)63);
	rewind(f);
	assert_int_equal(fread(bytes, 1, n, f), n);
	fclose(f);
	uint64_t at = MSR_HEADER_BYTES, skipped;
	struct msr_view v;
	for (enum msr_scan r; (r = msr_next_extent(bytes, n, &at, &v, &skipped)) != MSR_SCAN_END;) {
		if (r == MSR_SCAN_EXTENT && v.extent->kind == MSR_NVTX_RANGE)
			look_at_ranges(&s, &v);
		if (r == MSR_SCAN_EXTENT && v.extent->kind == MSR_NVTX_EVENT)
			look_at_events(&s, &v);
	}
	free(bytes);
	return s;
}

static uint32_t find(uint32_t node, uint32_t name)
{
	enum msr_loss cause;
	const struct nvtx_key key = {node, name, MSR_NVTX_PUSHED};
	const uint32_t id = nvtx_sums_find(&thread, THREAD, key, &cause);
	assert_int_not_equal(id, 0);
	return id;
}

static void push(uint32_t id, uint32_t domain, uint64_t enter_ns)
{
	const struct nvtx_pushed p = {.enter_ns = enter_ns, .id = id, .domain = domain};
	nvtx_sums_begin(&thread, id);
	nvtx_sums_push(&thread, THREAD, &p);
}

static uint32_t pop(uint32_t domain, uint64_t leave_ns, const double *value)
{
	struct nvtx_pushed p;
	enum msr_loss cause;
	if (!nvtx_sums_pop(&thread, domain, &p))
		return 0;
	const struct nvtx_event e = {p.enter_ns, leave_ns, value};
	assert_true(nvtx_sums_add(&thread, p.id, &e, EVENTS_MOST, &cause));
	return p.id;
}

static void equal_ranges_share_a_sum(void **state)
{
	(void)state;
	static const double values[] = {2, -1.5, 4};
	static const uint64_t lengths[] = {30, 10, 20};
	const uint32_t id = find(7, 1);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(find(7, 1), id);
		push(id, 0, 100);
		pop(0, 100 + lengths[i], &values[i]);
	}
	assert_int_not_equal(find(7, 2), id);
	assert_int_not_equal(find(8, 1), id);
	struct seen s = look();
	double sum, least, most;
	memcpy(&sum, &s.first.value_sum, sizeof sum);
	memcpy(&least, &s.first.value_least, sizeof least);
	memcpy(&most, &s.first.value_most, sizeof most);
	assert_int_equal(s.n_sums, 3);
	assert_int_equal(s.first.n_begun, 3);
	assert_int_equal(s.first.n, 3);
	assert_int_equal(s.first.n_events, 3);
	assert_int_equal(s.first.ns, 60);
	assert_int_equal(s.first.least_ns, 10);
	assert_int_equal(s.first.most_ns, 30);
	assert_int_equal(s.first.n_values, 3);
	assert_true(sum == 4.5 && least == -1.5 && most == 4);
	assert_int_equal(s.last.enter_ns, 100);
	assert_int_equal(s.last.leave_ns, 120);
}

static void domains_have_stacks_of_their_own(void **state)
{
	(void)state;
	const uint32_t a = find(1, 1), b = find(1, 2);
	assert_int_equal(pop(0, 1, NULL), 0);
	push(a, 5, 1);
	push(b, 0, 2);
	assert_int_equal(nvtx_sums_current(&thread), b);
	assert_int_equal(pop(6, 3, NULL), 0);
	assert_int_equal(pop(5, 3, NULL), a);
	assert_int_equal(nvtx_sums_current(&thread), b);
	assert_int_equal(pop(0, 4, NULL), b);
	assert_int_equal(nvtx_sums_current(&thread), 0);
}

static void outermost_ranges_have_records(void **state)
{
	(void)state;
	const uint32_t outer = find(1, 1), inner = find(1, 2);
	push(outer, 0, 1);
	for (unsigned i = 0; i < 100; i++) {
		push(inner, 0, 2);
		pop(0, 3, NULL);
	}
	assert_int_equal(look().n_events, EVENTS_MOST - EVENTS_MOST / 4);
	pop(0, 4, NULL);
	struct seen s = look();
	assert_int_equal(s.n_events, EVENTS_MOST - EVENTS_MOST / 4 + 1);
	assert_int_equal(s.last.range, outer - 1);
	assert_int_equal(s.n, 101);
	assert_int_equal(s.n_with_event, s.n_events);
	for (unsigned i = 0; i < 100; i++) {
		push(outer, 0, 5);
		pop(0, 6, NULL);
	}
	assert_int_equal(look().n_events, EVENTS_MOST);
}

static void open_ranges_end_with_the_thread(void **state)
{
	(void)state;
	push(find(1, 1), 0, 1);
	push(find(1, 2), 0, 2);
	pop(0, 3, NULL);
	nvtx_sums_close(&thread, 9, EVENTS_MOST);
	struct seen s = look();
	assert_int_equal(s.n_events, 2);
	assert_int_equal(s.n_open, 1);
	assert_int_equal(s.last.leave_ns, 9);
	assert_int_equal(s.n_begun, 2);
	assert_int_equal(s.n, 1);
}

static void too_many_share_the_rest(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= NVTX_SUMS_MOST; i++)
		find(i, 1);
	const uint32_t named = find(NVTX_SUMS_MOST + 1, 1);
	assert_int_equal(find(NVTX_SUMS_MOST + 2, 1), named);
	assert_int_not_equal(find(NVTX_SUMS_MOST + 2, 2), named);
	assert_int_equal(find(1, 1), 1);
	for (uint32_t i = 3; i <= NVTX_SUMS_MOST; i++)
		find(1, i);
	const uint32_t rest = find(1, NVTX_SUMS_MOST + 1);
	assert_int_equal(find(2, NVTX_SUMS_MOST + 2), rest);
	assert_int_equal(look().n_sums, 2 * NVTX_SUMS_MOST + 1);
}

int main(void)
{
	assert_non_null(mkdtemp(directory));
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(equal_ranges_share_a_sum),
		TEST(domains_have_stacks_of_their_own),
		TEST(outermost_ranges_have_records),
		TEST(open_ranges_end_with_the_thread),
		TEST(too_many_share_the_rest),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
