/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/store/nursery and of what the store makes of it: children of fork share
 * their parent's file, move to their own when it gets too small, and never damage the chain of
 * extents.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/safe/newer.h"
#include "hpcrun-lite/store/nursery.h"
#include "hpcrun-lite/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/hpctoolkit-lite-nursery.XXXXXX";
static char own_path[4352];

static struct store_options options_of(unsigned pid)
{
	return (struct store_options){
		.directory = directory, .host = "host", .rank = -1, .n_ranks = -1, .pid = pid};
}

static int setup(void **state)
{
	const char *cause = NULL;
	(void)state;
	struct store_options o = options_of(1);
	if (!store_open(&o, &cause))
		fail_msg("store_open: %s", cause);
	snprintf(own_path, sizeof own_path, "%s", store_path());
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	store_forget();
	unlink(own_path);
	return 0;
}

static struct msr_extent *take(uint32_t n_bytes)
{
	enum msr_loss cause;
	const struct store_request r = {.kind = MSR_NODE, .record_bytes = 16, .n_bytes = n_bytes};
	struct msr_extent *e = store_extent(&r, &cause);
	if (e) {
		memset(e + 1, 0x5a, n_bytes - sizeof *e);
		atomic_store(&e->used, n_bytes - sizeof *e);
	}
	return e;
}

struct found {
	unsigned n_processes, n_unwritten, n_extents, n_inside, n_damaged;
	uint32_t pid_sum;
};

static void scan(const uint8_t *bytes, uint64_t n_bytes, struct found *f, bool is_inside)
{
	struct msr_view v;
	uint64_t pos = is_inside ? msr_first_extent((const void *)bytes) : MSR_HEADER_BYTES;
	uint64_t skipped;
	unsigned major;
	for (enum msr_scan s;
	     (s = msr_next_extent(bytes, n_bytes, &pos, &v, &skipped)) != MSR_SCAN_END;) {
		f->n_damaged += s == MSR_SCAN_DAMAGED || v.clamped;
		if (s != MSR_SCAN_EXTENT)
			continue;
		if (v.extent->kind == MSR_NODE)
			++*(is_inside ? &f->n_inside : &f->n_extents);
		if (!msr_is_process(&v))
			continue;
		assert_false(is_inside);
		if (msr_check_header(v.content, v.n_bytes, &major) != MSR_HEADER_SOUND) {
			f->n_unwritten++;
			continue;
		}
		f->n_processes++;
		f->pid_sum += ((const struct msr_header *)(const void *)v.content)->pid;
		scan(v.content, v.n_bytes, f, true);
	}
}

static struct found scan_file(const char *path, uint64_t *n_bytes)
{
	struct found f = {0};
	struct stat st;
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	uint8_t *bytes = aligned_alloc(64, ((size_t)st.st_size + 63) & ~(size_t)63);
	assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	*n_bytes = (uint64_t)st.st_size;
	scan(bytes, (uint64_t)st.st_size, &f, false);
	free(bytes);
	return f;
}

/* What a child does; its exit status is 0 if all went well. */
typedef int child_fn(unsigned pid);

static pid_t start_child(unsigned pid, child_fn *fn)
{
	store_before_fork();
	pid_t child = fork();
	if (child == 0) {
		const char *cause;
		struct store_options o = options_of(pid);
		_exit(store_open_forked(&o, &cause) ? fn(pid) : 99);
	}
	store_after_fork();
	return child;
}

static void end_child(pid_t child)
{
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static int small(unsigned pid)
{
	(void)pid;
	if (store_fd() >= 0 || store_header()->pid != pid || !take(1024))
		return 1;
	store_finish(true);
	return take(64) != NULL;
}

static void children_share_a_file(void **state)
{
	uint64_t size;
	struct stat st;
	(void)state;
	for (unsigned i = 0; i < 100; i++) { /* ten at a time, more than the first slabs */
		pid_t child[10];
		for (unsigned k = 0; k < 10; k++)
			child[k] = start_child(100 + i * 10 + k, small);
		assert_non_null(take(3000));
		for (unsigned k = 0; k < 10; k++)
			end_child(child[k]);
	}
	struct found f = scan_file(own_path, &size);
	assert_int_equal(f.n_damaged, 0);
	assert_int_equal(f.n_processes, 1000);
	assert_int_equal(f.n_inside, 1000);
	assert_int_equal(f.n_extents, 100);
	assert_int_equal(f.pid_sum, 1000 * 100 + 999 * 500);
	store_finish(true);
	f = scan_file(own_path, &size);
	assert_int_equal(f.n_damaged, 0);
	assert_int_equal(f.n_processes, 1000);
	assert_int_equal(size, atomic_load(&store_header()->allocated));
	assert_int_equal(stat(own_path, &st), 0);
	assert_in_range(st.st_blocks * 512, 0,
			1000 * (NURSERY_SLAB_BYTES + NURSERY_BRIEF_BYTES) + (2 << 20));
}

static int big(unsigned pid)
{
	char path[4352];
	uint64_t size;
	snprintf(path, sizeof path, "%s/norank-host-%u.hpcrun", directory, pid);
	struct msr_extent *first = take(2000);
	for (unsigned i = 0; i < 2000; i++)
		if (!take(2000))
			return 1;
	if (store_fd() < 0 || strcmp(store_path(), path) != 0 ||
	    atomic_load(&first->used) != 2000 - sizeof *first)
		return 2;
	store_finish(true);
	struct found f = scan_file(path, &size);
	unlink(path);
	return f.n_damaged || f.n_extents != 2001 || f.n_processes;
}

static void one_that_grows_moves_out(void **state)
{
	uint64_t size;
	(void)state;
	end_child(start_child(5, big));
	end_child(start_child(6, small));
	store_finish(true);
	struct found f = scan_file(own_path, &size);
	assert_int_equal(f.n_damaged, 0);
	assert_int_equal(f.n_processes, 1); /* the one that stayed */
	assert_int_equal(f.pid_sum, 6);
}

static int parent_of_small(unsigned pid)
{
	int status;
	store_before_fork(); /* it has no file to make slabs in: its parent's are there */
	pid_t child = fork();
	if (child == 0) {
		const char *cause;
		struct store_options o = options_of(pid + 1);
		_exit(store_open_forked(&o, &cause) ? small(pid + 1) : 99);
	}
	return waitpid(child, &status, 0) != child || status || small(pid);
}

static void grandchildren_too(void **state)
{
	uint64_t size;
	(void)state;
	end_child(start_child(10, parent_of_small));
	struct found f = scan_file(own_path, &size);
	assert_int_equal(f.n_processes, 2);
	assert_int_equal(f.pid_sum, 21);
}

static int wants_file(unsigned pid)
{
	(void)pid;
	return !store_own() || store_fd() < 0 || unlink(store_path()) != 0;
}

static int cannot_have_file(unsigned pid)
{
	(void)pid;
	if (chmod(directory, 0500) != 0 || setuid(65534) != 0)
		return 1;
	bool own = store_own();
	return own || !take(1024) || take(64 << 10); /* what it has goes on */
}

static void file_when_asked_for(void **state)
{
	uint64_t size;
	(void)state;
	end_child(start_child(5, wants_file));
	if (geteuid() == 0) {
		end_child(start_child(6, cannot_have_file));
		assert_int_equal(chmod(directory, 0700), 0);
		assert_int_equal(scan_file(own_path, &size).pid_sum, 6);
	}
}

static int end_of_parent[2];

/* Goes on until the parent has ended its file, and a little longer. */
static int late(unsigned pid)
{
	char c;
	close(end_of_parent[1]);
	return read(end_of_parent[0], &c, 1) != 0 || small(pid);
}

static void parent_ends_before(void **state)
{
	uint64_t size;
	(void)state;
	assert_int_equal(pipe2(end_of_parent, O_CLOEXEC), 0);
	pid_t child = start_child(9, late);
	store_finish(true);
	close(end_of_parent[0]);
	close(end_of_parent[1]);
	end_child(child);
	struct found f = scan_file(own_path, &size);
	assert_int_equal(f.n_damaged, 0);
	assert_int_equal(f.n_inside, 1);
	store_before_fork(); /* it has ended: no slabs any more */
	end_child(start_child(10, wants_file));
	store_reopen(); /* an exec that failed */
	end_child(start_child(11, small));
	assert_int_equal(scan_file(own_path, &size).pid_sum, 9 + 11);
}

/* An exec that failed does not make the store forget the slabs that it closed. */
static void end_again(void **state)
{
	uint64_t size;
	(void)state;
	assert_int_equal(pipe2(end_of_parent, O_CLOEXEC), 0);
	pid_t child = start_child(9, late);
	for (unsigned i = 0; i < 3; i++) {
		store_finish(true);
		store_reopen();
	}
	store_finish(true);
	close(end_of_parent[0]);
	close(end_of_parent[1]);
	end_child(child);
	struct found f = scan_file(own_path, &size);
	assert_int_equal(f.n_damaged, 0);
	assert_int_equal(f.n_inside, 1);
	assert_int_equal(f.pid_sum, 9);
}

/* What a child is that records nothing but itself: its thread, and how it ended. */
static int brief(unsigned pid)
{
	enum msr_loss cause;
	const struct store_request r = {.kind = MSR_THREAD,
					.record_bytes = sizeof(struct msr_thread),
					.n_bytes = sizeof(struct msr_extent) +
						   sizeof(struct msr_thread)};
	struct msr_extent *e = store_extent(&r, &cause);
	if (!e || store_header()->pid != pid)
		return 1;
	atomic_store(&e->used, sizeof(struct msr_thread));
	store_publish();
	if (pid % 100 == 99)
		raise(SIGKILL);
	store_header()->exit_code = (int)pid;
	store_finish(true);
	return !store_is_brief();
}

static uint32_t count_threads(const struct msr_view *process)
{
	struct msr_view v;
	uint32_t n = 0;
	uint64_t pos = msr_first_extent((const void *)process->content), skipped;
	while (msr_next_extent(process->content, process->n_bytes, &pos, &v, &skipped) !=
	       MSR_SCAN_END)
		n += v.extent->kind == MSR_THREAD && v.n_bytes == sizeof(struct msr_thread);
	return n;
}

/*
 * One after the other, they need no slabs with more room. One in a hundred is killed, and keeps the
 * promise of one.
 */
static void brief_children_are_small(void **state)
{
	enum { N = 1000 };
	struct msr_view v;
	struct stat st;
	int status;
	uint64_t pos = MSR_HEADER_BYTES, skipped;
	unsigned n_threads = 0, n_codes = 0, n_whole = 0;
	(void)state;
	for (unsigned i = 0; i < N; i++)
		waitpid(start_child(1000 + i, brief), &status, 0);
	store_finish(true);
	int fd = open(own_path, O_RDONLY);
	assert_int_equal(fstat(fd, &st), 0);
	assert_in_range(st.st_blocks * 512, 0, N * 1600 + (768 << 10));
	uint8_t *bytes = aligned_alloc(64, ((size_t)st.st_size + 63) & ~(size_t)63);
	assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	while (msr_next_extent(bytes, (uint64_t)st.st_size, &pos, &v, &skipped) != MSR_SCAN_END) {
		n_whole += v.extent->kind == MSR_PROCESS && v.n_bytes == MSR_PROCESS_BYTES;
		if (!msr_is_process(&v))
			continue;
		const struct msr_header *h = (const void *)v.content;
		assert_true(msr_is_brief(h));
		n_threads += count_threads(&v);
		n_codes += h->exit_code == (int)h->pid;
		assert_int_equal(h->exit_code == 0, h->pid % 100 == 99);
	}
	free(bytes);
	assert_int_equal(n_threads, N);
	assert_int_equal(n_codes, N - N / 100);
	assert_int_equal(n_whole, 0);
}

/* The two words that a signal handler counts in: one in the file, one in memory. */
static _Atomic uint64_t *counted_in_file;
static volatile uint64_t counted;

static void on_usr1(int sig)
{
	(void)sig;
	atomic_fetch_add(counted_in_file, 1);
	counted++;
}

static int moves_under_signals(unsigned pid)
{
	(void)pid;
	struct msr_extent *e = take(1024);
	counted_in_file = (_Atomic uint64_t *)(void *)(e + 1);
	*counted_in_file = counted = 0;
	signal(SIGUSR1, on_usr1);
	while (counted < 20)
		;
	if (!store_own() || unlink(store_path()) != 0)
		return 1;
	signal(SIGUSR1, SIG_IGN);
	return *counted_in_file == counted ? 0 : 2;
}

/* What a handler writes while the process moves to its own file is in that file. */
static void no_sample_is_lost_while_moving(void **state)
{
	(void)state;
	signal(SIGUSR1, SIG_IGN);
	for (unsigned i = 0; i < 40; i++) {
		int status;
		pid_t child = start_child(50 + i, moves_under_signals);
		while (waitpid(child, &status, WNOHANG) == 0)
			kill(child, SIGUSR1);
		assert_int_equal(status, 0);
	}
	signal(SIGUSR1, SIG_DFL);
}

static int cannot_have_file_at_first(unsigned pid)
{
	char path[64], ancestor[4352];
	const char *cause;
	struct store_options o = options_of(pid);
	snprintf(ancestor, sizeof ancestor, "%s", store_path());
	snprintf(path, sizeof path, "%s/later", directory);
	o.directory = path;
	store_before_fork();
	pid_t child = fork();
	if (child == 0) {
		if (!store_open_forked(&o, &cause) || store_own())
			_exit(1);
		if (strcmp(store_path(), ancestor) != 0 || mkdir(path, 0700) != 0)
			_exit(2);
		/* There may be a second thread by now, and moving is for one thread alone. */
		bool moved = take(64 << 10) || store_fd() >= 0;
		_exit(rmdir(path) != 0 || moved ? 3 : 0);
	}
	int status;
	return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : 4;
}

static void never_moves_with_two_threads(void **state)
{
	(void)state;
	end_child(start_child(5, cannot_have_file_at_first));
}

static void on_bus(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (!store_mend(info->si_addr))
		_exit(98);
}

/* Another process shortens the file: nobody may die of it, and later children get files. */
static void file_is_shortened(void **state)
{
	struct sigaction bus = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO}, old;
	(void)state;
	assert_int_equal(sigaction(SIGBUS, &bus, &old), 0);
	end_child(start_child(5, small));
	assert_int_equal(truncate(own_path, 0), 0);
	end_child(start_child(6, wants_file)); /* seen by who forks */
	assert_true(store_is_damaged());
	end_child(start_child(7, wants_file));
	assert_int_equal(sigaction(SIGBUS, &old, NULL), 0);
}

static int file_is_gone_in_child(unsigned pid)
{
	(void)pid;
	return store_fd() < 0 || store_is_damaged() || unlink(store_path()) != 0;
}

/* Between the parent's part of the fork and the child's. */
static void file_is_shortened_in_fork(void **state)
{
	(void)state;
	/* Before Linux 5.14 this is a SIGBUS for the run time (sacred_file.sh). */
	if (madvise(NULL, 0, MADV_POPULATE_WRITE) != 0 && errno == EINVAL)
		skip();
	end_child(start_child(5, small));
	store_before_fork();
	pid_t child = fork();
	if (child == 0) {
		const char *cause;
		struct store_options o = options_of(6);
		if (truncate(own_path, 0) != 0)
			_exit(97);
		_exit(store_open_forked(&o, &cause) ? file_is_gone_in_child(6) : 99);
	}
	store_after_fork();
	end_child(child);
}

static struct nursery shared;
static _Atomic bool ended;

static void *give_up_again_and_again(void *unused)
{
	(void)unused;
	while (!ended)
		nursery_give_up(&shared, 0);
	return NULL;
}

/* One thread takes a slab while another finds that it cannot give the slabs up. */
static void take_while_given_up(void **state)
{
	static struct space space;
	const char *cause;
	pthread_t other;
	(void)state;
	assert_true(space_create(&space, directory, -1, "host", 77, &cause));
	shared.slab_bytes = NURSERY_SLAB_BYTES;
	assert_int_equal(nursery_add(&shared, &space, 0, 4096 + 4 * NURSERY_SLAB_BYTES), SPACE_OK);
	shared.n_slabs = UINT32_MAX; /* never empty; the slabs are not touched */
	nursery_fork_begins(&shared);
	ended = false;
	assert_int_equal(pthread_create(&other, NULL, give_up_again_and_again, NULL), 0);
	for (unsigned i = 0; i < 500000; i++)
		nursery_take(&shared);
	ended = true;
	pthread_join(other, NULL);
	nursery_fork_ends(&shared);
	assert_true(nursery_give_up(&shared, 0));
	space_remove(&space);
}

static int dies(unsigned pid)
{
	(void)pid;
	return take(1024) ? raise(SIGKILL) : 1;
}

static void killed(void **state)
{
	uint64_t size;
	int status;
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		pid_t child = start_child(20 + i, dies);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
	}
	struct found f = scan_file(own_path, &size);
	assert_int_equal(f.n_damaged, 0);
	assert_int_equal(f.n_processes, 3);
	assert_int_equal(f.n_inside, 3);
}

/* The header of a slab is damaged: what is in it belongs to nobody, and not to the parent. */
static void damage_mixes_nothing(void **state)
{
	static const char junk[64] = "junk";
	uint64_t size;
	(void)state;
	assert_non_null(take(1000));
	end_child(start_child(5, small));
	end_child(start_child(6, small));
	store_finish(true);
	scan_file(own_path, &size);
	int fd = open(own_path, O_RDWR);
	for (uint64_t at = MSR_HEADER_BYTES; at < size; at += 64) {
		struct msr_extent e;
		assert_int_equal(pread(fd, &e, sizeof e, (off_t)at), sizeof e);
		if (e.magic == MSR_EXTENT_MAGIC && e.kind == MSR_PROCESS &&
		    e.used == MSR_PROCESS_BYTES) {
			assert_int_equal(pwrite(fd, junk, sizeof junk, (off_t)at), sizeof junk);
			break;
		}
	}
	close(fd);
	struct found f = scan_file(own_path, &size);
	assert_int_equal(f.n_damaged, 1);
	assert_int_equal(f.n_extents, 1);
	assert_int_equal(f.n_processes, 1);
	assert_int_equal(f.pid_sum, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(children_share_a_file, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_grows_moves_out, setup, teardown),
		cmocka_unit_test_setup_teardown(grandchildren_too, setup, teardown),
		cmocka_unit_test_setup_teardown(file_when_asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(parent_ends_before, setup, teardown),
		cmocka_unit_test_setup_teardown(end_again, setup, teardown),
		cmocka_unit_test_setup_teardown(brief_children_are_small, setup, teardown),
		cmocka_unit_test_setup_teardown(no_sample_is_lost_while_moving, setup, teardown),
		cmocka_unit_test_setup_teardown(never_moves_with_two_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(file_is_shortened, setup, teardown),
		cmocka_unit_test_setup_teardown(file_is_shortened_in_fork, setup, teardown),
		cmocka_unit_test(take_while_given_up),
		cmocka_unit_test_setup_teardown(killed, setup, teardown),
		cmocka_unit_test_setup_teardown(damage_mixes_nothing, setup, teardown),
	};
	if (!mkdtemp(directory))
		return 99;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
