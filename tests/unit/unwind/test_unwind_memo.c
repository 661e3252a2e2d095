/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/unwind/memo.h: each value that is found is that of the path which a walk
 * finds, for paths that differ in one call site, in a frame pointer or in a word of a realigned
 * frame; after a longjmp and a flush; and when there are more paths than entries.
 */
#include "tests/unit/unwind/unwind_fixture.h"

#include "hpcrun-lite/unwind/memo.h"
#include "hpcrun-lite/unwind/recipe.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct unwind_memo *memo;
static uint64_t tag;
static unsigned n_found, n_kept, n_refused;
static bool has_guards;
static unsigned n_next; /* found by their guards */
static uint64_t seed;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (unsigned)(seed >> 33) % n;
}

/* A number for the last path. */
static uint32_t number_of_path(void)
{
	uint64_t hash = 14695981039346656037U;
	for (uint32_t i = 0; i < path.n; i++)
		hash = (hash ^ path.addr[i]) * 1099511628211U;
	return (uint32_t)(hash >> 32);
}

static void new_memo(void)
{
	free(memo);
	memo = aligned_alloc(UNWIND_MEMO_ALIGN, unwind_memo_bytes());
	memset(memo, 0, unwind_memo_bytes());
	tag = 1;
	n_found = n_kept = n_refused = n_next = 0;
	has_guards = false;
	new_thread(MAX_DEPTH);
}

/* ---- guards ---- */

/* A guard has its length and half of the tag again and again; the rest is its part. */
static bool guard_holds(void *user, const void *words, uint32_t n_bytes)
{
	const uint64_t *word = words;
	assert_ptr_equal(user, &has_guards);
	assert_true(n_bytes >= 16);
	assert_int_equal(word[0], n_bytes);
	for (uint32_t i = 2; i < n_bytes / 8; i++)
		assert_int_equal(word[i], word[1]);
	return word[1] == tag / 2;
}

static struct unwind_memo_guard new_guard(void)
{
	uint64_t *word = unwind_memo_room(memo);
	const uint32_t n = 2 + draw(UNWIND_MEMO_GUARD_BYTES / 8 - 2);
	if (!has_guards)
		return (struct unwind_memo_guard){0};
	word[0] = (uint64_t)n * 8;
	for (uint32_t i = 1; i < n; i++)
		word[i] = tag / 2;
	return (struct unwind_memo_guard){.part = tag & 1, .words = word, .n_bytes = n * 8};
}

static const struct unwind_memo_value *find(const struct unwind_regs *regs)
{
	const struct unwind_memo_value *known =
		unwind_memo_next(memo, thread, regs, tag & 1, guard_holds, &has_guards);
	n_next += known != NULL;
	if (known)
		return known;
	known = unwind_memo_find(memo, thread, regs, tag);
	if (known && has_guards && unwind_memo_wants_guard(memo)) {
		const struct unwind_memo_guard guard = new_guard();
		unwind_memo_set_guard(memo, &guard);
	}
	return known;
}

/* What is found for a stack must be what a walk finds. Its frame is the caller's. */
__attribute__((always_inline)) static inline void look_here(void)
{
	struct unwind_regs regs;
	struct unwind_memo_value old = {0};
	unwind_here(&regs);
	const struct unwind_memo_value *found = find(&regs);
	const struct unwind_memo_guard guard = new_guard();
	if (found)
		old = *found;
	unwind_walk_regs(thread, &regs, &path);
	const struct unwind_memo_value now = {number_of_path(), path.n, path.end, path.heuristic};
	if (found) {
		n_found++;
		assert_int_equal(old.node, now.node);
		assert_int_equal(old.n_frames, now.n_frames);
		assert_int_equal(old.end, UNWIND_ROOT);
		assert_false(old.heuristic);
	} else if (unwind_memo_keep(memo, thread, &regs, tag, &guard, &now)) {
		n_kept++;
	} else {
		n_refused++;
	}
}

TESTED static void look(void)
{
	look_here();
	__asm__ volatile("");
}

/* ---- call sites ---- */

static jmp_buf out;
static unsigned n_sites = 4;

/* Frames of one size with several call sites in each, so equal stack pointers mean little. */
TESTED static unsigned branch(unsigned depth)
{
	if (depth == 0) {
		look();
		if (draw(8) == 0)
			longjmp(out, 1);
		return 1;
	}
	switch (draw(n_sites)) {
	case 0: sink = branch(depth - 1) + 1; break;
	case 1: sink = branch(depth - 1) + 2; break;
	case 2: sink = branch(depth - 1) + 3; break;
	default: sink = branch(depth - 1) + 4;
	}
	return sink;
}

static void test_call_sites(void **state)
{
	(void)state;
	new_memo();
	n_sites = 2;
	for (volatile unsigned i = 0; i < 20000; i++)
		if (setjmp(out) == 0)
			branch(1 + draw(3));
	n_sites = 4;
	assert_int_equal(n_refused, 0);
	assert_int_equal(n_kept, 2 + 4 + 8);
	assert_int_equal(n_found, 20000 - n_kept);
}

/* Paths come and go; 4^7 of them have the same stack pointer. */
static void test_more_paths_than_entries(void **state)
{
	(void)state;
	new_memo();
	for (volatile unsigned i = 0; i < 50000; i++)
		if (setjmp(out) == 0)
			branch(1 + draw(7));
	assert_int_equal(n_refused, 0);
	assert_true(n_kept > 2 * UNWIND_MEMO_ENTRIES);
	assert_true(n_found > 5000);
}

/*
 * Many other places push the recipes of a path out of the table. A walk that finds its frames
 * unchanged does not put them back, but the path is remembered all the same.
 */
static void test_recipes_lost(void **state)
{
	const uint64_t epoch_tag = recipe_tag(recipe_epoch_now());
	uint64_t recipe;
	(void)state;
	new_memo();
	assert_true(recipe_make(RECIPE_SP, 8, RECIPE_BP_SAME, 0, &recipe));
	for (unsigned i = 0; i < 3; i++) {
		look();
		for (unsigned k = 0; k < 40 * RECIPE_SETS * RECIPE_WAYS; k++)
			recipe_insert(epoch_tag, 4096 + k, 1, 0, recipe, k);
		tag++; /* as if in another function of Python */
	}
	unwind_flush_begin(); /* the places are nobody's */
	unwind_flush_end();
	assert_int_equal(n_refused, 0);
	assert_int_equal(n_kept, 3);
}

/* A sequence of calls that comes again is found, however long the lists are. */
static void test_sequence(void **state)
{
	(void)state;
	new_memo();
	for (volatile unsigned i = 0; i < 30; i++) {
		seed = 1;
		for (volatile unsigned k = 0; k < 200; k++)
			if (setjmp(out) == 0)
				branch(7);
	}
	assert_int_equal(n_refused, 0);
	assert_true(n_kept < 200 + 2 * 30);
}

/* Of one stack pointer, with many tags: what comes in any order is found at its second call. */
static void test_many_tags(void **state)
{
	(void)state;
	enum { TAGS = 500 };
	new_memo();
	for (volatile unsigned i = 0; i < 20 * TAGS; i++) {
		tag = 1 + draw(TAGS);
		look();
	}
	assert_int_equal(n_refused, 0);
	assert_int_equal(n_kept, TAGS);
	assert_int_equal(n_found, 19 * TAGS);
}

/* Of each tag, what followed it last time is found without it, and after a loop, too. */
static void test_guards(void **state)
{
	(void)state;
	enum { TAGS = 300, ROUNDS = 20 };
	new_memo();
	has_guards = true;
	for (volatile unsigned i = 0; i < ROUNDS * TAGS; i++) {
		tag = 1 + i % TAGS;
		for (volatile unsigned k = 0; k < 1 + i % 3; k++)
			look();
	}
	assert_int_equal(n_refused, 0);
	assert_int_equal(n_kept, TAGS);
	assert_true(n_next >= n_found - 3 * TAGS);
}

/* A variant belongs to its path, also when another path takes the place of the entry. */
static void test_variants(void **state)
{
	(void)state;
	enum { TAGS = 2 * UNWIND_MEMO_ENTRIES };
	uint32_t node = 0;
	new_memo();
	for (volatile unsigned i = 0; i < 2 * TAGS; i++) {
		tag = 1 + i % TAGS;
		look();
		assert_false(unwind_memo_variant(memo, 7, &node));
		unwind_memo_keep_variant(memo, 8, 2 * i + 1);
		for (uint32_t k = 8; k-- > 0;) /* each in place of the last one */
			unwind_memo_keep_variant(memo, 7, 2 * i + k);
		assert_true(unwind_memo_variant(memo, 7, &node) && node == 2 * i);
		assert_true(unwind_memo_variant(memo, 8, &node) && node == 2 * i + 1);
	}
	assert_int_equal(n_found, 0);
}

/* Words of all lengths push each other out of their room, which holds some 2,500 of them. */
static void test_guards_come_and_go(void **state)
{
	(void)state;
	enum { TAGS = 3500 };
	new_memo();
	has_guards = true;
	for (volatile unsigned i = 0; i < 10 * TAGS; i++) {
		tag = 1 + (draw(4) ? i / 8 : draw(TAGS)) % TAGS;
		look();
	}
	assert_int_equal(n_refused, 0);
	assert_true(n_kept > 2 * TAGS);
	assert_true(n_found > TAGS && n_next > TAGS);
}

/* ---- frame pointers and realigned frames ---- */

/* The stack pointer of look() is the same for all `n`, the frame pointer of inner_room() is not. */
TESTED static unsigned inner_room(unsigned n)
{
	volatile char *room = __builtin_alloca(n);
	room[0] = 1;
	look();
	return (unsigned)room[0];
}

TESTED static unsigned outer_room(unsigned n)
{
	volatile char *room = __builtin_alloca(n);
	room[0] = 1;
	sink = n & 64 ? inner_room(1024 - n) + 1 : inner_room(1024 - n) + 2;
	return sink + (unsigned)room[0];
}

static void test_frame_pointers(void **state)
{
	(void)state;
	new_memo();
	for (volatile unsigned i = 0; i < 2000; i++)
		outer_room(64 + 64 * draw(8));
	assert_int_equal(n_refused, 0);
	assert_int_equal(n_kept, 8);
}

TESTED static unsigned realigned(int a, int b, int c, int d, int e, int f, int on_stack)
{
	_Alignas(1024) volatile char room[1024];
	volatile char *more = __builtin_alloca(a + 16);
	room[0] = more[0] = 1;
	look();
	return (unsigned)(room[0] + a + b + c + d + e + f + on_stack);
}

TESTED static unsigned from_near(void)
{
	sink = realigned(0, 0, 0, 0, 0, 0, 1);
	return sink + 1;
}

TESTED static unsigned from_far(void)
{
	volatile uint64_t gap[20]; /* not written: it holds what from_near() left there */
	sink = realigned(0, 0, 0, 0, 0, 0, 1);
	return sink + 2 + (sink > 5 ? (unsigned)gap[sink % 20] : 0);
}

static void test_realigned(void **state)
{
	(void)state;
	unsigned (*volatile const from[])(void) = {from_near, from_far};
	volatile char *room =
		__builtin_alloca((((uintptr_t)__builtin_frame_address(0) - 900) & 1023) + 16);
	room[0] = 1;
	new_memo();
	for (volatile unsigned i = 0; i < 400; i++)
		from[draw(2)]();
	assert_int_equal(n_refused, 0);
	assert_int_equal(n_kept, 2);
}

/* A register that a frame saves and nobody needs may have any value. */
unsigned call_with_bp(uint64_t bp, void (*f)(void));
__asm__(".pushsection tested, \"ax\", @progbits\n"
	"call_with_bp:\n .cfi_startproc\n push %rbp\n .cfi_adjust_cfa_offset 8\n"
	" .cfi_rel_offset %rbp, 0\n mov %rdi, %rbp\n call *%rsi\n"
	" pop %rbp\n .cfi_adjust_cfa_offset -8\n .cfi_restore %rbp\n ret\n .cfi_endproc\n"
	".popsection\n");

static void test_register_that_does_not_matter(void **state)
{
	(void)state;
	new_memo();
	for (volatile unsigned i = 0; i < 100; i++)
		call_with_bp(i, look);
	assert_int_equal(n_kept, 1);
	assert_int_equal(n_found, 99);
}

/* ---- what makes entries void, and what is not remembered ---- */

static void test_tag_and_flush(void **state)
{
	(void)state;
	new_memo();
	for (volatile unsigned i = 0; i < 40; i++) {
		tag = i & 1;
		if (i == 20)
			unwind_flush_begin();
		if (i == 30)
			unwind_flush_end();
		look();
	}
	assert_int_equal(n_kept, 4);
	assert_int_equal(n_refused, 10);
	assert_int_equal(n_found, 26);
}

static void on_signal(int sig)
{
	(void)sig;
	look();
}

static void test_signals(void **state)
{
	(void)state;
	stack_t alternate = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction act = {.sa_handler = on_signal};
	new_memo();
	sigaltstack(&alternate, NULL);
	for (volatile unsigned i = 0; i < 8; i++) {
		act.sa_flags = i & 1 ? SA_ONSTACK : 0;
		sigaction(SIGUSR1, &act, NULL);
		raise(SIGUSR1);
	}
	alternate.ss_flags = SS_DISABLE;
	sigaltstack(&alternate, NULL);
	free(alternate.ss_sp);
	assert_int_equal(n_refused, 8);
}

static void test_frames_without_tables(void **state)
{
	(void)state;
	void *library = dlopen("tests/unit/unwind/.libs/libunwind_frames.so", RTLD_NOW);
	assert_non_null(library);
	void (*call)(void (*)(void)) =
		(void (*)(void (*)(void)))(uintptr_t)dlsym(library, "call_without_tables");
	void (*call_tables)(void (*)(void)) =
		(void (*)(void (*)(void)))(uintptr_t)dlsym(library, "call_from_long_fde");
	new_memo();
	for (volatile unsigned i = 0; i < 4; i++)
		call(look);
	assert_int_equal(n_refused, 4);
	for (volatile unsigned i = 0; i < 4; i++)
		call_tables(look);
	assert_int_equal(n_kept, 1);
	assert_int_equal(n_found, 3);
	dlclose(library);
}

/* The end of a path is a word too, unless it is a root by its pc. */
static void test_end_by_a_word(void **state)
{
	(void)state;
	volatile uint64_t frames[64] = {0};
	struct unwind_regs regs = {{0}};
	new_memo();
	if (setjmp(out) == 0)
		branch(0);
	frames[0] = pc_of(path.addr[1]) + 1;
	regs.reg[7] = (uint64_t)frames;
	regs.reg[6] = (uint64_t)(frames + 40);
	regs.reg[16] = (uint64_t)&unwind_counts; /* at its first instruction: CFA = rsp + 8 */
	unwind_walk_regs(thread, &regs, &path);
	assert_true(path.n >= 2);
	assert_int_equal(path.end, UNWIND_ROOT);
	assert_false(unwind_memo_keep(memo, thread, &regs, tag, NULL,
				      &(struct unwind_memo_value){.node = 1}));
}

/* Deeper than an entry has words for, or than the paths of the thread may be. */
static void test_too_deep(void **state)
{
	(void)state;
	new_memo();
	for (volatile unsigned i = 0; i < 4; i++) {
		seed = 1;
		if (setjmp(out) == 0)
			branch(2 * MAX_DEPTH);
	}
	assert_int_equal(n_refused, 4);
	new_memo();
	new_thread(512);
	for (volatile unsigned i = 0; i < 4; i++) {
		seed = 1;
		if (setjmp(out) == 0)
			branch(2 * UNWIND_MEMO_WORDS);
	}
	assert_int_equal(n_refused, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_sites),
		cmocka_unit_test(test_more_paths_than_entries),
		cmocka_unit_test(test_recipes_lost),
		cmocka_unit_test(test_sequence),
		cmocka_unit_test(test_many_tags),
		cmocka_unit_test(test_guards),
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_guards_come_and_go),
		cmocka_unit_test(test_frame_pointers),
		cmocka_unit_test(test_realigned),
		cmocka_unit_test(test_register_that_does_not_matter),
		cmocka_unit_test(test_tag_and_flush),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_frames_without_tables),
		cmocka_unit_test(test_end_by_a_word),
		cmocka_unit_test(test_too_deep),
	};
	return cmocka_run_group_tests_name("unwind memo", tests, set_up, NULL);
}
