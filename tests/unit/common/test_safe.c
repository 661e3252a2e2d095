/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of common/safe: text never leaves its buffer, clocks agree with libc's, a try-lock
 * excludes, patience ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/safe/content_hash.h"
#include "common/safe/clock.h"
#include "common/safe/patience.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "common/safe/trylock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void formats(void **state)
{
	char buffer[256];
	struct text t = text_in(buffer, sizeof buffer);
	(void)state;
	text_put(&t, "a ");
	text_put_u64(&t, 0);
	text_put_char(&t, ' ');
	text_put_u64(&t, UINT64_MAX);
	text_put_char(&t, ' ');
	text_put_padded(&t, 42, 6, '0');
	text_put_char(&t, ' ');
	text_put_grouped(&t, 1234567);
	text_put_char(&t, ' ');
	text_put_grouped(&t, 999);
	text_put_char(&t, ' ');
	text_put_fixed(&t, 12345, 2);
	text_put_char(&t, ' ');
	text_put_fixed(&t, 5, 2);
	text_put_char(&t, ' ');
	text_put_hex(&t, (const uint8_t *)"\x00\xff\x1a", 3);
	assert_string_equal(buffer,
			    "a 0 18446744073709551615 000042 1,234,567 999 123.45 0.05 00ff1a");
	assert_false(t.cut);
	assert_int_equal(t.n, strlen(buffer));
}

static void stays_inside(void **state)
{
	(void)state;
	for (size_t room = 1; room < 20; room++) {
		char buffer[32];
		memset(buffer, 'x', sizeof buffer);
		struct text t = text_in(buffer, room);
		text_put(&t, "1234567890");
		text_put_u64(&t, 987654);
		assert_int_equal(buffer[t.n], '\0');
		assert_true(t.n < room);
		assert_int_equal(t.cut, room < 17);
		for (size_t i = room; i < sizeof buffer; i++)
			assert_int_equal(buffer[i], 'x');
	}
}

static void writes(void **state)
{
	int fds[2];
	char buffer[16], got[16] = "";
	(void)state;
	assert_int_equal(pipe(fds), 0);
	struct text t = text_in(buffer, sizeof buffer);
	text_put(&t, "through");
	text_write(&t, fds[1]);
	assert_int_equal(read(fds[0], got, sizeof got), 7);
	assert_string_equal(got, "through");
	close(fds[0]);
	close(fds[1]);
	text_write(&t, fds[1]); /* an error is no reason to loop */
}

/* The program's end is its own, also where nobody reads what we say, or the file is at its limit; a
 * signal that waits for the program goes on waiting. */
static void raises_no_signal(void **state)
{
	char buffer[16];
	struct text t = text_in(buffer, sizeof buffer);
	struct rlimit limit, none;
	sigset_t waiting, before;
	int fds[2];
	(void)state;
	text_put(&t, "some text");
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	text_write(&t, fds[1]);
	sigemptyset(&waiting);
	sigaddset(&waiting, SIGPIPE);
	sigprocmask(SIG_BLOCK, &waiting, &before);
	assert_int_equal(sigismember(&before, SIGPIPE), 0);
	raise(SIGPIPE);
	text_write(&t, fds[1]);
	close(fds[1]);
	sigpending(&waiting);
	assert_int_equal(sigismember(&waiting, SIGPIPE), 1);
	assert_int_equal(sigwaitinfo(&waiting, NULL), SIGPIPE);
	sigprocmask(SIG_SETMASK, &before, NULL);

	FILE *file = tmpfile();
	assert_non_null(file);
	getrlimit(RLIMIT_FSIZE, &limit);
	none = (struct rlimit){0, limit.rlim_max};
	setrlimit(RLIMIT_FSIZE, &none);
	text_write(&t, fileno(file));
	setrlimit(RLIMIT_FSIZE, &limit);
	fclose(file);
}

static void keeps_errno(void **state)
{
	(void)state;
	errno = 77;
	assert_int_equal(sys_close(-1), -EBADF);
	assert_int_equal(sys_open("/nonexistent/file", O_RDONLY, 0), -ENOENT);
	assert_true(sys_is_error(sys_mmap(NULL, 0, 0, 0, -1, 0)));
	assert_int_equal(errno, 77);
	assert_int_equal(sys_getpid(), getpid());
}

static void *report_tid(void *tid)
{
	volatile double x = 0;
	for (int i = 0; i < 3000000; i++)
		x = x + i;
	__atomic_store_n((int *)tid, sys_gettid(), __ATOMIC_RELEASE);
	while (__atomic_load_n((int *)tid, __ATOMIC_ACQUIRE) != 0)
		usleep(100);
	return NULL;
}

static void clocks(void **state)
{
	struct timespec t;
	pthread_t thread;
	int tid = 0, other;
	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &t);
	uint64_t before = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec,
		 now = clock_mono_ns();
	assert_true(now >= before && now - before < 10000000000u);
	uint64_t cpu = clock_thread_cpu_ns();
	assert_true(cpu > 0 && clock_thread_cpu_ns() >= cpu);
	assert_int_equal(pthread_create(&thread, NULL, report_tid, &tid), 0);
	while ((other = __atomic_load_n(&tid, __ATOMIC_ACQUIRE)) == 0)
		usleep(100);
	clockid_t id;
	assert_int_equal(pthread_getcpuclockid(thread, &id), 0);
	uint64_t ours = clock_other_cpu_ns(other), theirs = clock_ns(id);
	assert_true(ours > 0 && ours <= theirs);
	__atomic_store_n(&tid, 0, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	/* The kernel wakes the joiner a moment before the thread is gone. */
	for (int i = 0; i < 10000 && clock_other_cpu_ns(other); i++)
		usleep(1000);
	assert_int_equal(clock_other_cpu_ns(other), 0);
}

static trylock lock;
static int inside, n_taken, n_refused;

static void *contend(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100000; i++) {
		if (!trylock_take(&lock)) {
			__atomic_fetch_add(&n_refused, 1, __ATOMIC_RELAXED);
			continue;
		}
		assert_int_equal(__atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED), 0);
		n_taken++;
		__atomic_fetch_sub(&inside, 1, __ATOMIC_RELAXED);
		trylock_give(&lock);
	}
	return NULL;
}

static void lock_excludes(void **state)
{
	pthread_t thread[3];
	(void)state;
	assert_true(trylock_take(&lock));
	assert_false(trylock_take(&lock));
	trylock_give(&lock);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, contend, NULL), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(n_taken + n_refused, 300000);
}

static void *give_later(void *unused)
{
	(void)unused;
	usleep(50000);
	trylock_give(&lock);
	return NULL;
}

/* A holder without a processor for 50 ms is waited for, one that never comes is not. */
static void patience_ends(void **state)
{
	struct patience p = {0};
	pthread_t thread;
	(void)state;
	assert_true(trylock_take(&lock));
	assert_int_equal(pthread_create(&thread, NULL, give_later, NULL), 0);
	while (!trylock_take(&lock))
		assert_true(patience_wait(&p));
	pthread_join(thread, NULL);
	p = (struct patience){0};
	errno = ERANGE;
	while (!trylock_take(&lock) && patience_wait(&p))
		continue;
	assert_int_equal(errno, ERANGE);
	assert_false(patience_wait(&p));
	trylock_give(&lock);
}

/* Each byte of a small file counts; of a large one the start, the end and pieces between. */
static void content(void **state)
{
	enum { LARGE = 8 << 20 };
	static uint8_t bytes[LARGE];
	static const size_t sizes[] = {1, 7, 8, 9, 16384, 16385, 1 << 20};
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		const size_t n = sizes[i], places[] = {0, n / 2, n - 1};
		const uint64_t h = content_hash_bytes(bytes, n);
		assert_int_not_equal(h, 0);
		for (size_t k = 0; k < 3; k++) {
			bytes[places[k]] ^= 1;
			assert_int_not_equal(content_hash_bytes(bytes, n), h);
			bytes[places[k]] ^= 1;
		}
	}
	const uint64_t h = content_hash_bytes(bytes, LARGE);
	unsigned n_seen = 0;
	for (size_t at = 0; at < LARGE; at += CONTENT_PIECE_BYTES) {
		bytes[at] = 1;
		n_seen += content_hash_bytes(bytes, LARGE) != h;
		bytes[at] = 0;
	}
	assert_in_range(n_seen, 60, 70);
	bytes[LARGE - 1] = 1;
	assert_int_not_equal(content_hash_bytes(bytes, LARGE), h);
	bytes[LARGE - 1] = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(content),
		cmocka_unit_test(formats),
		cmocka_unit_test(stays_inside),
		cmocka_unit_test(writes),
		cmocka_unit_test(raises_no_signal),
		cmocka_unit_test(keeps_errno),
		cmocka_unit_test(clocks),
		cmocka_unit_test(lock_excludes),
		cmocka_unit_test(patience_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
