/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/source/offcpu_wait.c: the cause of a wait by its system call and descriptor,
 * and who holds a lock, read from glibc's own locks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/safe/newer.h"
#include "hpcrun-lite/source/offcpu_wait.h"
#include "hpcrun-lite/source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct offcpu_wait find(long number, uint64_t a, uint64_t b, uint64_t c, uintptr_t pc)
{
	ucontext_t context;
	struct offcpu_wait wait;
	memset(&context, 0, sizeof context);
	machine_set_argument(&context, 0, (long)a);
	machine_set_argument(&context, 1, (long)b);
	machine_set_argument(&context, 2, (long)c);
	machine_set_pc(&context, pc);
	offcpu_wait_find(&context, number, &wait);
	return wait;
}

static enum msr_wait cause(long number, int fd)
{
	return find(number, (uint64_t)fd, 0, 0, 0).cause;
}

static void test_causes(void **state)
{
	(void)state;
	assert_int_equal(cause(SYS_futex, 0), MSR_WAIT_FUTEX);
	assert_int_equal(cause(SYS_clock_nanosleep, 0), MSR_WAIT_SLEEP);
	assert_int_equal(cause(SYS_epoll_wait, 0), MSR_WAIT_POLL);
	assert_int_equal(cause(SYS_wait4, 0), MSR_WAIT_CHILD);
	assert_int_equal(cause(SYS_rt_sigtimedwait, 0), MSR_WAIT_SIGNAL);
	assert_int_equal(cause(SYS_ioctl, 0), MSR_WAIT_DEVICE);
	static const long queues[] = {SYS_msgrcv, SYS_msgsnd, SYS_mq_timedreceive,
				      SYS_mq_timedsend};
	for (size_t i = 0; i < sizeof queues / sizeof *queues; i++)
		assert_int_equal(cause(queues[i], 0), MSR_WAIT_QUEUE);
	assert_int_equal(cause(SYS_semop, 0), MSR_WAIT_SEMAPHORE);
	assert_int_equal(cause(SYS_semtimedop, 0), MSR_WAIT_SEMAPHORE);
	assert_int_equal(cause(SYS_io_uring_enter, 0), MSR_WAIT_IO_URING);
	assert_int_equal(cause(SYS_getpid, 0), MSR_WAIT_OTHER);
	assert_int_equal(cause(SOURCE_CALL_UNKNOWN, 0), MSR_WAIT_OTHER);
}

static void test_descriptors(void **state)
{
	int pipes[2], sockets[2];
	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	const int file = open("/proc/self/exe", O_RDONLY), null = open("/dev/null", O_RDONLY),
		  event = eventfd(0, 0);
	assert_int_equal(cause(SYS_read, pipes[0]), MSR_WAIT_PIPE);
	assert_int_equal(cause(SYS_read, sockets[0]), MSR_WAIT_SOCKET);
	assert_int_equal(cause(SYS_recvfrom, sockets[0]), MSR_WAIT_SOCKET);
	assert_int_equal(cause(SYS_read, file), MSR_WAIT_FILE);
	assert_int_equal(cause(SYS_write, null), MSR_WAIT_FILE);
	assert_int_equal(cause(SYS_fsync, file), MSR_WAIT_SYNC);
	assert_int_equal(cause(SYS_read, event), MSR_WAIT_OTHER);
	assert_int_equal(cause(SYS_read, 9999), MSR_WAIT_OTHER);
	assert_int_equal(find(SYS_read, (uint64_t)file, 0, 0, 0).object, SOURCE_OBJECT_DESCRIPTOR);
	assert_int_equal(find(SYS_read, (uint64_t)file, 0, 0, 0).object_id, file);
	for (int i = 0; i < 2; i++) {
		close(pipes[i]);
		close(sockets[i]);
	}
	close(file);
	close(null);
	close(event);
}

/* Until its child calls exec: with vfork(), or with a flag of clone() or clone3(). */
static void test_vfork(void **state)
{
	const uint64_t with = CLONE_VM | CLONE_VFORK, without = CLONE_VM;
	(void)state;
	assert_int_equal(cause(SYS_vfork, 0), MSR_WAIT_CHILD);
	assert_int_equal(find(SYS_clone, with, 0, 0, 0).cause, MSR_WAIT_CHILD);
	assert_int_equal(find(SYS_clone, without, 0, 0, 0).cause, MSR_WAIT_OTHER);
	assert_int_equal(find(SYS_clone3, (uintptr_t)&with, 0, 0, 0).cause, MSR_WAIT_CHILD);
	assert_int_equal(find(SYS_clone3, (uintptr_t)&without, 0, 0, 0).cause, MSR_WAIT_OTHER);
	assert_int_equal(find(SYS_clone3, 8, 0, 0, 0).cause, MSR_WAIT_OTHER);
}

/* A thread that wakes others does not wait, and loses the processor to them at most. */
static void test_commands_of_futexes(void **state)
{
	static const int waits[] = {FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_WAIT_REQUEUE_PI,
				    FUTEX_LOCK_PI, FUTEX_LOCK_PI2};
	static const int wakes[] = {FUTEX_WAKE, FUTEX_WAKE_OP, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE,
				    FUTEX_WAKE_BITSET, FUTEX_UNLOCK_PI};
	uint32_t word = 0;
	(void)state;
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		const struct offcpu_wait w = find(SYS_futex, (uintptr_t)&word,
						  (uint64_t)waits[i] | FUTEX_PRIVATE_FLAG, 0, 0);
		assert_int_equal(w.cause, MSR_WAIT_FUTEX);
		assert_int_equal(w.object, SOURCE_OBJECT_LOCK);
	}
	/* in libc: conditions, semaphores and joins; elsewhere the command says nothing */
	const uintptr_t libc = (uintptr_t)pthread_self;
	offcpu_wait_start();
	const uintptr_t at = (uintptr_t)&word;
	assert_int_equal(find(SYS_futex, at, FUTEX_WAIT_BITSET_PRIVATE, 0, libc).cause,
			 MSR_WAIT_THREAD);
	assert_int_equal(find(SYS_futex, at, FUTEX_WAIT, 0, libc).cause, MSR_WAIT_THREAD);
	assert_int_equal(find(SYS_futex, at, FUTEX_WAIT_PRIVATE, 0, libc).cause, MSR_WAIT_FUTEX);
	for (size_t i = 0; i < sizeof wakes / sizeof *wakes; i++) {
		const struct offcpu_wait w = find(SYS_futex, (uintptr_t)&word,
						  (uint64_t)wakes[i] | FUTEX_PRIVATE_FLAG, 0, 0);
		assert_int_equal(w.cause, MSR_WAIT_OTHER);
		assert_int_equal(w.object, SOURCE_OBJECT_NONE);
	}
}

/* A thread that waits for a mutex is in libc, and waits while the word is 2. */
static int owner(long command, void *word, uint32_t value, bool in_libc)
{
	return find(SYS_futex, (uint64_t)(uintptr_t)word, (uint64_t)command, value,
		    in_libc ? (uintptr_t)pthread_self : (uintptr_t)test_causes)
		.owner;
}

static void test_owners_of_mutexes(void **state)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	const int self = (int)syscall(SYS_gettid), wait = FUTEX_WAIT | FUTEX_PRIVATE_FLAG;
	(void)state;
	assert_int_equal(owner(wait, &mutex, 2, true), 0);
	pthread_mutex_lock(&mutex);
	assert_int_equal(owner(wait, &mutex, 2, true), self);
	assert_int_equal(owner(FUTEX_WAIT, &mutex, 2, true), self);
	assert_int_equal(owner(wait, &mutex, 2, false), 0);
	assert_int_equal(owner(wait, &mutex, 7, true), 0);
	assert_int_equal(owner(wait, NULL, 2, true), 0);
	pthread_mutex_unlock(&mutex);
	assert_int_equal(owner(wait, &mutex, 2, true), 0);
	/* a lock of stdio: the word, a count and an address */
	struct {
		int lock, count;
		void *owner;
		uint64_t next;
	} io = {2, 1, &io, UINT64_MAX};
	assert_int_equal(owner(wait, &io, 2, true), 0);
	uint32_t word = FUTEX_WAITERS | (uint32_t)self;
	assert_int_equal(owner(FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, &word, 0, true), self);
}

/* Readers and writers wait on the words at 8 and 12. */
static void test_owners_of_rwlocks(void **state)
{
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	const int self = (int)syscall(SYS_gettid),
		  wait = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
	char *at = (char *)&lock;
	(void)state;
	pthread_rwlock_wrlock(&lock);
	assert_int_equal(owner(wait, at + 8, 1, true), self);
	assert_int_equal(owner(wait, at + 12, 1, true), self);
	pthread_rwlock_unlock(&lock);
	assert_int_equal(owner(wait, at + 8, 1, true), 0);
	pthread_rwlock_rdlock(&lock);
	assert_int_equal(owner(wait, at + 8, 1, true), 0);
	pthread_rwlock_unlock(&lock);
}

static bool is_cut_short(long number, long asked, long result, int flags)
{
	ucontext_t context;
	memset(&context, 0, sizeof context);
	machine_set_argument(&context, 2, asked);
	machine_set_result(&context, result);
	machine_set_argument(&context, 3, flags);
	return offcpu_wait_is_cut_short(&context, number);
}

static void test_transfers_that_are_cut_short(void **state)
{
	(void)state;
	assert_true(is_cut_short(SYS_write, 100, 40, 0));
	assert_false(is_cut_short(SYS_write, 100, 100, 0));
	assert_false(is_cut_short(SYS_write, 100, -EAGAIN, 0));
	assert_true(is_cut_short(SYS_sendto, 100, 40, 0));
	assert_false(is_cut_short(SYS_read, 100, 40, 0));
	assert_false(is_cut_short(SYS_recvfrom, 100, 40, 0));
	assert_true(is_cut_short(SYS_recvfrom, 100, 40, MSG_WAITALL));
	assert_false(is_cut_short(SYS_recvfrom, 100, 100, MSG_WAITALL));
	assert_true(is_cut_short(SYS_io_uring_enter, 1, 1, 0));
	assert_false(is_cut_short(SYS_io_uring_enter, 0, 1, 0));
	assert_false(is_cut_short(SYS_io_uring_enter, 1, -EAGAIN, 0));
	assert_false(is_cut_short(SYS_getpid, 100, 40, 0));
}

static int start(void **state)
{
	(void)state;
	offcpu_wait_start();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_vfork),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_commands_of_futexes),
		cmocka_unit_test(test_owners_of_mutexes),
		cmocka_unit_test(test_owners_of_rwlocks),
		cmocka_unit_test(test_transfers_that_are_cut_short),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, NULL);
}
