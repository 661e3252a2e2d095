/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The every-instruction check: runs the cases of unwind_code.c and unwind_code_cxx.cc with the trap
 * flag set and compares, in the SIGTRAP handler after each single instruction, our path (with and
 * without reuse of the previous one) with the truth: the return addresses that the call
 * instructions seen so far have pushed and that are not yet below the stack pointer. Where ours
 * differs from the truth it must be libunwind's (unw_step), or be explained by is_leaving(). Prints
 * the number of instructions, of distinct pcs, and every difference. Exit status 1 if there is one.
 *
 * With --bare the C code has no tables. libunwind cannot judge then. A path may be marked or cut
 * off, in one step of 33.
 */
#define UNW_LOCAL_ONLY
#include "tests/workload/unwind/unwind_steps.h"
#include "common/safe/find_object.h"
#include "hpcrun-lite/unwind/unwind_image.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <libunwind.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libunwind's functions by name, as linking it would put its _Unwind_* in front of libgcc's. */
static int (*init_local)(unw_cursor_t *, unw_context_t *, int);
static int (*get_reg)(unw_cursor_t *, unw_regnum_t, unw_word_t *);
static int (*is_signal_frame)(unw_cursor_t *);
static int (*step)(unw_cursor_t *);

static int find_libunwind(void)
{
	void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return -1;
	*(void **)&init_local = dlsym(library, "_ULx86_64_init_local2");
	*(void **)&get_reg = dlsym(library, "_ULx86_64_get_reg");
	*(void **)&is_signal_frame = dlsym(library, "_ULx86_64_is_signal_frame");
	*(void **)&step = dlsym(library, "_ULx86_64_step");
	return init_local && get_reg && is_signal_frame && step ? 0 : -1;
}

enum {
	MAX_DEPTH = 512,
	MAX_STACKS = 8,
	PC_SET = 1 << 20,
	MAX_REPORTS = 12,
	TRAP_FLAG = 0x100,
	STACK_BYTES = 8 << 20
};

/* A return address that a call pushed; `exact`: the pc of a frame that a signal interrupted. */
struct pushed {
	uint64_t slot, pc;
	bool exact;
};

struct shadow {
	uint64_t lo, hi;
	bool linked;
	unsigned n;
	struct pushed pushed[MAX_DEPTH];
};

static struct {
	struct unwind_thread *reusing, *fresh;
	struct shadow stacks[MAX_STACKS]; /* 0: the main stack */
	unsigned n_stacks;
	uint64_t base[MAX_DEPTH]; /* callers of run_case, as looked up */
	unsigned n_base;
	bool have_base;
	uint64_t previous_pc, previous_sp;
	const struct steps_case *now;
	bool is_bare;
	uint64_t steps, distinct, as_truth, leaving, truncated, cut,
		marked_wrong, agreed, marked, marked_in_loader,
		differences, reuse_differs, unsure;
	uint64_t pcs[PC_SET];
} judge;

struct path {
	uint64_t pc[MAX_DEPTH];
	unsigned n;
};

static struct path truth, library, ours;

void steps_add_stack(const void *lo, size_t n_bytes, int linked)
{
	struct shadow *s = &judge.stacks[judge.n_stacks++];
	*s = (struct shadow){.lo = (uint64_t)lo, .hi = (uint64_t)lo + n_bytes, .linked = linked};
}

static struct shadow *stack_of(uint64_t sp)
{
	for (unsigned i = judge.n_stacks; i-- > 1;)
		if (sp >= judge.stacks[i].lo && sp < judge.stacks[i].hi)
			return &judge.stacks[i];
	return &judge.stacks[0];
}

static void push(struct shadow *s, uint64_t slot, uint64_t pc, bool exact)
{
	if (s->n == MAX_DEPTH)
		abort();
	s->pushed[s->n++] = (struct pushed){slot, pc, exact};
}

void steps_unloading(int begins)
{
	if (begins)
		unwind_flush_begin();
	else
		unwind_flush_end();
}

void steps_in_handler(const ucontext_t *interrupted)
{
	/* The kernel put the restorer's address below the context. */
	const uint64_t slot = (uint64_t)interrupted - 8;
	struct shadow *s = stack_of(slot);
	push(s, slot, (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP], true);
	push(s, slot, *(const uint64_t *)slot, false);
}

static bool is_call(const uint8_t *code)
{
	while ((*code & 0xf0) == 0x40 || *code == 0x66 || *code == 0x67 || *code == 0xf2 ||
	       *code == 0x3e || *code == 0x64 || *code == 0x65)
		code++;
	return *code == 0xe8 || (*code == 0xff && (code[1] >> 3 & 7) == 2);
}

/* Follows the instruction that has just been executed. */
static struct shadow *follow(uint64_t pc, uint64_t sp)
{
	struct shadow *s = stack_of(sp);
	while (s->n && s->pushed[s->n - 1].slot < sp)
		s->n--;
	if (s == judge.stacks) /* back from a signal stack */
		for (unsigned i = 1; i < judge.n_stacks; i++)
			if (judge.stacks[i].linked)
				judge.stacks[i].n = 0;
	if (judge.previous_pc && sp == judge.previous_sp - 8 &&
	    is_call((const uint8_t *)judge.previous_pc))
		push(s, sp, *(const uint64_t *)sp, false);
	else if (s != judge.stacks && !s->linked &&
		 s->n == 0) /* a coroutine starts: makecontext has laid out its first frame */
		push(s, sp, *(const uint64_t *)sp, true);
	judge.previous_pc = pc;
	judge.previous_sp = sp;
	return s;
}

static void add_shadow(struct path *p, const struct shadow *s)
{
	for (unsigned i = s->n; i-- > 0;)
		p->pc[p->n++] = s->pushed[i].pc - !s->pushed[i].exact;
}

static void true_path(uint64_t pc, const struct shadow *s)
{
	truth.n = 0;
	truth.pc[truth.n++] = pc;
	add_shadow(&truth, s);
	if (s->linked)
		add_shadow(&truth, judge.stacks);
	if (s == judge.stacks || s->linked)
		for (unsigned i = 0; i < judge.n_base; i++)
			truth.pc[truth.n++] = judge.base[i];
}

static void library_path(ucontext_t *context)
{
	unw_cursor_t cursor;
	unw_word_t pc;
	library.n = 0;
	if (init_local(&cursor, context, UNW_INIT_SIGNAL_FRAME) != 0)
		return;
	do {
		if (get_reg(&cursor, UNW_REG_IP, &pc) != 0 || pc == 0)
			break;
		/* It says so of the frame that a signal interrupted, not of the restorer. */
		const bool exact = library.n == 0 || is_signal_frame(&cursor) > 0;
		library.pc[library.n++] = pc - !exact;
	} while (library.n < MAX_DEPTH && step(&cursor) > 0);
}

static void our_path(struct unwind_thread *t, const ucontext_t *context, struct path *p,
		     struct unwind_path *out)
{
	unwind_walk(t, context, out);
	p->n = out->n;
	for (unsigned i = 0; i < out->n; i++)
		p->pc[i] = out->addr[i] & UNWIND_ADDR_LINK_MASK;
}

static bool same(const struct path *a, const struct path *b)
{
	return a->n == b->n && memcmp(a->pc, b->pc, a->n * sizeof *a->pc) == 0;
}

static void print_path(const char *whose, const struct path *p)
{
	printf("#   %-9s", whose);
	for (unsigned i = 0; i < p->n && i < 12; i++)
		printf(" %lx", (unsigned long)p->pc[i]);
	printf(" (%u)\n", p->n);
}

static const char *object_of(uint64_t pc)
{
	struct dl_find_object object;
	return find_object((void *)pc, &object) == 0 ? object.dlfo_link_map->l_name : "?";
}

static void report(const char *what, const struct unwind_path *out)
{
	if (judge.differences + judge.reuse_differs > MAX_REPORTS)
		return;
	printf("# %s: %s at %lx %s, end: %s\n", judge.now->name, what, (unsigned long)ours.pc[0],
	       object_of(ours.pc[0]), unwind_end_name(out->end));
	print_path("truth", &truth);
	print_path("ours", &ours);
	print_path("libunwind", &library);
}

static void note_pc(uint64_t pc)
{
	uint64_t i = pc * UINT64_C(0x9e3779b97f4a7c15) >> 44;
	while (judge.pcs[i] && judge.pcs[i] != pc)
		i = (i + 1) % PC_SET;
	judge.distinct += judge.pcs[i] == 0;
	judge.pcs[i] = pc;
}

static uint64_t function_of(uint64_t pc)
{
	static struct cfi_work work;
	struct image image;
	struct cfi_frame frame;
	return image_find(pc, false, &image) && cfi_lookup(&image.cfi, pc, &work, &frame) == CFI_OK
		       ? frame.pc_lo
		       : 0;
}

/*
 * In the last instructions of longjmp, _Unwind_RaiseException and the like the CFI names as caller
 * the place that is about to be jumped to. Then our path is the leaf in such a library, that place,
 * and the true callers of its function.
 */
static bool is_leaving(void)
{
	if (ours.n < 2 || object_of(ours.pc[0]) == object_of(ours.pc[1]))
		return false;
	if (ours.n == truth.n + 1) /* sp is already that of the place */
		return memcmp(truth.pc + 1, ours.pc + 2, (ours.n - 2) * sizeof *truth.pc) == 0;
	if (ours.n > truth.n)
		return false;
	const uint64_t *rest = truth.pc + truth.n - ours.n;
	return memcmp(rest + 2, ours.pc + 2, (ours.n - 2) * sizeof *rest) == 0 &&
	       function_of(rest[1]) == function_of(ours.pc[1]) &&
	       (judge.is_bare || function_of(rest[1]));
}

/*
 * glibc's swapcontext and setcontext do not describe the instructions between the change of the
 * stack pointer and the return. Nobody can follow them by CFI; ours must be libunwind's, or marked,
 * or end there with nothing wrong in it, which is counted.
 */
static bool in_switch(void)
{
	const uint64_t function = function_of(ours.pc[0]);
	return function == function_of((uint64_t)swapcontext) ||
	       function == function_of((uint64_t)setcontext);
}

static bool is_switching(const struct unwind_path *out)
{
	return in_switch() && (same(&ours, &library) || out->heuristic);
}

/* A coroutine that has returned into __start_context, which has no CFI at all: what is found above
 * it must be marked, or not be called the root. */
static bool is_finished_coroutine(const struct shadow *s, const struct unwind_path *out)
{
	return s != judge.stacks && !s->linked && s->n <= 2 &&
	       (out->heuristic || out->end != UNWIND_ROOT ||
		function_of(ours.pc[0]) == function_of((uint64_t)setcontext));
}

/* libgcc overwrites the registers that it has saved itself, see UNWIND_THROWING: the path is marked
 * from there on. */
static bool in_throw(void)
{
	return strstr(object_of(ours.pc[0]), "libgcc_s") ||
	       strstr(object_of(ours.pc[1]), "libgcc_s");
}

static bool is_beginning_of_truth(void)
{
	return ours.n <= truth.n && memcmp(ours.pc, truth.pc, ours.n * sizeof *ours.pc) == 0;
}

/* libunwind takes most of the time, so it is asked only about paths that are not the truth. */
static void judge_paths(const struct shadow *s, ucontext_t *context, const struct unwind_path *out)
{
	const bool true_to_life = same(&ours, &truth);
	judge.as_truth += true_to_life;
	judge.marked += out->heuristic;
	judge.marked_in_loader += judge.now->in_loader && out->heuristic;
	library.n = 0;
	if (true_to_life)
		return;
	if (!judge.now->in_loader)
		library_path(context);
	if (out->end == UNWIND_THROWING && is_beginning_of_truth()) {
		judge.truncated++;
		return;
	}
	if (out->end != UNWIND_ROOT && in_switch() && is_beginning_of_truth()) {
		judge.cut++;
		return;
	}
	if (judge.is_bare &&
	    (out->heuristic || (out->end != UNWIND_ROOT && is_beginning_of_truth()))) {
		judge.unsure++;
		return;
	}
	if (is_leaving() || is_switching(out) || is_finished_coroutine(s, out))
		judge.leaving++;
	else if (out->heuristic && in_throw())
		judge.marked_wrong++;
	else if (!same(&ours, &library)) {
		judge.differences++;
		report("wrong path", out);
	} else
		judge.agreed++;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	static struct path again;
	struct unwind_path out, out_fresh;
	ucontext_t *uc = context;
	if (info->si_code == SI_KERNEL)
		uc->uc_mcontext.gregs[REG_EFL] ^= TRAP_FLAG;
	if (!(uc->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG))
		return;
	const uint64_t pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP],
		       sp = (uint64_t)uc->uc_mcontext.gregs[REG_RSP];
	our_path(judge.reusing, uc, &ours, &out);
	if (!judge.have_base) {
		judge.n_base = ours.n - 1;
		memcpy(judge.base, ours.pc + 1, judge.n_base * sizeof *judge.base);
		judge.have_base = true;
	}
	const struct shadow *s = follow(pc, sp);
	true_path(pc, s);
	judge.steps++;
	note_pc(pc);
	judge_paths(s, uc, &out);
	/* Without a previous path: give it a walk of its own after a change of generation would be
	 * slow; a fresh thread state does. */
	const struct unwind_stack stack = {.lo = judge.stacks[0].lo, .hi = judge.stacks[0].hi};
	memset(judge.fresh, 0, 4096);
	unwind_thread_init(judge.fresh, MAX_DEPTH, &stack);
	our_path(judge.fresh, uc, &again, &out_fresh);
	if (!same(&again, &ours) || out.end != out_fresh.end) {
		judge.reuse_differs++;
		report("reuse differs from a fresh walk", &out);
	}
}

static __attribute__((noinline)) void run_case(void (*run)(void))
{
	judge.have_base = false;
	judge.previous_pc = 0;
	for (unsigned i = 0; i < judge.n_stacks; i++)
		judge.stacks[i].n = 0;
	STEPS_TOGGLE();
	run();
	STEPS_TOGGLE();
}

static void run_cases(const struct steps_case *c, const char *only)
{
	for (; c->name; c++) {
		const uint64_t before = judge.steps;
		if (only && strcmp(only, c->name) != 0)
			continue;
		judge.now = c;
		run_case(c->run);
		printf("# %-20s %8lu instructions\n", c->name,
		       (unsigned long)(judge.steps - before));
	}
}

static uintptr_t stack_top(void)
{
	char line[512];
	unsigned long lo, hi = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof line, maps))
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &lo, &hi) == 2)
			break;
	if (maps)
		fclose(maps);
	return hi;
}

/* The pc itself as link address: the paths are compared as addresses. */
static uint16_t one_module(const struct dl_find_object *object, uintptr_t *bias)
{
	(void)object;
	*bias = 0;
	return 1;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (find_libunwind() != 0) {
		printf("# no libunwind.so.8\n");
		return 77;
	}
	find_object_all_stay();
	const uintptr_t top = stack_top();
	const struct unwind_stack stack = {top - STACK_BYTES, top, true, 0};
	unwind_init(&(struct unwind_config){.module_of = one_module});
	judge.reusing =
		unwind_thread_init(calloc(1, unwind_thread_bytes(MAX_DEPTH)), MAX_DEPTH, &stack);
	judge.fresh = calloc(1, unwind_thread_bytes(MAX_DEPTH));
	judge.stacks[0] = (struct shadow){.lo = stack.lo, .hi = stack.hi};
	judge.n_stacks = 1;
	const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	sigaction(SIGTRAP, &action, NULL);
	if (argc > 1 && !strcmp(argv[1], "--bare")) {
		judge.is_bare = true;
		argc--;
		argv++;
	}
	run_cases(code_cases, argc > 1 ? argv[1] : NULL);
	run_cases(code_cxx_cases, argc > 1 ? argv[1] : NULL);
	const struct unwind_counts *counts = unwind_counts(judge.reusing);
	printf("# %lu instructions, %lu distinct pcs; as the truth %lu, at a non-local exit %lu, "
	       "truncated but true %lu, wrong "
	       "but marked %lu, as "
	       "libunwind alone %lu; marked %lu\n",
	       (unsigned long)judge.steps, (unsigned long)judge.distinct,
	       (unsigned long)judge.as_truth, (unsigned long)judge.leaving,
	       (unsigned long)judge.truncated, (unsigned long)judge.marked_wrong,
	       (unsigned long)judge.agreed, (unsigned long)judge.marked);
	printf("# reused %lu of %lu frames; slow %lu\n", (unsigned long)counts->frames_reused,
	       (unsigned long)(counts->frames_reused + counts->frames_walked),
	       (unsigned long)counts->slow_frames);
	printf("# wrong paths: %lu; reuse differs: %lu\n", (unsigned long)judge.differences,
	       (unsigned long)judge.reuse_differs);
	printf("# cut off in swapcontext: %lu; without tables, cut off or marked: %lu; "
	       "in dlopen and dlclose, marked: %lu\n",
	       (unsigned long)judge.cut, (unsigned long)judge.unsure,
	       (unsigned long)judge.marked_in_loader);
	/*
	 * Paths are cut off, or wrong and marked, in the C++ run time's last steps before a landing
	 * pad, which are some more in libgcc 14; cut off elsewhere in the few instructions of
	 * swapcontext that its CFI does not describe. crtbegin.o's functions, which dlopen and
	 * dlclose call, have no tables, but are followed to their return.
	 */
	enum { SOME = 33, FEW = 50, RARE = 500, VERY_FEW = 1000 };
	return judge.differences || judge.reuse_differs || judge.steps == 0 ||
	       judge.truncated > judge.steps / FEW || judge.marked_wrong > judge.steps / FEW ||
	       judge.leaving > judge.steps / RARE || judge.cut > judge.steps / VERY_FEW ||
	       judge.unsure > judge.steps / SOME || judge.marked_in_loader;
}
