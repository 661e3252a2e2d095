/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of common/safe/usage: what a known amount of work uses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/safe/usage.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 1000, WRITES = 500, BYTES = 3 };

static void page_faults_count(void **state)
{
	struct usage start, used;
	(void)state;
	usage_read(&start);
	char *at = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	assert_ptr_not_equal(at, MAP_FAILED);
	madvise(at, PAGES * 4096, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		at[i * 4096] = 1;
	usage_since(&start, &used);
	munmap(at, PAGES * 4096);
	assert_in_range(used.page_faults, PAGES, 2 * PAGES);
}

static void calls_and_bytes_count(void **state)
{
	struct usage start, used;
	int pipes[2];
	char bytes[BYTES] = "ab";
	(void)state;
	if (access("/proc/self/io", R_OK) != 0)
		skip();
	assert_int_equal(pipe(pipes), 0);
	usage_read(&start);
	for (int i = 0; i < WRITES; i++) {
		assert_int_equal(write(pipes[1], bytes, BYTES), BYTES);
		assert_int_equal(read(pipes[0], bytes, BYTES), BYTES);
	}
	usage_since(&start, &used);
	close(pipes[0]);
	close(pipes[1]);
	/* /proc/self/io itself is read, too */
	assert_in_range(used.writes, WRITES, WRITES + 2);
	assert_in_range(used.reads, WRITES, WRITES + 10);
	assert_in_range(used.written_bytes, WRITES * BYTES, WRITES * BYTES + 100);
	assert_in_range(used.read_bytes, WRITES * BYTES, WRITES * BYTES + 2000);
}

static void less_is_unknown(void **state)
{
	struct usage start, used, none = {0};
	(void)state;
	usage_read(&start);
	start.page_faults += 1000000;
	usage_since(&start, &used);
	assert_memory_equal(&used, &none, sizeof used);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(page_faults_count),
		cmocka_unit_test(calls_and_bytes_count),
		cmocka_unit_test(less_is_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
