/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/python/python_call.c on memory that is made up as an interpreter's: a guard
 * holds as long as every word stays that the tag was made from, and not one word longer.
 * Interpreters: tests/cli/python/python_memo.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/machine/machine.h"
#include "hpcrun-lite/python/python_internal.h"
#include "hpcrun-lite/python/torch_code.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N_FRAMES = 6, BYTES = 256, DEPTH = 64, SHIM = 3 };

static struct {
	_Alignas(64) uint8_t runtime[4096], thread[512], cframe[BYTES], frame[N_FRAMES + 1][BYTES],
		code[N_FRAMES][BYTES];
	uint64_t type;
} memory;
static struct python_thread *caller;
static struct unwind_thread *walker; /* has not walked: no stack is read */
static uint64_t guard[UINT16_MAX / 8];
static __thread uintptr_t own_state;

static void put(uint8_t *object, uint16_t offset, uint64_t word, size_t n)
{
	memcpy(object + offset, &word, n);
}

static bool is_shim(unsigned i)
{
	return i == 2 || i == N_FRAMES - 1;
}

static void make_frames(const struct python_layout *l)
{
	for (unsigned i = 0; i < N_FRAMES; i++) {
		put(memory.frame[i], l->frame.previous,
		    i + 1 < N_FRAMES ? (uintptr_t)memory.frame[i + 1] : 0, 8);
		put(memory.frame[i], l->frame.owner, is_shim(i) ? SHIM : 0, 1);
		put(memory.frame[i], l->frame.code, (uintptr_t)memory.code[i], 8);
		put(memory.frame[i], l->frame.instruction, (uintptr_t)memory.code[i] + 220, 8);
		put(memory.code[i], 8, (uintptr_t)&memory.type, 8);
		put(memory.code[i], l->code.version, 7 + i, 4);
	}
	put(memory.frame[N_FRAMES], l->frame.owner, SHIM, 1); /* one more, further out */
	if (l->thread.cframe == PYTHON_NOWHERE) {
		put(memory.thread, l->thread.frame, (uintptr_t)memory.frame[0], 8);
	} else {
		put(memory.thread, l->thread.cframe, (uintptr_t)memory.cframe, 8);
		put(memory.cframe, l->cframe.frame, (uintptr_t)memory.frame[0], 8);
	}
}

/* The calling thread is the main thread of a CPython 3.`minor`. */
static const struct python_layout *make_interpreter(unsigned minor)
{
	static pthread_key_t key;
	const struct python_layout *l = python_layout_of(minor);
	Dl_info info;
	void *map;
	memset(&memory, 0, sizeof memory);
	if (!python.runtime)
		assert_int_equal(pthread_key_create(&key, NULL), 0);
	assert_int_equal(pthread_setspecific(key, memory.thread), 0);
	assert_true(dladdr1(&memory, &info, &map, RTLD_DL_LINKMAP));
	if (l->runtime.tss != PYTHON_NOWHERE) {
		put(memory.runtime, l->runtime.tss, 1, 4);
		put(memory.runtime, l->runtime.tss + 4, key, 4);
	} else {
		own_state = (uintptr_t)memory.thread;
		python.tls = (struct python_tls){.offset = (uintptr_t)&own_state -
							   (uintptr_t)machine_thread_pointer()};
	}
	put(memory.runtime, l->runtime.main_thread, (uint64_t)pthread_self(), 8);
	put(memory.thread, l->thread.thread_id, (uint64_t)pthread_self(), 8);
	make_frames(l);
	python.runtime = (uintptr_t)memory.runtime;
	python.map = map;
	python.types.code = (uintptr_t)&memory.type;
	atomic_store(&python.layout, l);
	free(caller);
	caller = aligned_alloc(64, (python_thread_bytes(DEPTH) + 63) & ~(size_t)63);
	memset(caller, 0, python_thread_bytes(DEPTH));
	python_thread_init(caller, DEPTH, true);
	free(walker);
	walker = unwind_thread_init(calloc(1, unwind_thread_bytes(DEPTH)), DEPTH,
				    &(struct unwind_stack){0});
	return l;
}

static bool holds(uint32_t n)
{
	assert_true(python_enter(caller, walker));
	return python_holds(caller, guard, n);
}

/* Changes some bytes. The tag and the guard must both differ, and be as before afterwards. */
static void change(uint8_t *object, uint16_t offset, size_t n, uint64_t word, uint32_t n_guard)
{
	uint64_t old = 0;
	assert_true(python_enter(caller, walker));
	const uint64_t tag = python_tag(caller);
	memcpy(&old, object + offset, n);
	put(object, offset, word, n);
	assert_false(holds(n_guard));
	assert_true(python_tag(caller) != tag);
	put(object, offset, old, n);
	assert_true(holds(n_guard));
	assert_true(python_tag(caller) == tag);
}

static void check_version(unsigned minor)
{
	const struct python_layout *l = make_interpreter(minor);
	uint8_t(*frame)[BYTES] = memory.frame;
	assert_true(python_enter(caller, walker));
	assert_true(python_tag(caller) > PYTHON_TAG_PLAIN);
	const uint32_t n = python_guard(caller, guard, sizeof guard);
	assert_true(n && n % 8 == 0);
	assert_true(holds(n));
	for (unsigned i = 0; i < N_FRAMES; i++) {
		if (is_shim(i))
			continue;
		change(frame[i], l->frame.instruction, 8, (uintptr_t)memory.code[i] + 222, n);
		change(frame[i], l->frame.code, 8, (uintptr_t)memory.code[i == 3 ? 4 : 3], n);
		change(memory.code[i], l->code.version, 4, 99, n);
		change(frame[i], l->frame.owner, 1, 1, n); /* a generator's */
	}
	change(frame[0], l->frame.previous, 8, (uintptr_t)frame[2], n);
	change(frame[4], l->frame.owner, 1, SHIM, n);
	change(frame[2], l->frame.previous, 8, (uintptr_t)frame[4], n);
	change(frame[2], l->frame.previous, 8, (uintptr_t)frame[5], n);
	change(frame[N_FRAMES - 1], l->frame.previous, 8, (uintptr_t)frame[N_FRAMES], n);
	change(memory.runtime, l->runtime.interpreters, 4, 2, n);
	assert_int_equal(python_guard(caller, guard, 2 * sizeof(uint64_t)), 0);
}

static void test_guards(void **state)
{
	(void)state;
	for (unsigned minor = 12; python_layout_of(minor); minor++)
		check_version(minor);
}

/* A call of a module that is known as one no longer changes the tag, and no guard holds. */
static void test_calls_forgotten(void **state)
{
	enum { MORE = 16, CALL = 1 };
	const struct python_layout *l = make_interpreter(13);
	(void)state;
	put(memory.frame[CALL], l->frame.locals, (uintptr_t)memory.code[0], 8);
	torch_code_add_place((uintptr_t)memory.code[CALL], 7 + CALL);
	assert_true(python_enter(caller, walker));
	const uint64_t tag = python_tag(caller);
	const uint32_t n = python_guard(caller, guard, sizeof guard);
	assert_int_equal(caller->torch_now.n, 1);
	assert_true(holds(n));
	for (unsigned i = 0; i < MORE; i++)
		torch_code_add_place((uintptr_t)memory.code[CALL], 100 + i);
	assert_false(holds(n));
	assert_true(python_tag(caller) != tag);
	assert_int_equal(caller->torch_now.n, 0);
	torch_code_forget();
}

/* Before 3.12 a code object has no number, and a thread that is not the main one may not look. */
static void test_plain(void **state)
{
	(void)state;
	make_interpreter(11);
	assert_false(python_enter(caller, walker));
	make_interpreter(12);
	assert_true(python_enter(caller, walker));
	caller->is_main = false;
	assert_false(python_enter(caller, walker));
	assert_true(python_may_remember(NULL, false));
	caller->frames.broken = true;
	assert_false(python_may_remember(caller, true));
}

static uint16_t no_module(void)
{
	return MSR_MODULE_UNKNOWN;
}

/* A path without its Python frames, which the next one may have, is broken: nobody remembers it. */
static void test_no_module(void **state)
{
	static const struct python_host host = {.module = no_module};
	static const uint64_t address[1];
	const struct unwind_path walked = {.addr = address, .n = 1, .end = UNWIND_ROOT};
	struct python_path path;
	(void)state;
	make_interpreter(13);
	python.host = &host;
	python.module = msr_addr_module(address[0]);
	python_splice(caller, walker, &walked, 0, true, NULL, NULL, &path);
	assert_int_equal(path.n, 1);
	assert_true(path.broken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guards), cmocka_unit_test(test_calls_forgotten),
		cmocka_unit_test(test_plain), cmocka_unit_test(test_no_module)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
