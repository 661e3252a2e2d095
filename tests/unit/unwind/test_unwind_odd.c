/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/unwind as a whole where not all is as compilers make it: code without CFI,
 * generated code, garbage, the stack and errno of a handler, another thread's stack. */
#include "common/safe/find_object.h"
#include "tests/unit/unwind/unwind_fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Assembler without CFI: calls its argument with two registers pushed, with a frame pointer, and
 * not at all. It returns, or it leaves by a jump, which cannot be followed.
 */
__asm__(".pushsection tested, \"ax\", @progbits\n"
	"without_cfi_pushes: push %rbx\n push %r12\n sub $24, %rsp\n call *%rdi\n add $24, %rsp\n "
	"pop %r12\n pop %rbx\n ret\n"
	"without_cfi_frame: push %rbp\n mov %rsp, %rbp\n sub $3008, %rsp\n call *%rdi\n leave\n "
	"ret\n"
	"jumping_pushes: push %rbx\n push %r12\n sub $24, %rsp\n call *%rdi\n add $24, %rsp\n "
	"pop %r12\n pop %rbx\n pop %rcx\n jmp *%rcx\n"
	"jumping_frame: push %rbp\n mov %rsp, %rbp\n sub $3008, %rsp\n call *%rdi\n leave\n "
	"pop %rcx\n jmp *%rcx\n"
	"without_cfi_leaf: ud2\n ret\n"
	"wrong_cfi_leaf:\n .cfi_startproc\n push $1\n push $2\n push $3\n push $4\n push $5\n "
	"ud2\n add $40, %rsp\n ret\n "
	".cfi_endproc\n"
	".popsection\n");
void without_cfi_pushes(void (*f)(void));
void without_cfi_frame(void (*f)(void));
void jumping_pushes(void (*f)(void));
void jumping_frame(void (*f)(void));
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
	sigaction(SIGILL, &(struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO},
		  NULL);
	for (unsigned i = 0; i < 2; i++) {
		call_with(without_cfi_frame);
		assert_int_equal(path.end, UNWIND_ROOT);
		assert_true(is_marked(0));
		assert_int_equal(count_tested(), 2);
		call_with(without_cfi_pushes);
		assert_int_equal(path.end, UNWIND_ROOT);
		assert_true(is_marked(0));
		assert_int_equal(count_tested(), 2);
		call_with(jumping_frame);
		assert_int_equal(path.end, UNWIND_ROOT);
		assert_true(is_marked(1));
		assert_int_equal(count_tested(), 2);
		call_with(jumping_pushes); /* what rbp holds here is the compiler's business: a
						  frame may be missed, but not silently */
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

/* push rbp; mov rbp, rsp; call *rdi; pop rbp; ret, in memory that no module owns: in a page that is
 * mapped at `place`, or anywhere. */
static void generate(void *place)
{
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	uint8_t *p = mmap(place, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0), -1, 0);
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
			found |= path.addr[k] == (uint64_t)p + 5; /* module 0 */
		assert_true(found);
		assert_true(is_marked(
			0)); /* it keeps the frame pointer, and no return address lies below */
	}
	munmap(p, PAGE);
}

static void test_generated_code(void **state)
{
	(void)state;
	generate(NULL);
}

/* Between two walks code is replaced by other code: nothing of the old one is believed. */
static void test_generated_code_replaced(void **state)
{
	(void)state;
	static const uint8_t codes[][12] = {
		{0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3},
		{0x55, 0x48, 0x89, 0xe5, 0x90, 0x41, 0x90, 0xff, 0xd7, 0x5d, 0xc3},
	};
	static const unsigned return_at[] = {6, 9};
	uint8_t *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*generated)(void (*)(void));
	assert_ptr_not_equal(p, MAP_FAILED);
	memcpy(&generated, &p, sizeof generated);
	new_thread(MAX_DEPTH);
	for (unsigned i = 0; i < 8; i++) {
		bool found = false;
		memcpy(p, codes[i / 2 % 2], sizeof codes[0]);
		call_with(generated);
		for (unsigned k = 0; k < path.n; k++)
			found |= path.addr[k] == (uint64_t)p + return_at[i / 2 % 2] - 1;
		assert_true(found);
		assert_int_equal(path.end, UNWIND_ROOT);
		assert_int_equal(count_tested(), 1);
		assert_true(is_marked(0));
	}
	munmap(p, PAGE);
}

typedef void call_fn(void (*)(void));

/* needs: libunwind_frames libunwind_swapped */
static void *load_library(const char *base, call_fn **with_tables, call_fn **without)
{
	char name[4096];
	const char *top = getenv("top_builddir");
	snprintf(name, sizeof name, "%s/tests/unit/unwind/.libs/libunwind_%s.so", top ? top : ".",
		 base);
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fail_msg("%s", dlerror());
	*(void **)with_tables = dlsym(library, "call_from_long_fde");
	*(void **)without = dlsym(library, "call_without_tables");
	assert_true(*with_tables && *without);
	return library;
}

/* .eh_frame in another segment than its header, and an FDE of more than CFI_COPY_BYTES. */
static void test_frames_elsewhere(void **state)
{
	(void)state;
	call_fn *with_tables, *without;
	void *library = load_library("frames", &with_tables, &without);
	struct image image;
	new_thread(MAX_DEPTH);
	assert_true(image_find((uintptr_t)with_tables, false, &image));
#ifndef __clang__
	assert_true(image.cfi.frames_lo > image.cfi.hi || image.cfi.frames_hi < image.cfi.lo);
#endif
	for (unsigned i = 0; i < 2; i++) {
		call_with(with_tables);
		assert_int_equal(path.end, UNWIND_ROOT);
		assert_int_equal(count_tested(), 1);
		assert_true(is_marked(0));
	}
	unwind_flush_begin();
	dlclose(library);
	unwind_flush_end();
}

static unsigned count_extents(uintptr_t pc, bool is_function)
{
	unsigned n = 0;
	for (unsigned i = 0; i < thread->n_extents && i < EXTENTS; i++)
		n += pc >= thread->extents[i].lo && pc < thread->extents[i].hi &&
		     thread->extents[i].is_function == is_function;
	return n;
}

/* One library is closed, and another one opened that has other code at the same addresses. */
static void test_extents(void **state)
{
	(void)state;
	call_fn *with_tables[2], *without[2];
	void *library = load_library("frames", &with_tables[0], &without[0]);
	new_thread(MAX_DEPTH);
	call_with(without[0]);
	const uint32_t n = thread->n_extents;
	assert_int_equal(count_extents((uintptr_t)without[0], false), 1);
	thread->n_records = 0; /* the same walk again, not from the previous path */
	call_with(without[0]);
	assert_int_equal(thread->n_extents, n);
	assert_int_equal(path.end, UNWIND_ROOT);
	assert_true(is_marked(0));
	unwind_flush_begin();
	dlclose(library);
	unwind_flush_end();
	library = load_library("swapped", &with_tables[1], &without[1]);
	if (with_tables[1] != without[0] && without[1] != with_tables[0])
		print_message("# the library lies elsewhere now\n");
	call_with(without[1]);
	assert_int_equal(count_extents((uintptr_t)without[1], false), 1);
	assert_int_equal(count_extents((uintptr_t)with_tables[1], false), 0);
	assert_int_equal(path.end, UNWIND_ROOT);
	assert_int_equal(count_tested(), 1);
	assert_true(is_marked(0));
	unwind_flush_begin();
	dlclose(library);
	unwind_flush_end();
}

/* Between two segments of a library, where its range holds somebody else's page. */
static void test_generated_code_in_a_hole(void **state)
{
	char name[4096];
	struct dl_find_object object;
	(void)state;
	const char *top = getenv("top_builddir");
	snprintf(name, sizeof name, "%s/tests/unit/unwind/.libs/libunwind_hole.so",
		 top ? top : ".");
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fail_msg("%s", dlerror());
	char *function =
		dlsym(library,
		      "function_before_a_hole"); /* the only page of its segment, and of 64 KiB */
	assert_non_null(function);
	char *hole = (char *)((uintptr_t)function / PAGE * PAGE) + 4 * PAGE;
	assert_int_equal(find_object(hole, &object), 0);
	generate(hole);
	dlclose(library);
}

/* Whatever the registers hold, a walk comes back with a cause. */
static void test_garbage(void **state)
{
	(void)state;
	uint64_t seed = 42, area[128];
	new_thread(MAX_DEPTH);
	uint8_t *edge =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

/* A program may have given 8 KiB for all its handlers; the kernel takes up to 3.6 of them
 * (AVX-512). Cold and warm, with slow frames and without recipes. */
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
	sigaction(SIGUSR1,
		  &(struct sigaction){.sa_sigaction = on_signal_where,
				      .sa_flags = SA_SIGINFO | SA_ONSTACK},
		  NULL);
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
	const struct unwind_stack mine = own_stack(false);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_cfi),
		cmocka_unit_test(test_generated_code),
		cmocka_unit_test(test_generated_code_in_a_hole),
		cmocka_unit_test(test_generated_code_replaced),
		cmocka_unit_test(test_frames_elsewhere),
		cmocka_unit_test(test_extents),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_stack_use),
		cmocka_unit_test(test_other_thread),
	};
	return cmocka_run_group_tests_name("unwind", tests, set_up, NULL);
}
