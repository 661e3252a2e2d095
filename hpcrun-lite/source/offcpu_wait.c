/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See offcpu_wait.h. The layout of locks is that of glibc, which is part of its ABI. Must
 * not wait, lock or allocate.
 */
#include "hpcrun-lite/source/offcpu_wait.h"

#include "common/safe/find_object.h"
#include "common/safe/library_symbol.h"
#include "common/safe/load.h"
#include "common/safe/newer.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/source/source.h"

#include <linux/futex.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Addresses of libc, and of libpthread (glibc before 2.34); 0, 0: unknown. */
static struct {
	uintptr_t start, end;
} libc_code[2];

void offcpu_wait_start(void)
{
	const void *const in[] = {(void *)(uintptr_t)pthread_self, library_of_libc("sem_post")};
	struct dl_find_object found;
	for (unsigned i = 0; i < 2; i++)
		if (in[i] && find_object((void *)(uintptr_t)in[i], &found) == 0) {
			libc_code[i].start = (uintptr_t)found.dlfo_map_start;
			libc_code[i].end = (uintptr_t)found.dlfo_map_end;
		}
}

static bool is_in_libc(uintptr_t pc)
{
	return (pc >= libc_code[0].start && pc < libc_code[0].end) ||
	       (pc >= libc_code[1].start && pc < libc_code[1].end);
}

/* ---- locks ---- */

struct mutex_words {
	uint32_t lock, count;
	int32_t owner;
	uint32_t n_users;
	int32_t kind;
};
_Static_assert(sizeof(struct mutex_words) <= sizeof(pthread_mutex_t), "glibc's mutex");

#define KIND_TYPE 3      /* PTHREAD_MUTEX_NORMAL and so on */
#define KIND_ELISION 768 /* bits that do not change the meaning of the other words */

/*
 * The futex word may belong to another lock of libc (stdio, malloc), whose other words are no
 * mutex. Then the kind, the number of users or the owner is usually impossible.
 */
static int owner_of_mutex(uintptr_t address)
{
	struct mutex_words m;
	if (load_guarded(&m, address, sizeof m) != sizeof m || m.lock == 0 || m.n_users == 0
	    || (m.kind & ~(KIND_TYPE | KIND_ELISION)))
		return 0;
	return m.owner;
}

struct rwlock_words {
	uint32_t readers, writers, phase, writers_futex, pad3, pad4;
	int32_t writer;
	uint32_t shared;
	uint64_t elision, pad2;
	uint32_t flags;
};
_Static_assert(sizeof(struct rwlock_words) == sizeof(pthread_rwlock_t), "glibc's rwlock");

/* Readers and writers wait on one of two words. We cannot tell which readers hold the lock. */
static int owner_of_rwlock(uintptr_t address)
{
	struct rwlock_words l;
	if (load_guarded(&l, address, sizeof l) != sizeof l || l.pad3 || l.pad4 || l.pad2
	    || l.elision || l.shared > 1 || l.flags > 3)
		return 0;
	return l.writer;
}

/* Returns the tid of the lock's holder if libc's code is what waits, else 0. */
static int owner_of(const ucontext_t *context)
{
	const uintptr_t word = (uintptr_t)machine_argument(context, 0);
	uint32_t value;
	if (!is_in_libc(machine_pc(context)))
		return 0;
	switch (machine_argument(context, 1) & FUTEX_CMD_MASK) {
	case FUTEX_WAIT: /* 2: locked, and others wait */
		return (uint32_t)machine_argument(context, 2) == 2 ? owner_of_mutex(word) : 0;
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return load_guarded(&value, word, sizeof value) == sizeof value
			       ? (int)(value & FUTEX_TID_MASK)
			       : 0;
	case FUTEX_WAIT_BITSET: {
		int owner = owner_of_rwlock(word - offsetof(struct rwlock_words, phase));
		return owner ? owner
			     : owner_of_rwlock(word - offsetof(struct rwlock_words, writers_futex));
	}
	default: return 0;
	}
}

/*
 * True if libc waits for another thread to do something. Locks use the private FUTEX_WAIT.
 * Condition variables, semaphores and, since glibc 2.34, pthread_join use FUTEX_WAIT_BITSET, as
 * timed and read-write locks do. The kernel wakes the older pthread_join, so its futex is shared.
 */
static bool waits_for_thread(const ucontext_t *context, int owner)
{
	const long command = machine_argument(context, 1);
	if (!is_in_libc(machine_pc(context)) || owner)
		return false;
	return (command & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET ||
	       ((command & FUTEX_CMD_MASK) == FUTEX_WAIT && !(command & FUTEX_PRIVATE_FLAG));
}

/* ---- causes ---- */

/* The first argument of these calls is a descriptor, and its kind gives the cause. */
static bool has_descriptor(long number)
{
	switch (number) {
	case SYS_read:
	case SYS_write:
	case SYS_pread64:
	case SYS_pwrite64:
	case SYS_readv:
	case SYS_writev:
	case SYS_preadv:
	case SYS_pwritev:
	case SYS_preadv2:
	case SYS_pwritev2:
	case SYS_sendfile:
	case SYS_splice:
	case SYS_tee:
	case SYS_vmsplice:
	case SYS_copy_file_range:
	case SYS_getdents64:
	case SYS_ftruncate:
	case SYS_fallocate:
	case SYS_flock:
	case SYS_fcntl:
	case SYS_readahead:
	case SYS_fstat: return true;
	default: return false;
	}
}

static bool is_socket_call(long number)
{
	switch (number) {
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect: return true;
	default: return false;
	}
}

static bool is_sync(long number)
{
	switch (number) {
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_sync_file_range: return true; /* of one descriptor */
	default: return false;
	}
}

static enum msr_wait cause_of(long number)
{
	switch (number) {
	case SYS_futex: return MSR_WAIT_FUTEX;
	case SYS_nanosleep:
	case SYS_clock_nanosleep: return MSR_WAIT_SLEEP;
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2: return MSR_WAIT_POLL;
	case SYS_wait4:
	case SYS_waitid:
	case SYS_vfork: return MSR_WAIT_CHILD;
	case SYS_pause:
	case SYS_rt_sigsuspend:
	case SYS_rt_sigtimedwait: return MSR_WAIT_SIGNAL;
	case SYS_sync:
	case SYS_syncfs:
	case SYS_msync: return MSR_WAIT_SYNC;
	case SYS_open:
	case SYS_openat:
	case SYS_close:
	case SYS_stat:
	case SYS_lstat:
	case SYS_newfstatat:
	case SYS_statx:
	case SYS_access:
	case SYS_unlink:
	case SYS_unlinkat:
	case SYS_rename:
	case SYS_renameat:
	case SYS_renameat2:
	case SYS_mkdir:
	case SYS_mkdirat:
	case SYS_rmdir:
	case SYS_truncate:
	case SYS_readlink:
	case SYS_readlinkat:
	case SYS_io_getevents: return MSR_WAIT_FILE;
	case SYS_io_uring_enter: return MSR_WAIT_IO_URING;
	case SYS_ioctl: return MSR_WAIT_DEVICE;
	case SYS_msgrcv:
	case SYS_msgsnd:
	case SYS_mq_timedreceive:
	case SYS_mq_timedsend: return MSR_WAIT_QUEUE;
	case SYS_semop:
	case SYS_semtimedop: return MSR_WAIT_SEMAPHORE;
	default: return MSR_WAIT_OTHER;
	}
}

/* Terminals and consoles, by the kernel's list of devices. */
static bool is_terminal(dev_t device)
{
	const unsigned n = major(device);
	return n == 4 || n == 5 || (n >= 136 && n <= 143);
}

static enum msr_wait cause_of_descriptor(int fd)
{
	struct stat s;
	if (sys_call3(SYS_fstat, fd, (long)&s, 0) != 0)
		return MSR_WAIT_OTHER;
	switch (s.st_mode & S_IFMT) {
	case S_IFSOCK: return MSR_WAIT_SOCKET;
	case S_IFIFO: return MSR_WAIT_PIPE;
	case S_IFCHR: return is_terminal(s.st_rdev) ? MSR_WAIT_PIPE : MSR_WAIT_FILE;
	case 0: return MSR_WAIT_OTHER; /* eventfd and similar files */
	default: return MSR_WAIT_FILE;
	}
}

/* posix_spawn() waits for the child's exec, too, with clone() or clone3(). */
static bool is_vfork(long number, const ucontext_t *context)
{
	uint64_t flags = (uint64_t)machine_argument(context, 0);
	if (number == SYS_clone3)
		return load_guarded(&flags, (uintptr_t)flags, sizeof flags) == sizeof flags &&
		       (flags & CLONE_VFORK);
	return number == SYS_clone && (flags & CLONE_VFORK);
}

/* Only these commands wait. The others wake threads, which may take the processor. */
static bool waits_for_futex(long command)
{
	switch (command & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2: return true;
	default: return false;
	}
}

void offcpu_wait_find(const ucontext_t *context, long number, struct offcpu_wait *wait)
{
	const long first = machine_argument(context, 0);
	*wait = (struct offcpu_wait){.cause = cause_of(number)};
	if (number == SYS_futex && !waits_for_futex(machine_argument(context, 1))) {
		wait->cause = MSR_WAIT_OTHER;
	} else if (number == SYS_futex) {
		wait->object = SOURCE_OBJECT_LOCK;
		wait->object_id = (uint64_t)first;
		wait->owner = owner_of(context);
		if (waits_for_thread(context, wait->owner))
			wait->cause = MSR_WAIT_THREAD;
	} else if (is_vfork(number, context)) {
		wait->cause = MSR_WAIT_CHILD;
	} else if (has_descriptor(number) || is_socket_call(number) || is_sync(number) ||
		   number == SYS_ioctl) {
		wait->object = SOURCE_OBJECT_DESCRIPTOR;
		wait->object_id = (uint64_t)(uint32_t)first;
		if (is_sync(number))
			wait->cause = MSR_WAIT_SYNC;
		else if (number != SYS_ioctl)
			wait->cause = cause_of_descriptor((int)first);
	}
	wait->is_timed_socket = wait->cause == MSR_WAIT_SOCKET && machine_result(context) == -EINTR;
}

bool offcpu_wait_is_cut_short(const ucontext_t *context, long number)
{
	const long result = machine_result(context), asked = machine_argument(context, 2);
	const bool waits_for_all = machine_argument(context, 3) & MSG_WAITALL;
	switch (number) {
	case SYS_recvfrom: return waits_for_all && result > 0 && result < asked;
	case SYS_write:
	case SYS_sendto: return result > 0 && result < asked;
	case SYS_recvmsg: return result > 0 && (asked & MSG_WAITALL);
	case SYS_writev: /* we do not read the vectors */
	case SYS_sendmsg:
	case SYS_sendfile:
	case SYS_splice: return result > 0;
	case SYS_io_uring_enter: /* it submitted and then waited for completions */
		return result > 0 && asked > 0;
	default: return false;
	}
}
