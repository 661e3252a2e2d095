/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/unwind as a whole: paths from here, reuse and what it reports, flush,
 * skipped ranges, the depth limit. Odd code and stacks: test_unwind_odd.c. */
#include "tests/unit/unwind/unwind_fixture.h"

#include <dlfcn.h>
#include <string.h>

static void test_path(void **state)
{
	(void)state;
	new_thread(MAX_DEPTH);
	recurse(7);
	assert_int_equal(path.end, UNWIND_ROOT);
	assert_false(path.heuristic);
	assert_int_equal(count_tested(), 8);
	assert_int_equal(path.n_same, 0);
	for (unsigned i = 0; i < path.n; i++)
		assert_int_equal(path.addr[i] >> UNWIND_ADDR_MODULE_SHIFT, 1);
	assert_string_equal(unwind_end_name(path.end), "root");
}

static void test_reuse(void **state)
{
	(void)state;
	static const unsigned depths[] = {7, 7, 7, 9, 2, 2, 8, 0, 5};
	new_thread(MAX_DEPTH);
	/* volatile: one call site, for no compiler writes out a loop whose rounds it cannot
	 * count */
	for (volatile unsigned i = 0; i < sizeof depths / sizeof *depths; i++) {
		recurse(depths[i]);
		assert_int_equal(count_tested(), depths[i] + 1);
		assert_int_equal(path.end, UNWIND_ROOT);
		if (i > 0)
			assert_true(path.n_same >= path.n - depths[i] - 1);
		if (i > 0 && depths[i] == depths[i - 1])
			assert_int_equal(path.n_same, path.n);
	}
	const struct unwind_counts *counts = unwind_counts(thread);
	assert_true(counts->frames_reused > 5 * counts->frames_walked / 4);
}

/* A frame of the previous path whose return address has been changed must not be taken over. */
static uint64_t fake_stack[64] __attribute__((aligned(16)));

static void test_reuse_is_exact(void **state)
{
	(void)state;
	uint64_t seed = 1;
	new_thread(MAX_DEPTH);
	recurse(3);
	const uint64_t good = pc_of(path.addr[2]) + 1;
	for (unsigned i = 0; i < 200; i++) {
		/* Stacks of random depth in memory that is not the thread's: the same call site
		 * again and again, then nothing. */
		struct unwind_regs regs = {{0}};
		memset(fake_stack, 0, sizeof fake_stack);
		seed = seed * 6364136223846793005U + 1442695040888963407U;
		fake_stack[0] = seed >> 63 ? good : 0;
		regs.reg[7] = (uint64_t)fake_stack;
		regs.reg[6] = (uint64_t)(fake_stack + 40);
		regs.reg[16] =
			(uint64_t)&unwind_counts; /* at its first instruction: CFA = rsp + 8 */
		unwind_walk_regs(thread, &regs, &path);
		assert_true(path.n >= 1);
		if (fake_stack[0] == 0) {
			assert_int_equal(path.n, 1);
			assert_int_equal(path.end, UNWIND_ROOT);
		} else {
			assert_int_equal(pc_of(path.addr[1]), good - 1);
		}
		recurse(i % 5);
		assert_int_equal(count_tested(), i % 5 + 1);
	}
}

/* The same for paths that were reused before, and so have a proof: all inner frames stand, and what
 * called them is another function with a frame of the same size. */
TESTED static unsigned from_one(unsigned n)
{
	sink = recurse(n);
	return sink + 1;
}

TESTED static unsigned from_other(unsigned n)
{
	sink = recurse(n);
	return sink + 2;
}

static void test_proof_is_exact(void **state)
{
	(void)state;
	unsigned (*volatile const from[])(unsigned) = {from_one, from_other};
	static volatile unsigned
		i; /* in no register: those that are saved are part of a frame's state */
	static uint64_t caller[2];
	new_thread(MAX_DEPTH);
	for (i = 0; i < 64; i++) {
		from[i / 4 % 2](
			i /
			8); /* four times in a row: walked, compared word by word, proven, proven */
		const unsigned n = i / 8, which = i / 4 % 2;
		assert_int_equal(count_tested(), n + 2);
		if (i % 4)
			assert_int_equal(path.n_same, path.n);
		const uint64_t now = pc_of(path.addr[n + 1]);
		assert_true(caller[which] == 0 || caller[which] == now);
		caller[which] = now;
	}
	assert_int_not_equal(caller[0], caller[1]);
}

/* Where a path was proven, nothing else is looked at: not what is known of the frames
 * themselves. */
static void test_proof_is_used(void **state)
{
	(void)state;
	static volatile unsigned i;
	static uint64_t n_walked;
	new_thread(MAX_DEPTH);
	for (i = 0; i < 4; i++) {
		if (i == 3) {
			assert_int_equal(path.n_same, path.n);
			assert_int_equal(thread->n_proven, thread->n_records);
			n_walked = unwind_counts(thread)->frames_walked;
			thread->records[2 * MAX_DEPTH - 3].pc++;
		}
		recurse(9);
	}
	assert_int_equal(unwind_counts(thread)->frames_walked, n_walked);
}

/* A frame that aligned itself (gcc keeps where it was called from in a word of its own when it has
 * arguments there and takes more room later) names three words; whoever called it may stand
 * elsewhere though the frame does not. */
static uint64_t callers[32];
static volatile unsigned n_callers;

TESTED static unsigned realigned(int a, int b, int c, int d, int e, int f, int on_stack)
{
	_Alignas(1024) volatile char room[1024];
	volatile char *more = __builtin_alloca(a + 16);
	room[0] = more[0] = 1;
	walk_here();
	callers[n_callers++] = pc_of(path.addr[1]);
	return (unsigned)(room[0] + a + b + c + d + e + f + on_stack);
}

TESTED static unsigned from_near(void)
{
	sink = realigned(0, 0, 0, 0, 0, 0, 1);
	return sink + 1;
}

TESTED static unsigned from_far(void)
{
	volatile uint64_t gap[20]; /* of which nothing is written: the place of the return address
				      into from_near lies in it */
	sink = realigned(0, 0, 0, 0, 0, 0, 1);
	return sink + 2 + (sink > 5 ? (unsigned)gap[sink % 20] : 0);
}

static void test_realigned(void **state)
{
	(void)state;
	unsigned (*volatile const from[])(void) = {from_near, from_far};
	static volatile unsigned i;
	volatile char *room =
		__builtin_alloca((((uintptr_t)__builtin_frame_address(0) - 900) & 1023) + 16);
	room[0] = 1;
	new_thread(MAX_DEPTH);
	n_callers = 0;
	for (i = 0; i < 32; i++) /* no other call, so that what lies in the gap stays there */
		from[i / 4 % 2]();
	assert_int_not_equal(callers[0], callers[4]);
	for (i = 0; i < 32; i++)
		assert_int_equal(callers[i], callers[i / 4 % 2 * 4]);
}

TESTED static unsigned inner(void)
{
	walk_here();
	return sink;
}

TESTED static unsigned middle(void)
{
	sink = inner();
	return sink + 1;
}

/* Two call sites with the same stack pointer; what stands around them keeps a compiler from making
 * one of them. */
TESTED static unsigned outer(unsigned which)
{
	if (which) {
		__asm__ volatile("nop");
		sink = middle() + 1;
		__asm__ volatile("nop");
	} else {
		__asm__ volatile("nop; nop");
		sink = middle() + 2;
		__asm__ volatile("nop; nop");
	}
	return sink;
}

/* Calls with the same rbp every time. */
__asm__(".pushsection tested, \"ax\", @progbits\n"
	"call_steadily:\n .cfi_startproc\n push %rbp\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset "
	"%rbp, 0\n xor %ebp, %ebp\n "
	"call *%rsi\n"
	" pop %rbp\n .cfi_adjust_cfa_offset -8\n .cfi_restore %rbp\n ret\n .cfi_endproc\n"
	".popsection\n");
unsigned call_steadily(unsigned which, unsigned (*f)(unsigned));

/* The frames of inner and middle are met again as they were; that the one behind them has another
 * pc must be seen. */
static void test_reuse_sees_another_call_site(void **state)
{
	(void)state;
	static const uint8_t which[] = {0, 1, 1, 0, 0, 1, 0};
	static uint64_t first[2][MAX_DEPTH];
	new_thread(MAX_DEPTH);
	for (volatile unsigned i = 0; i < sizeof which; i++) { /* volatile: as above */
		call_steadily(which[i], outer);
		assert_int_equal(count_tested(), 4);
		if (i < 2)
			memcpy(first[which[i]], path.addr, path.n * sizeof *path.addr);
		assert_memory_equal(first[which[i]], path.addr, path.n * sizeof *path.addr);
	}
	assert_memory_not_equal(first[0], first[1], path.n * sizeof *path.addr);
}

static void test_flush(void **state)
{
	(void)state;
	enum {
		WARM,
		STILL_WARM,
		IN_WINDOW,
		STILL_IN_WINDOW,
		AFTER,
		WARM_AGAIN,
		FORKED,
		FORKED_WARM,
		STEPS
	};
	uint64_t misses[STEPS];
	new_thread(MAX_DEPTH);
	for (unsigned i = 0; i < STEPS; i++) {
		if (i == IN_WINDOW || i == FORKED)
			unwind_flush_begin();
		if (i == AFTER)
			unwind_flush_end();
		if (i == FORKED)
			unwind_after_fork(); /* the window was another thread's */
		const uint64_t before = unwind_counts(thread)->cache_misses;
		recurse(4);
		misses[i] = unwind_counts(thread)->cache_misses - before;
		assert_int_equal(count_tested(), 5);
		assert_int_equal(path.end, UNWIND_ROOT);
	}
	assert_int_equal(misses[STILL_WARM], 0);
	assert_true(misses[IN_WINDOW] >= path.n);
	assert_true(misses[STILL_IN_WINDOW] >= path.n);
	assert_true(misses[AFTER] > 0);
	assert_int_equal(misses[WARM_AGAIN], 0);
	assert_true(misses[FORKED] > 0);
	assert_int_equal(misses[FORKED_WARM], 0);
}

/* Past every hook, as iconv unloads its modules. */
static void test_unload_is_noticed(void **state)
{
	(void)state;
	void *library = dlopen("libBrokenLocale.so.1", RTLD_NOW); /* no program has it */
	if (!library)
		skip();
	enum { COLD, WARM, UNLOADED, STEPS };
	uint64_t misses[STEPS];
	new_thread(MAX_DEPTH);
	for (unsigned i = 0; i < STEPS; i++) {
		if (i == UNLOADED)
			dlclose(library);
		const uint64_t before = unwind_counts(thread)->cache_misses;
		recurse(4);
		misses[i] = unwind_counts(thread)->cache_misses - before;
		assert_int_equal(path.end, UNWIND_ROOT);
	}
	assert_int_equal(misses[WARM], 0);
	assert_true(misses[UNLOADED] >= 4); /* all frames, and not only another call site */
}

static void test_skip(void **state)
{
	(void)state;
	new_thread(MAX_DEPTH);
	unwind_init(&(struct unwind_config){.module_of = one_module,
					    .skip_lo = (uintptr_t)__start_tested,
					    .skip_hi = (uintptr_t)__stop_tested});
	unwind_flush_begin();
	unwind_flush_end();
	for (unsigned i = 0; i < 4; i++) {
		recurse(i + 3);
		assert_int_equal(count_tested(), 0);
		assert_int_equal(path.end, UNWIND_ROOT);
		assert_true(path.n > 3);
		assert_true(i == 0 || path.n_same > 3);
	}
	unwind_init(&(struct unwind_config){.module_of = one_module});
	unwind_flush_begin();
	unwind_flush_end();
}

static void test_depth(void **state)
{
	(void)state;
	new_thread(16);
	for (unsigned i = 0; i < 40; i++) {
		recurse(i);
		assert_true(path.n <= 16);
		if (i >= 16) {
			assert_int_equal(path.end, UNWIND_DEEP);
			assert_true(count_tested() >= 14);
		}
	}
	recurse(2);
	assert_int_equal(path.end, UNWIND_ROOT);
	assert_int_equal(count_tested(), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_reuse_is_exact),
		cmocka_unit_test(test_proof_is_exact),
		cmocka_unit_test(test_proof_is_used),
		cmocka_unit_test(test_realigned),
		cmocka_unit_test(test_reuse_sees_another_call_site),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_unload_is_noticed),
		cmocka_unit_test(test_skip),
		cmocka_unit_test(test_depth),
	};
	return cmocka_run_group_tests_name("unwind", tests, set_up, NULL);
}
