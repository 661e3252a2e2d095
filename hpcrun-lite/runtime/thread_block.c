/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of threads, the list of all blocks, and signals to a thread. See thread.h. Never calls
 * malloc: a program may replace it, or be inside it. Test: tests/cli/run/run_threads.sh.
 */
#include "common/safe/forked.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/source/perf_event.h"

#include <string.h>
#include <sys/mman.h>

__thread struct thread *thread_self;

static struct {
	/*
	 * A block is a mapping of block_bytes. Its struct thread is at front_bytes; the other
	 * offsets count from there.
	 */
	size_t block_bytes, front_bytes, cct_at, deep_at, python_at;
	_Atomic(struct thread *) made;
	_Atomic(struct thread *) next_look; /* where the next search for a free block starts */
	_Atomic uint32_t n_alive, n_free;
} blocks WRITTEN_BY_FORKED;

/*
 * True if a thread was sent a signal. The address of this variable is the signals' value, which no
 * timer has.
 */
static _Atomic bool has_sent;

bool thread_place_parts(size_t at, const char **cause)
{
	const uint32_t depth = process.config.max_depth;
	/*
	 * Most threads use two pages: the last one before struct thread, which ends the walks'
	 * state, and the one from struct thread on, with the sources and the start of the tree.
	 */
	const size_t before = blocks.block_bytes, sources_before = blocks.cct_at;
	blocks.front_bytes = machine_page_ceiling(unwind_shallow_bytes());
	blocks.cct_at = at;
	blocks.deep_at = machine_page_ceiling(blocks.cct_at + cct_bytes(depth));
	blocks.python_at = machine_page_ceiling(blocks.deep_at + unwind_deep_bytes(depth));
	const size_t end = machine_page_ceiling(blocks.python_at + python_thread_bytes(depth));
	blocks.block_bytes = blocks.front_bytes + end + THREAD_OWN_STACK;
	/*
	 * An earlier measurement of this process: its blocks are taken again. If they do not fit
	 * they stay where they are, because the handler of a thread that has left may still return
	 * there.
	 */
	if (before && (blocks.block_bytes != before || blocks.cct_at != sources_before)) {
		atomic_store_explicit(&blocks.made, NULL, memory_order_relaxed);
		atomic_store_explicit(&blocks.next_look, NULL, memory_order_relaxed);
		atomic_store_explicit(&blocks.n_free, 0, memory_order_relaxed);
	}
	if (!room_take(blocks.block_bytes)) {
		*cause = "the limit on address space (ulimit -v) leaves too little room";
		return false;
	}
	room_give(blocks.block_bytes);
	return true;
}

static bool take(struct thread *t)
{
	uint32_t expected = THREAD_FREE;
	if (atomic_load_explicit(&t->state, memory_order_relaxed) != THREAD_FREE ||
	    !atomic_compare_exchange_strong_explicit(&t->state, &expected, THREAD_ALIVE,
						     memory_order_acquire, memory_order_relaxed))
		return false;
	atomic_fetch_add_explicit(&blocks.n_alive, 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&blocks.n_free, 1, memory_order_relaxed);
	return true;
}

/*
 * Searches once around the list, from where the last search ended. If each search began at the
 * first block, thousands of threads that start or end in a row would take quadratic time.
 */
static struct thread *find_free(void)
{
	struct thread *first = atomic_load_explicit(&blocks.made, memory_order_acquire),
		      *start = atomic_load_explicit(&blocks.next_look, memory_order_acquire),
		      *t = start ? start : first;
	if (!atomic_load_explicit(&blocks.n_free, memory_order_relaxed) || !first)
		return NULL;
	do {
		if (take(t)) {
			atomic_store_explicit(&blocks.next_look, t->next_made,
					      memory_order_release);
			return t;
		}
		t = t->next_made ? t->next_made : first;
	} while (t != start && (start || t != first));
	return NULL;
}

struct thread *thread_take_block(void)
{
	struct thread *free = find_free();
	if (free)
		return free;
	if (!room_take(blocks.block_bytes))
		return NULL;
	long at = sys_mmap(NULL, blocks.block_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(at)) {
		room_give(blocks.block_bytes);
		return NULL;
	}
	struct thread *t = (struct thread *)(at + (long)blocks.front_bytes);
	t->own_stack = (uintptr_t)at + blocks.block_bytes;
	atomic_store_explicit(&t->state, THREAD_ALIVE, memory_order_relaxed);
	t->next_made = atomic_load_explicit(&blocks.made, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&blocks.made, &t->next_made, t,
						      memory_order_release, memory_order_relaxed))
		;
	atomic_fetch_add_explicit(&blocks.n_alive, 1, memory_order_relaxed);
	return t;
}

/* Clears the memory of the tree and the walks and gives it back to the system. */
static void wipe_block(struct thread *t)
{
	if (!t->unwind)
		return;
	t->cct = NULL;
	t->unwind = NULL;
	t->python = NULL;
	const size_t page = machine_page_bytes();
	memset((uint8_t *)t + sizeof *t, 0, page - sizeof *t);
	uint8_t *front = (uint8_t *)t - blocks.front_bytes, *rest = (uint8_t *)t + page;
	const size_t rest_bytes = blocks.block_bytes - blocks.front_bytes - page;
	if (sys_madvise(front, blocks.front_bytes, MADV_DONTNEED) != 0 ||
	    sys_madvise(rest, rest_bytes, MADV_DONTNEED) != 0) {
		memset(front, 0, blocks.front_bytes); /* memory locked by mlockall */
		memset(rest, 0, rest_bytes);
	}
}

void thread_give_block(struct thread *t)
{
	wipe_block(t);
	atomic_fetch_sub_explicit(&blocks.n_alive, 1, memory_order_relaxed);
	/* release: what we wrote comes before what the next owner writes */
	atomic_store_explicit(&t->state, THREAD_FREE, memory_order_release);
	atomic_fetch_add_explicit(&blocks.n_free, 1, memory_order_relaxed);
}

void thread_make_tree(struct thread *t)
{
	const struct cct_options options = {
		.thread = t->record->number,
		.max_depth = process.config.max_depth,
		.max_nodes = process.config.max_nodes,
	};
	if (!t->unwind)
		t->unwind = unwind_thread_place((uint8_t *)t - unwind_shallow_bytes(),
						(uint8_t *)t + blocks.deep_at,
						process.config.max_depth, &t->stack);
	t->cct = cct_init((uint8_t *)t + blocks.cct_at, &options);
}

void thread_make_python(struct thread *t)
{
	t->python = python_thread_init((uint8_t *)t + blocks.python_at, process.config.max_depth,
				       t->is_main);
}

struct thread *thread_first(void)
{
	return atomic_load_explicit(&blocks.made, memory_order_acquire);
}

static bool is_in(const struct thread *t, const void *address)
{
	return t && (uintptr_t)address - (uintptr_t)t < blocks.block_bytes - blocks.front_bytes;
}

static bool is_in_block(const void *address)
{
	if (__builtin_expect(is_in(thread_self, address), 1))
		return true;
	struct thread *t = thread_first();
	while (t && !is_in(t, address))
		t = t->next_made;
	return t != NULL;
}

/* ---- signals ---- */

/*
 * If the user's limit on queued signals (RLIMIT_SIGPENDING) is reached, the kernel sends the signal
 * without its value.
 */
bool thread_sent(const siginfo_t *info)
{
	return (info->si_code == SI_TIMER && info->si_value.sival_ptr == &has_sent) ||
	       (info->si_code == SI_USER && info->si_pid == 0 &&
		atomic_load_explicit(&has_sent, memory_order_relaxed));
}

/*
 * The values of our timers are addresses in blocks; the values of the program's timers are not. Our
 * descriptors have high numbers.
 */
bool thread_is_expiry(const siginfo_t *info)
{
	if (info->si_code == SI_TIMER)
		return source_is_look(info) || info->si_value.sival_ptr == &source_blamed ||
		       is_in_block(info->si_value.sival_ptr);
	return info->si_code >= POLL_IN && info->si_code <= POLL_HUP &&
	       perf_event_is_descriptor(info->si_fd);
}

/* Sends a signal that looks like a timer's. */
static void send(int tid, const void *value)
{
	siginfo_t info;
	memset(&info, 0, sizeof info);
	info.si_code = SI_TIMER;
	info.si_value.sival_ptr = (void *)value;
	/* the system call orders it */
	atomic_store_explicit(&has_sent, true, memory_order_relaxed);
	sys_call4(SYS_rt_tgsigqueueinfo, sys_getpid(), tid, RUNTIME_SIGNAL, (long)&info);
}

/*
 * Uses a value that no timer has. If a signal is already pending, that one is enough: every signal
 * makes the thread check its state.
 */
void thread_send(struct thread *t)
{
	send(t->tid, &has_sent);
}

void runtime_nudge_others(void)
{
	if (!process_is_alive())
		return;
	for (struct thread *t = thread_first(); t; t = t->next_made)
		if (t != thread_self && t->tid &&
		    atomic_load_explicit(&t->state, memory_order_acquire) == THREAD_ALIVE)
			thread_send(t);
}

void thread_ask(struct thread *t)
{
	send(t->tid, &source_look);
}

void thread_ask_stranger(int tid)
{
	send(tid, &source_look);
}

uint32_t thread_count_alive(void)
{
	return atomic_load_explicit(&blocks.n_alive, memory_order_relaxed);
}

void thread_blame(struct thread *t)
{
	send(t->tid, &source_blamed);
}
