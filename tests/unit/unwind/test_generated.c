/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/unwind/code/generated.c and of walks through what it finds: code without a
 * frame pointer in anonymous memory, at every instruction; code that is replaced, unmapped, or has
 * no way out.
 */
#include "tests/unit/unwind/unwind_fixture.h"

#include "hpcrun-lite/unwind/code/generated.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * As oneDNN's kernels: all registers are saved and used, the frame has a constant size, which is
 * the byte before small_frame. Calls its argument three times.
 */
__asm__(".text\n"
	"kernel: push %rbx\n push %rbp\n push %r12\n push %r13\n sub $40, %rsp\n"
	"small_frame: mov %rdi, %r12\n mov $3, %ebp\n lea 1(%rsp), %r13\n"
	"again: mov %r13, 8(%rsp)\n pxor %xmm0, %xmm0\n call *%r12\n"
	"after_call: mov 8(%rsp), %r13\n dec %ebp\n jne again\n"
	"at_end: xor %ebx, %ebx\n"
	"add $40, %rsp\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
	"kernel_end:\n"
	/* The stack is realigned, and the old stack pointer in a register that callees keep. */
	"aligned: push %rbp\n push %rbx\n mov %rsp, %rbx\n sub $256, %rsp\n and $-64, %rsp\n"
	"mov $1, %ebp\n call *%rdi\n mov %rbx, %rsp\n pop %rbx\n pop %rbp\n ret\n"
	"aligned_end:\n");
extern const uint8_t kernel[], small_frame[], again[], after_call[], at_end[], kernel_end[],
	aligned[], aligned_end[];

enum { REGION_BYTES = 16 * PAGE, TRAP_FLAG = 0x100 };
typedef void kernel_fn(void (*)(void));

static uint8_t *region;
static uint64_t region_from, region_to; /* of the code in it */

static kernel_fn *put_code(const uint8_t *code, const uint8_t *code_end)
{
	kernel_fn *function;
	memcpy(region, code, (size_t)(code_end - code));
	region_from = (uintptr_t)region;
	region_to = region_from + (uint64_t)(code_end - code);
	memcpy(&function, &region, sizeof function);
	return function;
}

static int map_region(void **state)
{
	region = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return region == MAP_FAILED ? -1 : set_up(state);
}

static unsigned count_generated(void)
{
	unsigned n = 0;
	for (unsigned i = 0; i < path.n; i++)
		n += path.addr[i] >= region_from && path.addr[i] < region_to;
	return n;
}

/* ---- walks ---- */

static struct {
	unsigned n, n_wrong, n_called;
	uint64_t first_wrong;
} steps;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	const uint64_t pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	(void)sig, (void)info;
	if (!steps.n_called && (pc < region_from || pc >= region_to))
		return;
	unwind_walk(thread, uc, &path);
	if (pc < region_from || pc >= region_to)
		return;
	steps.n++;
	if (path.end == UNWIND_ROOT && !path.heuristic && path.addr[0] == pc &&
	    count_generated() == 1 && count_tested() == 1)
		return;
	steps.first_wrong = steps.n_wrong++ ? steps.first_wrong : pc;
}

TESTED static void step_through(kernel_fn *function, void (*callback)(void))
{
	__asm__ volatile("pushfq; orl %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "memory", "cc");
	function(callback);
	__asm__ volatile("pushfq; andl %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "memory", "cc");
	sink++;
}

static void nothing(void)
{
	steps.n_called++;
}

static void step_kernel(const uint8_t *code, const uint8_t *code_end, unsigned n_least)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, old;
	memset(&steps, 0, sizeof steps);
	new_thread(MAX_DEPTH);
	kernel_fn *function = put_code(code, code_end);
	sigaction(SIGTRAP, &action, &old);
	step_through(function, nothing);
	sigaction(SIGTRAP, &old, NULL);
	if (steps.n_wrong)
		fail_msg("%u of %u paths wrong, first at %+ld", steps.n_wrong, steps.n,
			 (long)(steps.first_wrong - region_from));
	assert_in_range(steps.n, n_least, 1000);
}

static void every_instruction(void **state)
{
	(void)state;
	step_kernel(kernel, kernel_end, 30);
	step_kernel(aligned, aligned_end, 11);
}

static void walk_in_callback(void)
{
	walk_here();
	steps.n_called++;
	steps.n_wrong += path.end != UNWIND_ROOT || path.heuristic || count_generated() != 1 ||
			 count_tested() != 1;
}

TESTED static void call_kernel(kernel_fn *function)
{
	function(walk_in_callback);
	sink++;
}

/* The same instructions at the same place, but another size of the frame. */
static void replaced(void **state)
{
	(void)state;
	kernel_fn *function = put_code(kernel, kernel_end);
	uint8_t *sizes[] = {region + (small_frame - kernel) - 1, region + (at_end - kernel) + 5};
	assert_int_equal(*sizes[0], 40);
	assert_int_equal(*sizes[1], 40);
	new_thread(MAX_DEPTH);
	memset(&steps, 0, sizeof steps);
	for (unsigned i = 0; i < 8; i++) {
		*sizes[0] = *sizes[1] = i % 4 < 2 ? 40 : 104;
		call_kernel(function);
		assert_int_equal(steps.n_wrong, 0);
	}
	assert_int_equal(steps.n_called, 24);
}

/* ---- what is kept ---- */

static struct generated generated;
static struct leave_work work;

static bool in_no_module(void *arg, uint64_t pc)
{
	(void)arg, (void)pc;
	return false;
}

/* As one walk does. */
static bool find(const void *at, bool is_exact, struct leave *leave)
{
	static uint64_t walk;
	const struct generated_place place = {.walk = ++walk,
					      .pc = (uintptr_t)at,
					      .is_exact = is_exact,
					      .in_module = in_no_module};
	return generated_find(&generated, &place, &work, leave);
}

static void found_once(void **state)
{
	enum { SP = 7, FRAME_BYTES = 40 + 4 * 8 + 8 };
	struct leave leave;
	(void)state;
	put_code(kernel, kernel_end);
	memset(&generated, 0, sizeof generated);
	for (unsigned i = 0; i < 4; i++) {
		const uint8_t *at = i % 2 ? at_end : again;
		assert_true(find(region + (at - kernel), true, &leave));
		assert_int_equal(leave.cfa.reg, SP);
		assert_int_equal(leave.cfa.offset, FRAME_BYTES);
		assert_int_equal(leave.bp.at, 40 + 2 * 8);
	}
	/* bp changes nowhere between these two */
	assert_int_equal(generated.n_searches, 2);
	assert_true(find(region + (after_call - kernel), false, &leave));
	assert_true(find(region + (after_call - kernel), true, &leave));
	const uint64_t n = generated.n_searches;
	assert_true(find(region + (after_call - kernel), true, &leave));
	assert_int_equal(generated.n_searches, n);
	assert_true(find(region + (kernel_end - kernel) - 1, true, &leave));
	assert_int_equal(leave.cfa.offset, 8);
}

/* More than one system call reads; instructions lie across the end of what one has read. */
static void long_way(void **state)
{
	enum { INSN_BYTES = 7, N_INSNS = 3 * GENERATED_WINDOW_BYTES / INSN_BYTES };
	/* lea disp(%rax), %rcx; the bytes of disp would be add $8, %rsp */
	static const uint8_t insn[] = {0x48, 0x8d, 0x88, 0x48, 0x83, 0xc4, 0x08};
	struct leave leave;
	uint8_t *end = region + N_INSNS * INSN_BYTES;
	(void)state;
	for (uint8_t *at = region; at < end; at += INSN_BYTES)
		memcpy(at, insn, INSN_BYTES);
	memcpy(end, "\x58\xc3", 2); /* pop %rax; ret */
	memset(&generated, 0, sizeof generated);
	assert_true(find(region, true, &leave));
	assert_int_equal(leave.cfa.offset, 16);
	assert_true(find(region + 5 * INSN_BYTES, true, &leave));
	assert_int_equal(generated.n_searches, 1);
	memcpy(end, "\xc3\xc3", 2);
	assert_true(find(region + 5 * INSN_BYTES, true, &leave));
	assert_int_equal(leave.cfa.offset, 8);
}

static void unmapped(void **state)
{
	struct leave leave;
	(void)state;
	uint8_t *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(&generated, 0, sizeof generated);
	memcpy(pages + PAGE - 8, "\x58\x90\x90\x90\x90\x90\x90\x90", 8);
	pages[PAGE] = 0xc3;
	assert_true(find(pages + PAGE - 7, true, &leave));
	munmap(pages + PAGE, PAGE);
	assert_false(find(pages + PAGE - 7, true, &leave));
	assert_false(find(pages + PAGE - 8, true, &leave));
	munmap(pages, PAGE);
	assert_false(find(pages + PAGE - 7, true, &leave));
}

/*
 * A way that needs another register is good for one pc only. That of an interrupted instruction is
 * none for a return address, after which another function may begin.
 */
static void found_for_one(void **state)
{
	enum { CX = 2, BX = 3 };
	struct leave leave;
	(void)state;
	memset(&generated, 0, sizeof generated);
	/* mov %rbx, %rcx; xor %ebx, %ebx; mov %rcx, %rsp; ret */
	memcpy(region, "\x48\x89\xd9\x31\xdb\x48\x89\xcc\xc3", 9);
	assert_true(find(region, true, &leave));
	assert_int_equal(leave.cfa.reg, BX);
	assert_true(find(region + 3, true, &leave));
	assert_int_equal(leave.cfa.reg, CX);
	memcpy(region + 128, "\xf3\x0f\x1e\xfa\xc3", 5); /* endbr64; ret */
	assert_true(find(region + 128, true, &leave));
	assert_false(find(region + 128, false, &leave));
	assert_true(find(region + 128, true, &leave));
}

static bool above_region(void *arg, uint64_t pc)
{
	(void)arg;
	return pc >= (uintptr_t)region + PAGE;
}

/* Code of a module is not followed from here. */
static void into_a_module(void **state)
{
	struct leave leave;
	(void)state;
	memset(&generated, 0, sizeof generated);
	memcpy(region, "\xe9\xfb\x1f\0\0", 5); /* jmp region + 0x2000 */
	region[2 * PAGE] = 0xc3;
	struct generated_place place = {
		.walk = 1, .pc = (uintptr_t)region, .is_exact = true, .in_module = above_region};
	assert_false(generated_find(&generated, &place, &work, &leave));
	memset(&generated, 0, sizeof generated);
	place.in_module = in_no_module;
	assert_true(generated_find(&generated, &place, &work, &leave));
}

/* Branches to everywhere: the work is bounded, and done once. */
static void no_way_out(void **state)
{
	struct leave leave;
	(void)state;
	for (unsigned i = 0; i < REGION_BYTES; i += 8) {
		const int32_t to = (int32_t)(((i * 7919u) % REGION_BYTES) & ~7u) - (int32_t)i - 6;
		memcpy(region + i, "\x0f\x84\0\0\0\0\xff\xe0", 8); /* je ...; jmp *%rax */
		memcpy(region + i + 2, &to, sizeof to);
	}
	memset(&generated, 0, sizeof generated);
	assert_false(find(region, true, &leave));
	assert_in_range(generated.n_reads, 2, GENERATED_READS_MAX);
	const uint64_t n_reads = generated.n_reads;
	assert_false(find(region, true, &leave));
	assert_int_equal(generated.n_searches, 1);
	assert_int_equal(generated.n_reads, n_reads + 1);
	region[0] = 0xc3;
	assert_true(find(region, true, &leave));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction), cmocka_unit_test(replaced),
		cmocka_unit_test(found_once),        cmocka_unit_test(long_way),
		cmocka_unit_test(unmapped),          cmocka_unit_test(found_for_one),
		cmocka_unit_test(into_a_module),     cmocka_unit_test(no_way_out),
	};
	return cmocka_run_group_tests(tests, map_region, NULL);
}
