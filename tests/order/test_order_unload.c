/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory orders of the flags of threads that may lose their code
 * (hpcrun-lite/runtime/code/unload.c): no sample is in a library while it is unloaded, if its
 * threads sleep. The kernel's switch of threads is a full barrier; what it shows in /proc is an
 * ordinary load. See order.h.
 */
#include "common/safe/clock.h"
#include "common/safe/sys.h"

static long read_state(char *line);
#undef sys_open
#undef sys_read
#undef sys_close
#define sys_open(path, flags, mode) 3
#define sys_read(fd, line, n) read_state(line)
#define sys_close(fd) ((void)0)
#define clock_mono_ns() UINT64_C(1)
#include "hpcrun-lite/runtime/code/unload.c"

static struct link_map library;
static struct thread worker;
static _Atomic bool is_running;
static uint64_t code[8]; /* of the library */

/* ---- what is around it ---- */

struct process process;
__thread struct thread *thread_self;
struct thread *thread_first(void)
{
	return &worker;
}
static long read_state(char *line)
{
	/* acquire: the thread's code has run before it slept */
	line[6] = atomic_load_explicit(&is_running, memory_order_acquire) ? 'R' : 'S';
	line[4] = ')';
	return 7;
}
struct text text_in(char *buffer, size_t room)
{
	return (struct text){.at = buffer, .room = room};
}
void text_put(struct text *t, const char *s)
{
	(void)t;
	(void)s;
}
void text_put_u64(struct text *t, uint64_t n)
{
	(void)t;
	(void)n;
}
int find_object(void *address, struct dl_find_object *result)
{
	(void)address;
	result->dlfo_link_map = &library;
	return 0;
}
int find_object_surely(void *address, struct dl_find_object *result)
{
	return find_object(address, result);
}
void find_object_all_stay(void)
{
}
void keep_unloaded(void)
{
}
void module_closed(void)
{
}
void region_modules_changed(void)
{
}
void unwind_flush_begin(void)
{
}
void unwind_flush_end(void)
{
}
void runtime_note(const char *note)
{
	(void)note;
}
size_t load_guarded(void *to, uintptr_t from, size_t n)
{
	(void)to;
	(void)from;
	return n;
}

/* ---- programs ---- */

/* Wakes, is sampled, and sleeps, as handle() in sample.c does. */
static void work(void)
{
	atomic_store_explicit(&is_running, true, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst); /* the kernel's */
	if (!atomic_load_explicit(&worker.may_lose_code, memory_order_relaxed) && code[0])
		order_fault("the code changes under a sample");
	atomic_store_explicit(&is_running, false, memory_order_release);
}

/* As hold_threads() does, but once. */
static void unload(void)
{
	const uint64_t before =
		atomic_fetch_add_explicit(&unloads, A_CALL + 1, memory_order_relaxed);
	if (hold_all(&library, (uint32_t)(before / A_CALL) + 1))
		order_unmap(code, sizeof code);
}

/* Another one has been unloaded. */
static void end_other(void)
{
	runtime_unload_ends();
}

int main(void)
{
	worker.map = &library;
	unloads = A_CALL + 1;
	has_threads = true;
	atomic_store_explicit(&worker.state, THREAD_ALIVE, memory_order_relaxed);
	static const struct order_program programs[] = {
		{"a library is unloaded beside a sample", {work, unload}, NULL},
		{"... and beside the end of another call", {work, unload, end_other}, NULL},
		{.name = NULL}};
	static const struct order_spare spare[] = {{"is_alive", 1, "the thread was there before"},
						   {.function = NULL}};
	order_test(programs, spare);
	return order_done();
}
