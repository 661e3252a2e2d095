/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/store: the chain of extents is whole at every size and under threads, space
 * comes back, limits are losses and not signals, and the file is cut to what is in use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/store/store_state.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/hpctoolkit-lite-store.XXXXXX";

static void open_new(uint64_t max_bytes)
{
	const char *cause = NULL;
	const struct store_options options = {.directory = directory,
					      .host = "host",
					      .rank = 7,
					      .n_ranks = 9,
					      .pid = 4711,
					      .parent_pid = 12,
					      .exec_seq = 3,
					      .max_bytes = max_bytes,
					      .flags = MSR_FLAG_TRACE};
	if (!store_open(&options, &cause))
		fail_msg("store_open: %s", cause);
}

static int setup(void **state)
{
	(void)state;
	open_new(0);
	return 0;
}

static int teardown(void **state)
{
	char path[4352];
	(void)state;
	snprintf(path, sizeof path, "%s", store_path());
	store_forget();
	unlink(path);
	return 0;
}

static struct msr_extent *take(uint32_t n_bytes, uint32_t sequence)
{
	enum msr_loss cause;
	const struct store_request r = {.kind = MSR_NODE,
					.record_bytes = 16,
					.thread = 5,
					.sequence = sequence,
					.first = sequence * 10,
					.n_bytes = n_bytes,
					.least_bytes = n_bytes / 4};
	return store_extent(&r, &cause);
}

struct found {
	uint64_t n, bytes, free_bytes, used;
	bool damaged;
};

/* Reads the file as it is on disk. */
static struct found scan_file(uint64_t *n_bytes)
{
	struct found f = {0};
	struct stat st;
	struct msr_view v;
	uint64_t pos = MSR_HEADER_BYTES, skipped;
	unsigned major;
	enum msr_scan s;
	int fd = open(store_path(), O_RDONLY);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	*n_bytes = (uint64_t)st.st_size;
	uint8_t *bytes = aligned_alloc(64, (*n_bytes + 63) & ~UINT64_C(63));
	assert_int_equal(read(fd, bytes, *n_bytes), *n_bytes);
	close(fd);
	assert_int_equal(msr_check_header(bytes, *n_bytes, &major), MSR_HEADER_SOUND);
	while ((s = msr_next_extent(bytes, *n_bytes, &pos, &v, &skipped)) != MSR_SCAN_END) {
		f.damaged |= s == MSR_SCAN_DAMAGED;
		if (s == MSR_SCAN_DAMAGED)
			continue;
		f.n += v.extent->kind != MSR_FREE;
		f.bytes += atomic_load(&v.extent->length);
		f.used += v.n_bytes;
		if (v.extent->kind == MSR_FREE)
			f.free_bytes += atomic_load(&v.extent->length);
	}
	free(bytes);
	return f;
}

static void names_and_header(void **state)
{
	char first[4352], wanted[4352];
	(void)state;
	snprintf(wanted, sizeof wanted, "%s/000007-host-4711.hpcrun", directory);
	assert_string_equal(store_path(), wanted);
	snprintf(first, sizeof first, "%s", store_path());
	const struct msr_header *h = store_header();
	assert_int_equal(h->pid, 4711);
	assert_int_equal(h->parent_pid, 12);
	assert_int_equal(h->rank, 7);
	assert_int_equal(h->n_ranks, 9);
	assert_int_equal(h->exec_seq, 3);
	assert_int_equal(h->flags, MSR_FLAG_TRACE);
	assert_string_equal(h->host, "host");
	assert_true(fcntl(store_fd(), F_GETFD) & FD_CLOEXEC);
	assert_true(store_fd() > 100);
	open_new(0); /* the name is taken: another image of the same pid */
	snprintf(wanted, sizeof wanted, "%s/000007-host-4711.1.hpcrun", directory);
	assert_string_equal(store_path(), wanted);
	unlink(first);
}

static void chain_is_whole(void **state)
{
	uint64_t total = 0, size;
	(void)state;
	for (uint32_t i = 0; i < 500; i++) {
		uint32_t n = 64 + (i * 7919) % 60000;
		struct msr_extent *e = take(n, i);
		assert_non_null(e);
		uint64_t length = atomic_load(&e->length);
		assert_true(length >= n / 4 && length % MSR_EXTENT_ALIGN == 0);
		for (uint64_t at = 0; at < length - sizeof *e; at += 997)
			assert_int_equal(((uint8_t *)(e + 1))[at], 0);
		memset(e + 1, 0xA5, length - sizeof *e);
		atomic_store(&e->used, length - sizeof *e);
		total += length;
	}
	struct found f = scan_file(&size);
	assert_false(f.damaged);
	assert_int_equal(f.n, 500);
	assert_int_equal(f.bytes - f.free_bytes, total);
	store_finish(true);
	f = scan_file(&size);
	assert_false(f.damaged);
	assert_int_equal(f.n, 500);
	assert_int_equal(size, atomic_load(&store_header()->allocated));
	assert_int_equal(size, MSR_HEADER_BYTES + f.bytes);
}

static void tails_come_back(void **state)
{
	uint64_t size;
	(void)state;
	for (uint32_t i = 0; i < 4000;
	     i += 4) { /* 4000 short threads, four at a time: 2 KiB taken, 300 bytes used */
		struct msr_extent *e[4];
		for (uint32_t j = 0; j < 4; j++) {
			e[j] = take(2048, i + j);
			assert_non_null(e[j]);
			atomic_store(&e[j]->used, 300);
		}
		for (uint32_t j = 0; j < 4; j++)
			store_give_tail(e[j]);
	}
	struct found f = scan_file(&size);
	assert_false(f.damaged);
	assert_int_equal(f.n, 4000);
	assert_int_equal(f.used, 4000 * 300);
	store_finish(true);
	scan_file(&size);
	assert_in_range(size, 4000 * 300, 4000 * 420);
}

static void unused_pages_are_released(void **state)
{
	struct stat st;
	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		enum msr_loss cause;
		const struct store_request r = {
			.kind = MSR_NODE, .sequence = i, .n_bytes = 256 << 10};
		struct msr_extent *e = store_extent(&r, &cause);
		assert_non_null(e);
		atomic_store(&e->used, 1000);
	}
	store_finish(true);
	assert_int_equal(stat(store_path(), &st), 0);
	assert_true(st.st_size > 8 * (256 << 10));
	assert_in_range(st.st_blocks * 512, 0, 200000); /* else: 2 MiB */
}

static void no_extent_after_the_end(void **state)
{
	struct msr_extent *e;
	uint64_t size;
	(void)state;
	assert_non_null(take(1000, 0));
	store_finish(true);
	assert_null(take(1000, 1));
	store_reopen(); /* an exec that failed */
	for (uint32_t i = 1; i < 100; i++) {
		e = take(30000, i);
		assert_non_null(e);
		memset(e + 1, 1,
		       atomic_load(&e->length) - sizeof *e); /* not behind the end of the file: that
								would be SIGBUS */
	}
	struct found f = scan_file(&size);
	assert_false(f.damaged);
	assert_int_equal(f.n, 100);
}

static void bound_of_ours(void **state)
{
	uint32_t n = 0;
	enum msr_loss cause = MSR_N_LOSSES;
	const struct store_request r = {.kind = MSR_NODE, .n_bytes = 65536};
	struct stat st;
	teardown(state);
	open_new(3 << 20);
	while (n < 1000 && store_extent(&r, &cause))
		n++;
	assert_in_range(n, 40, 48);
	assert_int_equal(cause, MSR_LOSS_FILE_LIMIT);
	assert_true(store_was_full());
	assert_int_equal(stat(store_path(), &st), 0);
	assert_in_range(st.st_size, 1, 3 << 20);
}

static void file_size_limit(void **state)
{
	struct rlimit old, small = {.rlim_cur = 2500000};
	uint32_t n = 0;
	enum msr_loss cause = MSR_N_LOSSES;
	const struct store_request r = {.kind = MSR_NODE, .n_bytes = 32768};
	(void)state;
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_FSIZE, &small);
	signal(SIGXFSZ, SIG_DFL); /* would end this test */
	while (n < 1000 && store_extent(&r, &cause))
		n++;
	setrlimit(RLIMIT_FSIZE, &old);
	assert_in_range(n, 60, 76);
	assert_int_equal(cause, MSR_LOSS_FILE_LIMIT);
}

static void descriptor_taken_away(void **state)
{
	char other[4352];
	struct stat st;
	uint32_t n = 0;
	(void)state;
	snprintf(other, sizeof other, "%s/innocent", directory);
	int fd = open(other, O_RDWR | O_CREAT, 0600), ours = store_fd();
	assert_int_equal(dup2(fd, ours), ours); /* the program now has its own file there */
	while (n < 100 && take(65536, n))
		n++;
	assert_int_equal(n, 100);
	store_finish(true);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_not_equal(store_fd(), ours);
	close(fd);
	close(ours);
	unlink(other);
}

static const char *path_of(char path[static 4352], unsigned suffix)
{
	snprintf(path, 4352, "%s/000007-host-4711.%u.hpcrun", directory, suffix);
	return path;
}

/* A program that became another one again and again; one of the names is a link to nothing. */
static void long_chain_of_images(void **state)
{
	enum { N = 12345 };
	char path[4352], first[4352];
	(void)state;
	snprintf(first, sizeof first, "%s", store_path());
	for (unsigned i = 1; i < N; i++)
		assert_int_equal(mknod(path_of(path, i), S_IFREG | 0600, 0), 0);
	assert_int_equal(symlink("nowhere", path_of(path, N)), 0);
	open_new(0);
	assert_string_equal(store_path(), path_of(path, N + 1));
	for (unsigned i = 1; i <= N; i++)
		unlink(path_of(path, i));
	unlink(first);
}

static void causes(void **state)
{
	const char *cause = NULL;
	struct store_options o = {
		.directory = "/nonexistent/directory", .host = "h", .rank = -1, .pid = 1};
	(void)state;
	store_forget();
	assert_false(store_open(&o, &cause));
	assert_string_equal(cause, "the directory does not exist");
	assert_null(store_header());
	assert_null(take(1000, 0));
	store_count_loss(MSR_LOSS_FORK); /* harmless without a store */
	open_new(0);
}

static void by_name(void **state)
{
	const char *cause = NULL;
	char path[4352];
	struct store_options o = {
		.directory = directory, .name = "one.hpcrun", .host = "h", .rank = -1, .pid = 1};
	(void)state;
	store_forget();
	assert_true(store_open(&o, &cause));
	snprintf(path, sizeof path, "%s/one.hpcrun", directory);
	assert_string_equal(store_path(), path);
	store_forget();
	assert_false(store_open(&o, &cause));
	assert_string_equal(cause, "there is a file of that name");
	assert_null(store_header());
	assert_int_equal(unlink(path), 0);
	open_new(0);
}

static void *allocate(void *argument)
{
	unsigned seed = (unsigned)(uintptr_t)argument;
	for (uint32_t i = 0; i < 3000; i++) {
		enum msr_loss cause;
		uint32_t n = 128 + (uint32_t)rand_r(&seed) % 3000;
		const struct store_request r = {.kind = MSR_CELL,
						.thread = (uint32_t)(uintptr_t)argument,
						.sequence = i,
						.n_bytes = n,
						.least_bytes = n / 2};
		struct msr_extent *e = store_extent(&r, &cause);
		if (!e) {
			if (cause != MSR_LOSS_BUSY) /* another thread is adding space */
				return argument;
			usleep(100);
			i--;
			continue;
		}
		uint64_t room = atomic_load(&e->length) - sizeof *e,
			 used = (uint64_t)rand_r(&seed) % (room + 1);
		for (uint64_t at = 0; at < room; at++)
			if (((uint8_t *)(e + 1))[at])
				return argument;
		memset(e + 1, (int)(uintptr_t)argument, used);
		atomic_store(&e->used, used);
		store_give_tail(e);
	}
	return NULL;
}

static void threads_do_not_overlap(void **state)
{
	pthread_t thread[4];
	uint64_t size;
	(void)state;
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, allocate, (void *)(i + 1)), 0);
	for (int i = 0; i < 4; i++) {
		void *failed;
		pthread_join(thread[i], &failed);
		assert_null(failed);
	}
	store_finish(true);
	struct found f = scan_file(&size);
	assert_false(f.damaged);
	assert_int_equal(f.n, 12000);
	assert_int_equal(f.bytes, size - MSR_HEADER_BYTES);
}

/* A failed exec ends the file, which is cut, and opens it again, while other threads take
 * extents. */
static atomic_bool enough;

static void *take_until_enough(void *argument)
{
	for (uint32_t i = 0; !atomic_load(&enough); i++) {
		enum msr_loss cause;
		const struct store_request r = {.kind = MSR_CELL,
						.thread = (uint32_t)(uintptr_t)argument,
						.sequence = i,
						.n_bytes = 16384,
						.least_bytes = 16384};
		struct msr_extent *e = store_extent(&r, &cause);
		if (e)
			memset(e + 1, 1, r.n_bytes - sizeof *e);
	}
	return NULL;
}

static void ends_while_others_write(void **state)
{
	pthread_t thread[2];
	uint64_t size;
	(void)state;
	atomic_store(&enough, false);
	for (uintptr_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, take_until_enough, (void *)i), 0);
	for (int i = 0; i < 500; i++) {
		usleep(200);
		store_finish(false);
		store_reopen();
	}
	atomic_store(&enough, true);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	store_finish(true);
	assert_false(scan_file(&size).damaged);
}

/* The file that gets what the node has no room for; it rests between its uses. */
static void failure_of_the_spill(void **state)
{
	const char *path = "local";
	(void)state;
	assert_null(store_failure(&path));
	assert_true(space_open(&store.spill, store_path()));
	space_rest(&store.spill);
	store.spill_from = 1 << 20;
	assert_null(store_failure(&path));
	assert_string_equal(path, "local");
	store.spill.error = EIO;
	assert_string_equal(store_failure(&path), "input/output error");
	assert_string_equal(path, store_path());
	assert_int_equal(store.spill.fd, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_and_header, setup, teardown),
		cmocka_unit_test_setup_teardown(long_chain_of_images, setup, teardown),
		cmocka_unit_test_setup_teardown(chain_is_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(tails_come_back, setup, teardown),
		cmocka_unit_test_setup_teardown(unused_pages_are_released, setup, teardown),
		cmocka_unit_test_setup_teardown(no_extent_after_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(bound_of_ours, setup, teardown),
		cmocka_unit_test_setup_teardown(file_size_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(descriptor_taken_away, setup, teardown),
		cmocka_unit_test_setup_teardown(causes, setup, teardown),
		cmocka_unit_test_setup_teardown(by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(threads_do_not_overlap, setup, teardown),
		cmocka_unit_test_setup_teardown(ends_while_others_write, setup, teardown),
		cmocka_unit_test_setup_teardown(failure_of_the_spill, setup, teardown),
	};
	if (!mkdtemp(directory))
		return 99;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	char path[4352];
	snprintf(path, sizeof path, "%s/000007-host-4711.hpcrun", directory);
	unlink(path); /* of a test that opened a second file */
	unlink(path_of(path, 1));
	rmdir(directory);
	return failed;
}
