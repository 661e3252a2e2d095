/* SPDX-License-Identifier: BSD-3-Clause */
/* See unload.h. Test: tests/cli/openmp/gomp_two.sh. */
#include "hpcrun-lite/runtime/code/unload.h"

#include "common/safe/clock.h"
#include "common/safe/find_object.h"
#include "common/safe/load.h"
#include "common/safe/text.h"
#include "hpcrun-lite/regions/region.h"
#include "hpcrun-lite/runtime/code/keep.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>

static const struct link_map *last; /* the last object that was loaded at the start */

static const struct link_map *map_of(uintptr_t code)
{
	struct dl_find_object found;
	return find_object((void *)code, &found) == 0 ? found.dlfo_link_map : NULL;
}

void unload_start(void)
{
	if (process.config.attached)
		return; /* it may unload whatever it has loaded since its start */
	find_object_all_stay();
	last = map_of((uintptr_t)unload_start);
	while (last && last->l_next)
		last = last->l_next;
}

/* Objects are listed in the order in which they were loaded. */
static const struct link_map *unloadable(uintptr_t code)
{
	const struct link_map *const map = map_of(code);
	for (const struct link_map *m = last; m; m = m->l_prev)
		if (m == map)
			return NULL;
	return map;
}

/* Returns true if the thread sleeps or has ended. */
static bool is_asleep(int tid)
{
	char path[48], line[64];
	struct text t = text_in(path, sizeof path);
	text_put(&t, "/proc/self/task/");
	text_put_u64(&t, (uint64_t)tid);
	text_put(&t, "/stat");
	const int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return true;
	const long n = sys_read(fd, line, sizeof line); /* TID (NAME) STATE */
	sys_close(fd);
	long i = n - 3;
	while (i >= 0 && line[i] != ')')
		i--;
	return i < 0 || line[i + 2] == 'S';
}

/* relaxed: a thread that unloads a library has seen its workers begin */
static _Atomic bool has_threads;

void unload_thread_begins(struct thread *t, const struct thread_room *room)
{
	t->code = room->code;
	t->map = t->code ? unloadable(t->code) : NULL;
	atomic_store_explicit(&t->may_lose_code, 0, memory_order_relaxed);
	if (t->map)
		atomic_store_explicit(&has_threads, true, memory_order_relaxed);
}

static bool is_alive(const struct thread *t)
{
	return atomic_load_explicit(&t->state, memory_order_acquire) == THREAD_ALIVE;
}

/*
 * Calls of dlclose: the lower half is the number of those that have not ended, in several threads
 * or nested; the upper half is the number of all, and so the id of the last one. A call that a
 * destructor left by a jump stays counted forever, which only costs samples of the threads that it
 * flagged.
 */
static _Atomic uint64_t unloads;
#define A_CALL (UINT64_C(1) << 32)
#define IS_LOST UINT32_MAX /* instead of an id */

static bool is_gone(const struct thread *t)
{
	struct dl_find_object found;
	const int answer = find_object_surely((void *)t->code, &found);
	return answer != FIND_OBJECT_MOVES && (answer != 0 || found.dlfo_link_map != t->map);
}

/*
 * Flags threads whose code is gone. Forgets their object, because another library, or the same one,
 * may be loaded there later.
 */
static void find_lost_threads(void)
{
	const uint64_t now = atomic_fetch_sub_explicit(&unloads, 1, memory_order_relaxed);
	const bool is_last = (uint32_t)now == 1;
	bool has_lost = false;
	for (struct thread *t = thread_first(); t && runtime_may_lose_code(); t = t->next_made) {
		if (!is_alive(t) || !t->map)
			continue;
		const bool is_lost = is_gone(t);
		if (is_lost)
			t->map = NULL;
		has_lost |= is_lost;
		/* Relaxed: a sample that still sees the old flag is only lost. */
		uint32_t id = atomic_load_explicit(&t->may_lose_code, memory_order_relaxed);
		if (is_lost)
			atomic_store_explicit(&t->may_lose_code, IS_LOST, memory_order_relaxed);
		else if (is_last &&
			 id <= now / A_CALL) /* not that of a call that has begun since */
			atomic_compare_exchange_strong_explicit(&t->may_lose_code, &id, 0,
								memory_order_relaxed,
								memory_order_relaxed);
	}
	if (has_lost && process_is_alive())
		runtime_note("threads wait in a library that was unloaded (dlclose): they are not "
			     "measured from there on");
}

bool runtime_may_lose_code(void)
{
	return atomic_load_explicit(&has_threads, memory_order_relaxed);
}

/*
 * Flags each other thread that began in `map` with the call's id. Returns true if they all sleep,
 * and so are not inside a sample.
 */
static bool hold_all(const struct link_map *map, uint32_t id)
{
	bool sleep = true;
	for (struct thread *t = thread_first(); t; t = t->next_made) {
		if (t == thread_self || !is_alive(t) || t->map != map)
			continue;
		/*
		 * The thread sees the flag before it sleeps again, or when it next enters the
		 * kernel. The fence: if it sleeps now, it sees the flag when it wakes, because the
		 * kernel has a full barrier there.
		 */
		atomic_store_explicit(&t->may_lose_code, id, memory_order_relaxed);
		atomic_thread_fence(memory_order_seq_cst);
		sleep &= is_asleep(t->tid);
	}
	return sleep;
}

/*
 * Stops sampling other threads that began in `map`. Waits for a limited time until they sleep: a
 * worker that has finished its part of a region is about to sleep, and our events delay that.
 * Workers that spin (OMP_WAIT_POLICY=active) fail in an unmeasured program, too.
 */
static void hold_threads(const struct link_map *map)
{
	enum { MOST_NS = 20000000, PAUSE_NS = 50000 };
	const uint64_t start_ns = clock_mono_ns();
	const uint64_t before =
		atomic_fetch_add_explicit(&unloads, A_CALL + 1, memory_order_relaxed);
	const uint32_t id = (uint32_t)(before / A_CALL) + 1;
	while (map && !hold_all(map, id) && clock_mono_ns() - start_ns < MOST_NS)
		sys_pause(PAUSE_NS);
}

void runtime_unload_begins(void *code)
{
	const struct link_map *map = code ? unloadable((uintptr_t)code) : NULL;
	if (process_is_owner())
		keep_unloaded();
	hold_threads(process_is_alive() ? map : NULL);
	unwind_flush_begin();
}

void runtime_unload_ends(void)
{
	find_lost_threads();
	module_closed();
	region_modules_changed();
	unwind_flush_end();
}

/* The kernel has set the thread back to its system call instruction. */
void unload_stay(const struct thread *t, ucontext_t *context)
{
	const uintptr_t pc = machine_pc(context);
	uint8_t code[MACHINE_CALL_BYTES];
	long a[6];
	if (__builtin_expect(!machine_may_call_again(context) ||
				     machine_number_again(context) != SYS_futex,
			     1))
		return;
	if (!(t && atomic_load_explicit(&t->may_lose_code, memory_order_relaxed)) &&
	    (map_of(pc) || load_guarded(code, pc, sizeof code) == sizeof code))
		return;
	for (unsigned i = 0; i < 6; i++)
		a[i] = machine_argument(context, i);
	machine_set_result(context, sys_call6(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]));
	machine_set_pc(context, pc + MACHINE_CALL_BYTES);
}
