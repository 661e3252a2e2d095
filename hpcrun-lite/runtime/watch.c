/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds threads that the kernel's tick misses; see watch.h. Must not wait or allocate. */
#include "hpcrun-lite/runtime/watch.h"

#include "common/safe/clock.h"
#include "common/safe/forked.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "common/safe/trylock.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/source/ktimer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define WATCH_NS 50000000u
#define WATCH_BEHIND_NS 16000000u /* four ticks of 4 ms; less is normal */
#define WATCH_MOST 64u            /* threads checked in one call */
#define WATCH_MOST_KNOWN 1024u    /* with more, we do not search for unknown threads */
#define WATCH_LIST_BYTES 32768u   /* of the list of threads: room for about 1000 */

static struct {
	struct ktimer timer;
	uint64_t delay_ns;
	_Atomic uint64_t looked_ns;       /* CLOCK_MONOTONIC: last check */
	/* where the next check begins; NULL: at the first thread */
	_Atomic(struct thread *) next;
	trylock looking;                  /* guards all below */
	/* a stranger was asked; a found thread may have ended since */
	bool has_asked;
	uint32_t n_more;                  /* strangers at the last look */
	uint32_t n_skipped, n_to_skip;    /* checks without reading the list of threads */
} watch WRITTEN_BY_FORKED;

void watch_reset_record(struct thread *t)
{
	atomic_store_explicit(&t->watch.cpu_given_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&t->watch.cpu_asked_ns, 0, memory_order_relaxed);
}

void watch_start(void)
{
	watch.delay_ns = WATCH_NS;
	if (process.has_cputime)
		ktimer_start(&watch.timer, CLOCK_MONOTONIC, RUNTIME_SIGNAL, (void *)&source_look,
			     WATCH_NS, 0);
}

void watch_stop(void)
{
	ktimer_stop(&watch.timer);
}

void watch_forked(void)
{
	watch.timer.armed = false;
	trylock_give(&watch.looking);
	atomic_store_explicit(&watch.next, NULL, memory_order_relaxed);
}

/* If another thread gets the block meanwhile, it is asked without reason. That does no harm. */
static bool is_behind(struct thread *t)
{
	struct msr_thread *r = t->record;
	if (atomic_load_explicit(&t->state, memory_order_acquire) != THREAD_ALIVE || !r
	    || atomic_load_explicit(&t->off.is_off, memory_order_relaxed))
		return false;
	uint64_t cpu = clock_other_cpu_ns(t->tid);
	uint64_t known = r->cpu_start_ns +
			 atomic_load_explicit(&r->cpu_off_ns, memory_order_relaxed) +
			 atomic_load_explicit(&t->watch.cpu_given_ns, memory_order_relaxed) +
			 atomic_load_explicit(&r->cpu_unseen_ns, memory_order_relaxed);
	uint64_t asked = atomic_load_explicit(&t->watch.cpu_asked_ns, memory_order_relaxed);
	if (cpu < known + WATCH_BEHIND_NS || cpu < asked + WATCH_BEHIND_NS)
		return false;
	atomic_store_explicit(&t->watch.cpu_asked_ns, cpu, memory_order_relaxed);
	return true;
}

/* ---- threads that were not seen to start ---- */

/* True for a thread that was found and has ended. */
static bool is_gone(const struct thread *t)
{
	const struct msr_thread *r = t->record;
	return atomic_load_explicit(&t->state, memory_order_acquire) == THREAD_ALIVE && r &&
	       r->flags & MSR_THREAD_FOUND && !clock_other_cpu_ns(t->tid);
}

static bool is_known(int tid)
{
	for (const struct thread *t = thread_first(); t; t = t->next_made)
		if (t->tid == tid &&
		    atomic_load_explicit(&t->state, memory_order_acquire) == THREAD_ALIVE)
			return true;
	return false;
}

/*
 * True for threads that glibc made, which have their own thread-local storage. The list of robust
 * mutexes is part of the thread's descriptor. A bare clone has no such list. It may share the
 * storage of the thread that made it, so our handler must not run in it.
 */
static bool has_own_storage(int tid)
{
	uintptr_t head = 0;
	size_t n = 0;
	return sys_call3(SYS_get_robust_list, tid, (long)&head, (long)&n) == 0 && head;
}

/* Asks the strangers that use CPU time. Returns their number. */
static unsigned ask_strangers(void)
{
	static _Alignas(8) char buffer[WATCH_LIST_BYTES];
	unsigned n = 0;
	const int fd = sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	const long got = sys_call3(SYS_getdents64, fd, (long)buffer, sizeof buffer);
	sys_close(fd);
	for (long at = 0; at < got;) {
		uint16_t length;
		int tid = 0;
		memcpy(&length, buffer + at + 16, sizeof length);
		for (const char *name = buffer + at + 19; *name >= '0' && *name <= '9'; name++)
			tid = 10 * tid + *name - '0';
		at += length;
		if (tid && !is_known(tid) && clock_other_cpu_ns(tid) >= WATCH_BEHIND_NS &&
		    has_own_storage(tid)) {
			thread_ask_stranger(tid);
			n++;
		}
	}
	return n;
}

/* The number of threads of the process, from the link count of a directory; 0: unknown. */
static uint32_t count_threads(void)
{
	struct stat s;
	return sys_call4(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/task", (long)&s, 0) == 0 &&
			       s.st_nlink > 2
		       ? (uint32_t)s.st_nlink - 2
		       : 0;
}

/*
 * If the process has more threads than we know, twice in a row, lists them. That takes a descriptor
 * for a moment, so it happens more and more rarely while it finds nothing. Does nothing if GPUs are
 * measured, because their tools have threads of their own, nor in a process that was attached to,
 * whose threads the launcher asks.
 */
static unsigned look_for_strangers(void)
{
	if (process.config.n_gpus || process.config.attached || !trylock_take(&watch.looking))
		return 0;
	for (struct thread *t = watch.has_asked ? thread_first() : NULL; t; t = t->next_made)
		if (is_gone(t))
			thread_reap(t);
	const uint32_t all = count_threads(), known = thread_count_alive(), before = watch.n_more;
	unsigned n = 0;
	watch.n_more = all > known && known < WATCH_MOST_KNOWN ? all - known : 0;
	if (watch.n_more && !before) {
		n = 1; /* so that the watch looks again soon */
	} else if (watch.n_more && watch.n_skipped++ >= watch.n_to_skip) {
		n = ask_strangers();
		watch.has_asked |= n > 0;
		watch.n_skipped = 0;
		watch.n_to_skip = n ? 0 : 2 * watch.n_to_skip + 1;
	}
	trylock_give(&watch.looking);
	return n;
}

/* Returns the number of threads that were asked. */
static unsigned look_at_others(const struct thread *self)
{
	unsigned n = 0;
	struct thread *t = atomic_load_explicit(&watch.next, memory_order_relaxed);
	if (!t)
		t = thread_first();
	for (unsigned i = 0; t && i < WATCH_MOST; i++, t = t->next_made)
		if (t != self && is_behind(t)) {
			thread_ask(t);
			n++;
		}
	atomic_store_explicit(&watch.next, t, memory_order_relaxed);
	return n + look_for_strangers();
}

/* One of several threads wins. Relaxed, because it does not matter which. */
void watch_after_sample(const struct thread *t, uint64_t now_ns)
{
	uint64_t looked = atomic_load_explicit(&watch.looked_ns, memory_order_relaxed);
	if (now_ns >= looked + WATCH_NS && process.has_cputime &&
	    atomic_compare_exchange_strong_explicit(&watch.looked_ns, &looked, now_ns,
						    memory_order_relaxed, memory_order_relaxed))
		look_at_others(t);
}

void watch_expired(const struct thread *t, bool found)
{
	found = look_at_others(t) || found;
	watch.delay_ns = found ? WATCH_NS : 4 * watch.delay_ns;
	if (watch.timer.armed)
		ktimer_set(&watch.timer, watch.delay_ns, 0);
}
