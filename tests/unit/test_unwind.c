/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/unwind as a whole: paths from here and from signal handlers, reuse and what it reports, flush, skipped ranges, the depth limit, code
 * without CFI, generated code, garbage, the stack and errno of a handler.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/unwind/internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_DEPTH = 64, PAGE = 4096 };

static struct unwind_thread *thread;
static struct unwind_path path;
static struct unwind_stack stack;
static volatile unsigned sink;

static uint16_t one_module(const struct dl_find_object *object, uintptr_t *bias)
{
	(void)object;
	*bias = 0;
	return 1;
}

static uint64_t pc_of(uint64_t addr)
{
	return addr & UNWIND_ADDR_LINK_MASK;
}

static void new_thread(unsigned max_depth)
{
	free(thread);
	thread = unwind_thread_init(calloc(1, unwind_thread_bytes(max_depth)), max_depth, &stack);
}

/* The address range of the functions below, by a section of their own. */
#ifdef __clang__
#define TESTED __attribute__((noinline, section("tested")))
#else
#define TESTED __attribute__((noinline, noclone, section("tested")))
#endif
extern const char __start_tested[], __stop_tested[];

static unsigned count_tested(void)
{
	unsigned n = 0;
	for (unsigned i = 0; i < path.n; i++)
		n += pc_of(path.addr[i]) >= (uint64_t)__start_tested && pc_of(path.addr[i]) < (uint64_t)__stop_tested;
	return n;
}

static void walk_here(void)
{
	struct unwind_regs regs;
	unwind_here(&regs);
	unwind_walk_regs(thread, &regs, &path);
}

TESTED static unsigned recurse(unsigned n)
{
	if (n == 0) {
		walk_here();
		return 1;
	}
	sink = recurse(n - 1);
	return sink + 1;
}

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
	for (unsigned i = 0; i < sizeof depths / sizeof *depths; i++) {
		recurse(depths[i]); /* one call site */
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
		/* Stacks of random depth in memory that is not the thread's: the same call site again and again, then nothing. */
		struct unwind_regs regs = {{0}};
		memset(fake_stack, 0, sizeof fake_stack);
		seed = seed * 6364136223846793005U + 1442695040888963407U;
		fake_stack[0] = seed >> 63 ? good : 0;
		regs.reg[7] = (uint64_t)fake_stack;
		regs.reg[6] = (uint64_t)(fake_stack + 40);
		regs.reg[16] = (uint64_t)&unwind_counts; /* at its first instruction: CFA = rsp + 8 */
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

/* The same for paths that were reused before, and so have a proof: all inner frames stand, and what called them is another function with a frame of the same size. */
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
	static volatile unsigned i; /* in no register: those that are saved are part of a frame's state */
	static uint64_t caller[2];
	new_thread(MAX_DEPTH);
	for (i = 0; i < 64; i++) {
		from[i / 4 % 2](i / 8); /* four times in a row: walked, compared word by word, proven, proven */
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

/* Where a path was proven, nothing else is looked at: not what is known of the frames themselves. */
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

/* A frame that aligned itself (gcc keeps where it was called from in a word of its own when it has arguments there and takes more room later) names three words; whoever called it may stand elsewhere though the frame does not. */
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
	volatile uint64_t gap[20]; /* of which nothing is written: the place of the return address into from_near lies in it */
	sink = realigned(0, 0, 0, 0, 0, 0, 1);
	return sink + 2 + (sink > 5 ? (unsigned)gap[sink % 20] : 0);
}

static void test_realigned(void **state)
{
	(void)state;
	unsigned (*volatile const from[])(void) = {from_near, from_far};
	static volatile unsigned i;
	volatile char *room = __builtin_alloca((((uintptr_t)__builtin_frame_address(0) - 900) & 1023) + 16);
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

/* Two call sites with the same stack pointer; what stands around them keeps a compiler from making one of them. */
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
	"call_steadily:\n .cfi_startproc\n push %rbp\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset %rbp, 0\n xor %ebp, %ebp\n "
	"call *%rsi\n"
	" pop %rbp\n .cfi_adjust_cfa_offset -8\n .cfi_restore %rbp\n ret\n .cfi_endproc\n"
	".popsection\n");
unsigned call_steadily(unsigned which, unsigned (*f)(unsigned));

/* The frames of inner and middle are met again as they were; that the one behind them has another pc must be seen. */
static void test_reuse_sees_another_call_site(void **state)
{
	(void)state;
	static const uint8_t which[] = {0, 1, 1, 0, 0, 1, 0};
	static uint64_t first[2][MAX_DEPTH];
	new_thread(MAX_DEPTH);
	for (unsigned i = 0; i < sizeof which; i++) {
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
	enum { WARM, STILL_WARM, IN_WINDOW, STILL_IN_WINDOW, AFTER, WARM_AGAIN, FORKED, FORKED_WARM, STEPS };
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

static void test_skip(void **state)
{
	(void)state;
	new_thread(MAX_DEPTH);
	unwind_init(&(struct unwind_config){
		.module_of = one_module, .skip_lo = (uintptr_t)__start_tested, .skip_hi = (uintptr_t)__stop_tested});
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

/* Assembler without CFI: calls its argument with two registers pushed, with a frame pointer, and not at all. */
__asm__(".pushsection tested, \"ax\", @progbits\n"
	"without_cfi_pushes: push %rbx\n push %r12\n sub $24, %rsp\n call *%rdi\n add $24, %rsp\n pop %r12\n pop %rbx\n ret\n"
	"without_cfi_frame: push %rbp\n mov %rsp, %rbp\n sub $3008, %rsp\n call *%rdi\n leave\n ret\n"
	"without_cfi_leaf: ud2\n ret\n"
	"wrong_cfi_leaf:\n .cfi_startproc\n push $1\n push $2\n push $3\n push $4\n push $5\n ud2\n add $40, %rsp\n ret\n "
	".cfi_endproc\n"
	".popsection\n");
void without_cfi_pushes(void (*f)(void));
void without_cfi_frame(void (*f)(void));
void without_cfi_leaf(void);
void wrong_cfi_leaf(void);

static bool is_marked(unsigned n_expected)
{
	unsigned n = 0;
	for (unsigned i = 0; i < path.n; i++)
		n += (path.addr[i] & UNWIND_ADDR_MARK) != 0;
	return n == n_expected && path.heuristic == (n > 0);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	ucontext_t *uc = context;
	errno = 4711;
	unwind_walk(thread, uc, &path);
	assert_int_equal(errno, 4711);
	uc->uc_mcontext.gregs[REG_RIP] += 2; /* over ud2 */
}

TESTED static void call(void (*f)(void))
{
	f();
	sink++;
}

TESTED static void call_with(void (*g)(void (*)(void)))
{
	g(walk_here);
	sink++;
}

static void test_without_cfi(void **state)
{
	(void)state;
	new_thread(MAX_DEPTH);
	sigaction(SIGILL, &(struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, NULL);
	for (unsigned i = 0; i < 2; i++) {
		call_with(without_cfi_frame);
		assert_int_equal(path.end, UNWIND_ROOT);
		assert_true(is_marked(1));
		assert_int_equal(count_tested(), 2);
		call_with(
			without_cfi_pushes); /* what rbp holds here is the compiler's business: a frame may be missed, but not silently */
		assert_int_equal(path.end, UNWIND_ROOT);
		assert_true(is_marked(1));
		assert_true(count_tested() >= 1);
		call(without_cfi_leaf);
		assert_int_equal(path.end, UNWIND_ROOT);
		assert_true(is_marked(1));
		assert_int_equal(count_tested(), 2);
		call(wrong_cfi_leaf);
		assert_int_equal(path.end, UNWIND_ROOT);
		assert_true(is_marked(1));
		assert_int_equal(count_tested(), 2);
		recurse(3);
		assert_true(is_marked(0));
	}
}

/* push rbp; mov rbp, rsp; call *rdi; pop rbp; ret, in memory that no module owns: in a page that is mapped at `place`, or anywhere. */
static void generate(void *place)
{
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	uint8_t *p = mmap(place, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0), -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	memcpy(p, code, sizeof code);
	new_thread(MAX_DEPTH);
	for (unsigned i = 0; i < 2; i++) {
		void (*generated)(void (*)(void));
		memcpy(&generated, &p, sizeof generated);
		call_with(generated);
		assert_int_equal(path.end, UNWIND_ROOT);
		assert_int_equal(count_tested(), 1);
		bool found = false;
		for (unsigned k = 0; k < path.n; k++)
			found |= path.addr[k] == (uint64_t)p + 5; /* module 0, not marked: its callee's CFI told */
		assert_true(found);
		assert_true(is_marked(1));
	}
	munmap(p, PAGE);
}

static void test_generated_code(void **state)
{
	(void)state;
	generate(NULL);
}

/* Between two segments of a library, where its range holds somebody else's page. */
static void test_generated_code_in_a_hole(void **state)
{
	char name[4096];
	struct dl_find_object object;
	(void)state;
	const char *top = getenv("top_builddir");
	snprintf(name, sizeof name, "%s/tests/unit/.libs/libunwind_hole.so", top ? top : ".");
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fail_msg("%s", dlerror());
	char *function = dlsym(library, "function_before_a_hole"); /* the only page of its segment, and of 64 KiB */
	assert_non_null(function);
	char *hole = (char *)((uintptr_t)function / PAGE * PAGE) + 4 * PAGE;
	assert_int_equal(_dl_find_object(hole, &object), 0);
	generate(hole);
	dlclose(library);
}

/* Whatever the registers hold, a walk comes back with a cause. */
static void test_garbage(void **state)
{
	(void)state;
	uint64_t seed = 42, area[128];
	new_thread(MAX_DEPTH);
	uint8_t *edge = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(edge + PAGE, PAGE, PROT_NONE);
	for (unsigned i = 0; i < 60000; i++) {
		struct unwind_regs regs;
		const uint64_t places[8] = {0,
					    (uint64_t)area,
					    (uint64_t)edge + PAGE - 64,
					    (uint64_t)recurse,
					    (uint64_t)qsort,
					    (uint64_t)&stack,
					    ~UINT64_C(0) - 64,
					    4096};
		for (unsigned k = 0; k < UNWIND_N_REGS; k++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			regs.reg[k] = seed % 11 == 0 ? seed : places[seed % 8] + (seed >> 40) % 200;
		}
		for (unsigned k = 0; k < 128; k++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			area[k] = places[seed % 8] + (seed >> 40) % 300;
		}
		unwind_walk_regs(thread, &regs, &path);
		assert_true(path.end < UNWIND_N_ENDS);
		assert_true(path.n <= MAX_DEPTH);
	}
	recurse(5);
	assert_int_equal(count_tested(), 6);
	assert_int_equal(path.end, UNWIND_ROOT);
	munmap(edge, 2 * PAGE);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	unwind_walk(thread, context, &path);
	sink = (unsigned)(uintptr_t)context % 2;
}

static uintptr_t context_at;
static void on_signal_where(int sig, siginfo_t *info, void *context)
{
	context_at = (uintptr_t)context;
	on_signal(sig, info, context);
}

TESTED static void raise_in_depth(unsigned n)
{
	if (n)
		raise_in_depth(n - 1);
	else
		raise(SIGUSR1);
	sink++;
}

/* A program may have given 8 KiB for all its handlers; the kernel takes up to 3.6 of them (AVX-512). Cold and warm, with slow frames and without recipes. */
static void test_stack_use(void **state)
{
	(void)state;
#ifdef SANITIZED
	enum { STACK = 65536, ALLOWED = STACK, FILL = 0xa5 }; /* a sanitizer makes frames large */
#else
	enum { STACK = 65536, ALLOWED = 3072, FILL = 0xa5 };
#endif
	uint8_t *memory = malloc(STACK);
	new_thread(MAX_DEPTH);
	const stack_t alternate = {.ss_sp = memory, .ss_size = STACK};
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_sigaction = on_signal_where, .sa_flags = SA_SIGINFO | SA_ONSTACK}, NULL);
	for (unsigned i = 0; i < 4; i++) {
		if (i % 2)
			unwind_flush_begin();
		memset(memory, FILL, STACK);
		raise_in_depth(5);
		if (i % 2)
			unwind_flush_end();
		size_t untouched = 0;
		while (untouched < STACK && memory[untouched] == FILL)
			untouched++;
		assert_int_equal(path.end, UNWIND_ROOT);
		assert_int_equal(count_tested(), 6);
		assert_true(context_at - ((uintptr_t)memory + untouched) < ALLOWED);
	}
	sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
	free(memory);
}

static unsigned n_in_thread;

static void *thread_main(void *unused)
{
	pthread_attr_t attr;
	void *lo;
	size_t bytes;
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &lo, &bytes);
	pthread_attr_destroy(&attr);
	const struct unwind_stack mine = {(uintptr_t)lo, (uintptr_t)lo + bytes, false, 0};
	void *mem = calloc(1, unwind_thread_bytes(MAX_DEPTH));
	struct unwind_thread *was = thread;
	thread = unwind_thread_init(mem, MAX_DEPTH, &mine);
	for (volatile unsigned i = 0; i < 4; i++)
		recurse(6);
	n_in_thread = count_tested(); /* the path lies in the memory that goes */
	thread = was;
	free(mem);
	return unused;
}

/* On a stack whose end is the end of what is mapped: nothing beyond it may be looked at. */
static void test_other_thread(void **state)
{
	(void)state;
	enum { BYTES = 64 * PAGE };
	pthread_t other;
	pthread_attr_t attr;
	char *at = mmap(NULL, BYTES + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(mprotect(at, BYTES, PROT_READ | PROT_WRITE), 0);
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstack(&attr, at, BYTES), 0);
	assert_int_equal(pthread_create(&other, &attr, thread_main, NULL), 0);
	pthread_join(other, NULL);
	pthread_attr_destroy(&attr);
	munmap(at, BYTES + PAGE);
	assert_int_equal(path.end, UNWIND_ROOT);
	assert_int_equal(n_in_thread, 7);
}

/* The main thread's stack by its mapping. */
static int set_up(void **state)
{
	(void)state;
	pthread_attr_t attr;
	void *lo;
	size_t bytes;
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &lo, &bytes);
	pthread_attr_destroy(&attr);
	stack = (struct unwind_stack){(uintptr_t)lo, (uintptr_t)lo + bytes, true, 0};
	unwind_init(&(struct unwind_config){.module_of = one_module});
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path),           cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_reuse_is_exact), cmocka_unit_test(test_proof_is_exact), cmocka_unit_test(test_proof_is_used), cmocka_unit_test(test_realigned),
		cmocka_unit_test(test_reuse_sees_another_call_site),
		cmocka_unit_test(test_flush),          cmocka_unit_test(test_skip),
		cmocka_unit_test(test_depth),          cmocka_unit_test(test_without_cfi),
		cmocka_unit_test(test_generated_code), cmocka_unit_test(test_generated_code_in_a_hole),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_stack_use),      cmocka_unit_test(test_other_thread),
	};
	return cmocka_run_group_tests_name("unwind", tests, set_up, NULL);
}
