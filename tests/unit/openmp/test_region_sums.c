/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/regions/region_sums.c: what instances add up to, what is in the file and
 * when, more places than there is room for, and what is counted when there is no memory or space.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/format/measurement.h"
#include "hpcrun-lite/regions/region_sums.h"
#include "hpcrun-lite/store/store.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { THREAD = 5 };

static char directory[] = "/tmp/hpctoolkit-lite-regions.XXXXXX";
static struct region_thread thread;
static struct msr_thread record;
static struct region region;

/* ---- fakes ---- */

static uint64_t shift; /* of the addresses in the module */

static uint64_t packed(uintptr_t pc)
{
	return msr_addr_make(1, pc - shift, false);
}

/* An instance of a region with this team and these times. */
static void add(uintptr_t call, uint32_t n_threads, const uint64_t *ns)
{
	region.generation += 2;
	region.origin.fork = (struct region_fork){.call = call, .function = call + 8};
	region.n_threads = n_threads;
	for (uint32_t i = 0; i < n_threads; i++) {
		region.slot[i].generation = region.generation;
		region.slot[i].ns = ns[i];
	}
	region_sums_add(&thread, &region, 1000);
}

/* The records in the file; returns their number. */
static uint32_t read_records(struct msr_omp_region *to, uint32_t most)
{
	struct msr_view v;
	uint64_t pos = MSR_HEADER_BYTES, skipped;
	const struct msr_header *h = store_header();
	uint32_t n = 0;
	while (msr_next_extent((const uint8_t *)h, h->allocated, &pos, &v, &skipped) ==
	       MSR_SCAN_EXTENT) {
		if (v.extent->kind != MSR_OMP_REGION)
			continue;
		assert_int_equal(v.extent->thread, THREAD);
		assert_int_equal(v.extent->record_bytes, sizeof *to);
		for (uint64_t at = 0; at < v.n_bytes; at += sizeof *to) {
			assert_true(n < most);
			to[n++] = *(const struct msr_omp_region *)(v.content + at);
		}
	}
	return n;
}

static int setup(void **state)
{
	const char *cause = "";
	const struct store_options options = {
		.directory = directory, .host = "h", .rank = -1, .n_ranks = -1, .pid = 1};
	(void)state;
	shift = 0;
	record = (struct msr_thread){.number = THREAD};
	if (!store_open(&options, &cause))
		fail_msg("%s", cause);
	region_sums_reset(&thread);
	return 0;
}

static int teardown(void **state)
{
	char path[4352];
	(void)state;
	snprintf(path, sizeof path, "%s", store_path());
	store_forget();
	return unlink(path);
}

/* ---- tests ---- */

static void sums(void **state)
{
	struct msr_omp_region r[4];
	(void)state;
	add(0x1000, 2, (const uint64_t[]){300, 500});
	add(0x1000, 2, (const uint64_t[]){900, 100});
	add(0x1000, 3, (const uint64_t[]){10, 20, 30});
	assert_int_equal(read_records(r, 4), 0);
	region_sums_write(&thread, &record);
	assert_int_equal(read_records(r, 4), 2);
	assert_int_equal(r[0].call, packed(0x1000));
	assert_int_equal(r[0].function, packed(0x1008));
	assert_int_equal(r[0].n_threads, 2);
	assert_int_equal(r[0].instances, 2);
	assert_int_equal(r[0].elapsed_ns, 2000);
	assert_int_equal(r[0].n_timed, 4);
	assert_int_equal(r[0].busy_ns, 1800);
	assert_int_equal(r[0].max_ns, 1400);
	assert_int_equal(r[0].min_ns, 400);
	assert_int_equal(r[1].n_threads, 3);
	assert_int_equal(r[1].max_ns, 30);
	add(0x1000, 2, (const uint64_t[]){1, 1});
	region_sums_write(&thread, &record);
	assert_int_equal(read_records(r, 4), 2);
	assert_int_equal(r[0].instances, 3);
	assert_int_equal(r[1].instances, 1);
}

/* A thread that was not in the function in this instance has the generation of an earlier one. */
static void threads_without_time(void **state)
{
	struct msr_omp_region r[2];
	(void)state;
	add(0x1000, 2, (const uint64_t[]){300, 500});
	region.generation += 2;
	region.slot[1].generation = region.generation;
	region_sums_add(&thread, &region, 1000);
	region_sums_finish(&thread, &record);
	assert_int_equal(read_records(r, 2), 1);
	assert_int_equal(r[0].n_timed, 3);
	assert_int_equal(r[0].min_ns, 800);
}

static void more_than_there_is_room_for(void **state)
{
	static struct msr_omp_region r[REGION_MAX_SUMS + 2];
	(void)state;
	for (int round = 0; round < 2; round++)
		for (uintptr_t i = 0; i < REGION_MAX_SUMS + 10; i++)
			add(0x1000 + 16 * i, 1, (const uint64_t[]){7});
	thread.n_lost = 3;
	region_sums_finish(&thread, &record);
	assert_int_equal(read_records(r, REGION_MAX_SUMS + 2), REGION_MAX_SUMS + 1);
	assert_int_equal(r[0].call, 0);
	assert_int_equal(r[0].function, 0);
	assert_int_equal(r[0].instances, 23);
	assert_int_equal(r[0].busy_ns, 140);
	for (int i = 1; i <= REGION_MAX_SUMS; i++)
		assert_int_equal(r[i].instances, 2);
}

/* After a dlclose the same address may be other code, and other addresses the same code. */
static void modules_change(void **state)
{
	struct msr_omp_region r[4];
	(void)state;
	add(0x1000, 1, (const uint64_t[]){7});
	region_modules_changed();
	shift = 0x100;
	add(0x1000, 1, (const uint64_t[]){7});
	add(0x1100, 1, (const uint64_t[]){7});
	region_sums_finish(&thread, &record);
	assert_int_equal(read_records(r, 4), 2);
	assert_int_equal(r[0].call, msr_addr_make(1, 0x1000, false));
	assert_int_equal(r[0].instances, 2);
	assert_int_equal(r[1].call, msr_addr_make(1, 0xf00, false));
	assert_int_equal(r[1].instances, 1);
}

/* Forks without a descriptor, of a thread that another one writes for. */
static void lost_ones_are_written(void **state)
{
	struct msr_omp_region r[3];
	(void)state;
	add(0x1000, 1, (const uint64_t[]){7});
	thread.n_lost = 3;
	region_sums_write(&thread, &record);
	assert_int_equal(read_records(r, 3), 2);
	assert_int_equal(r[0].instances, 3);
	thread.n_lost = 5;
	region_sums_finish(&thread, &record);
	assert_int_equal(read_records(r, 3), 2);
	assert_int_equal(r[0].instances, 5);
}

/* What is the same for all instances. */
static void schedules(void **state)
{
	const struct {
		enum msr_omp_schedule kind;
		long chunk;
		uint32_t then;
	} step[] = {
		{MSR_OMP_UNKNOWN, 0, 0},
		{MSR_OMP_DYNAMIC, 16, MSR_OMP_DYNAMIC | 16 << MSR_OMP_CHUNK_SHIFT},
		{MSR_OMP_UNKNOWN, 0, MSR_OMP_DYNAMIC | 16 << MSR_OMP_CHUNK_SHIFT},
		{MSR_OMP_DYNAMIC, 8, MSR_OMP_DYNAMIC},
		{MSR_OMP_DYNAMIC, 16, MSR_OMP_DYNAMIC},
		{MSR_OMP_GUIDED, 1L << 40, MSR_OMP_SEVERAL},
		{MSR_OMP_DYNAMIC, 16, MSR_OMP_SEVERAL},
	};
	struct msr_omp_region r[1];
	(void)state;
	for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
		region.schedule = msr_omp_schedule(step[i].kind, step[i].chunk);
		add(0x1000, 1, (const uint64_t[]){7});
		region_sums_write(&thread, &record);
		assert_int_equal(read_records(r, 1), 1);
		assert_int_equal(r[0].schedule, step[i].then);
	}
	region.schedule = 0;
}

static uint64_t lost(void)
{
	return record.losses[MSR_LOSS_OMP_SUMS];
}

static void without_memory(void **state)
{
	static struct region_thread other;
	struct rlimit old;
	struct region_sums *const sums = thread.sums;
	struct msr_omp_region r[3];
	(void)state;
	thread = other;
	assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
	const struct rlimit little = {1, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
	add(0x1000, 1, (const uint64_t[]){7});
	add(0x2000, 1, (const uint64_t[]){7});
	assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
	assert_null(thread.sums);
	region_sums_write(&thread, &record);
	assert_int_equal(lost(), 2);
	assert_int_equal(read_records(r, 3), 0);
	/* later there is memory: they become instances of the sum of all others */
	add(0x1000, 1, (const uint64_t[]){7});
	region_sums_finish(&thread, &record);
	assert_int_equal(lost(), 0);
	assert_int_equal(read_records(r, 3), 2);
	assert_int_equal(r[0].instances, 2);
	thread.sums = sums;
}

static void without_space(void **state)
{
	const struct rlimit none = {0, RLIM_INFINITY};
	struct rlimit old;
	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_IGN);
	/* use up what the file has, then let it grow no more */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	const struct store_request request = {
		.kind = MSR_NODE, .record_bytes = 16, .n_bytes = 1 << 16, .least_bytes = 64};
	enum msr_loss cause;
	while (store_extent(&request, &cause))
		;
	add(0x1000, 1, (const uint64_t[]){7});
	add(0x1000, 1, (const uint64_t[]){7});
	region_sums_write(&thread, &record);
	assert_int_equal(lost(), 2);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
}

static void a_new_record_starts_with_nothing(void **state)
{
	struct msr_omp_region r[2];
	(void)state;
	add(0x1000, 1, (const uint64_t[]){7});
	region_sums_write(&thread, &record);
	teardown(state); /* a fork: the file is the parent's */
	setup(state);
	region_sums_write(&thread, &record);
	assert_int_equal(read_records(r, 2), 0);
	add(0x1000, 1, (const uint64_t[]){9});
	region_sums_write(&thread, &record);
	assert_int_equal(read_records(r, 2), 1);
	assert_int_equal(r[0].busy_ns, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sums, setup, teardown),
		cmocka_unit_test_setup_teardown(threads_without_time, setup, teardown),
		cmocka_unit_test_setup_teardown(more_than_there_is_room_for, setup, teardown),
		cmocka_unit_test_setup_teardown(modules_change, setup, teardown),
		cmocka_unit_test_setup_teardown(lost_ones_are_written, setup, teardown),
		cmocka_unit_test_setup_teardown(schedules, setup, teardown),
		cmocka_unit_test_setup_teardown(without_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(without_space, setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_record_starts_with_nothing, setup, teardown),
	};
	region_sums_start(packed);
	if (!mkdtemp(directory))
		return 1;
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
