/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of common/safe/load: what is there is read, what is not gives a short count, by both ways;
 * errno stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/safe/load.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* One readable page between two that are not. */
static uint8_t *make_pages(void)
{
	uint8_t *p = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
	memset(p + PAGE, 0x5a, PAGE);
	return p;
}

static void check_edges(void)
{
	uint8_t got[2 * PAGE], *p = make_pages();
	const uintptr_t page = (uintptr_t)p + PAGE;
	errno = 12345;
	assert_int_equal(load_guarded(got, page, 100), 100);
	assert_int_equal(got[99], 0x5a);
	assert_int_equal(load_guarded(got, page + PAGE - 8, 8), 8);
	assert_int_equal(load_guarded(got, page + PAGE - 8, 16), 8);
	assert_int_equal(load_guarded(got, page + PAGE - 1, 2), 1);
	assert_int_equal(load_guarded(got, page + PAGE, 1), 0);
	assert_int_equal(load_guarded(got, page - 1, 2), 0);
	assert_int_equal(load_guarded(got, page, PAGE), PAGE);
	assert_int_equal(load_guarded(got, page, 0), 0);
	assert_int_equal(load_guarded(got, 0, 8), 0);
	assert_int_equal(load_guarded(got, UINTPTR_MAX - 3, 8), 0);
	assert_int_equal(load_guarded(got, UINT64_C(0x8000000000000000), 8), 0);
	assert_int_equal(errno, 12345);
	munmap(p, 3 * PAGE);
}

/* Many pieces, in an order of their own; the first byte that cannot be read ends it, wherever it
 * is. */
static void check_gathered(void)
{
	enum { N = 300, EACH = 13 };
	static uint8_t got[4 * PAGE];
	struct iovec piece[N];
	uint8_t *p = make_pages(), *page = p + PAGE;
	for (unsigned i = 0; i < PAGE; i++)
		page[i] = (uint8_t)(i * 7 + i / 256);
	for (unsigned i = 0; i < N; i++)
		piece[i] = (struct iovec){page + (i * 4001 + 5) % (PAGE - EACH), i % EACH};
	size_t all = 0;
	errno = 12345;
	memset(got, 0, sizeof got);
	for (unsigned i = 0; i < N; i++)
		all += piece[i].iov_len;
	assert_int_equal(load_gathered(got, piece, N), all);
	for (unsigned i = 0, at = 0; i < N; at += piece[i++].iov_len)
		assert_memory_equal(got + at, piece[i].iov_base, piece[i].iov_len);
	assert_int_equal(got[all], 0);
	piece[3] = (struct iovec){page + PAGE - 4, 5};
	assert_int_equal(load_gathered(got, piece, N), 0 + 1 + 2 + 4);
	assert_memory_equal(got + 3, page + PAGE - 4, 4);
	piece[3] = (struct iovec){page + PAGE, 1};
	assert_int_equal(load_gathered(got, piece, N), 0 + 1 + 2);
	piece[3] = (struct iovec){(void *)(UINTPTR_MAX - 3), 8};
	assert_int_equal(load_gathered(got, piece, N), 0 + 1 + 2);
	piece[1] = (struct iovec){NULL, 8};
	assert_int_equal(load_gathered(got, piece, N), 0);
	assert_int_equal(load_gathered(got, piece, 1), 0);
	assert_int_equal(load_gathered(got, piece, 0), 0);
	assert_int_equal(mprotect(page + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
	piece[0] = (struct iovec){page, 2 * PAGE}; /* more than load_guarded takes at once */
	assert_int_equal(load_gathered(got, piece, 1), 2 * PAGE);
	assert_memory_equal(got, page, 2 * PAGE);
	assert_int_equal(errno, 12345);
	munmap(p, 3 * PAGE);
}

static void test_copied(void **state)
{
	(void)state;
	load_use_probe(0);
	check_edges();
	check_gathered();
}

static void test_probed(void **state)
{
	(void)state;
	load_use_probe(1);
	check_edges();
	check_gathered();
	load_use_probe(0);
}

static void *load_without_leader(void *unused)
{
	char path[64], line[512] = "", got[8];
	const char there[8] = "is here";
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
	while (!strstr(line, ") Z")) { /* the state follows the name */
		FILE *f = fopen(path, "r");
		if (!f || !fgets(line, sizeof line, f))
			_exit(2);
		fclose(f);
	}
	const struct iovec piece = {(void *)(uintptr_t)there, sizeof there};
	const bool guarded = load_guarded(got, (uintptr_t)there, sizeof got) == sizeof got &&
			     memcmp(got, there, sizeof got) == 0;
	_exit(guarded && load_gathered(got, &piece, 1) == sizeof got ? 0 : 1);
	return unused;
}

/* The process has no leader any more, only a zombie: in a child, whose main thread ends. */
static void test_without_leader(void **state)
{
	(void)state;
	int status;
	const pid_t child = fork();
	if (child == 0) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, load_without_leader, NULL) != 0)
			_exit(3);
		pthread_exit(NULL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copied),
		cmocka_unit_test(test_probed),
		cmocka_unit_test(test_without_leader),
	};
	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
