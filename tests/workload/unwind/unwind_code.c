/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions with interesting frames, stepped through instruction by instruction by unwind_steps.c.
 * Compiled by tests/cli/unwind/unwind_steps.sh with many compilers and options; nothing here may
 * depend on one of them.
 */
#include "tests/workload/unwind/unwind_steps.h"

#include <alloca.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile unsigned sink;
static const char *library_path_arg;

NOINLINE static unsigned leaf(unsigned x)
{
	return x * 2654435761U >> 3;
}

/* All callee-saved registers in use. */
NOINLINE static unsigned many_registers(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e,
					unsigned f, unsigned g, unsigned h)
{
	unsigned v = 0;
	for (unsigned i = 0; i < 3; i++) {
		v += leaf(a + i) ^ leaf(b + v) ^ leaf(c) ^ leaf(d + i);
		a += e, b ^= f, c += g, d -= h;
	}
	return v + a + b + c + d + e + f + g + h;
}

NOINLINE static unsigned fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

NOINLINE static unsigned odd(unsigned n);
NOINLINE static unsigned even(unsigned n)
{
	sink = n;
	return n == 0 ? 1 : odd(n - 1); /* a tail call with optimisation */
}
NOINLINE static unsigned odd(unsigned n)
{
	sink = n + 1;
	return n == 0 ? 0 : even(n - 1);
}

NOINLINE static unsigned with_alloca(unsigned n)
{
	char *p = alloca(n);
	memset(p, (int)n, n);
	return leaf((unsigned)p[n / 2]);
}

/* Realigned: the CFA lives in a register or in memory while the frame is built. */
NOINLINE static unsigned aligned_locals(unsigned n)
{
	unsigned v[32] __attribute__((aligned(64)));
	for (unsigned i = 0; i < 32; i++)
		v[i] = i * n;
	return leaf(v[n % 32]) + (unsigned)((uintptr_t)v & 63);
}

NOINLINE static unsigned aligned_with_alloca(unsigned n, ...)
{
	unsigned v[16] __attribute__((aligned(128)));
	va_list more;
	va_start(more, n);
	unsigned *p = alloca(n * sizeof *p);
	for (unsigned i = 0; i < 16 && i < n; i++)
		p[i] = v[i] = va_arg(more, unsigned);
	va_end(more);
	return leaf(v[1]) + leaf(p[2]) +
	       many_registers(p[0], v[0], 1, 2, 3, 4, 5, (unsigned)((uintptr_t)v & 127));
}

typedef double v4d __attribute__((vector_size(32)));

__attribute__((target("avx2"))) NOINLINE static double vectors(const double *x, unsigned n)
{
	v4d sum = {0, 0, 0, 0}, keep[4];
	for (unsigned i = 0; i + 4 <= n; i += 4) {
		v4d v;
		memcpy(&v, x + i, sizeof v);
		sum += v * v;
		keep[i / 4 % 4] = sum;
		sink = leaf(i);
	}
	return sum[0] + sum[1] + sum[2] + sum[3] + keep[0][1];
}

NOINLINE static unsigned big_frame(unsigned n)
{
	char v[20000];
	memset(v, 1, sizeof v);
	v[n] = (char)n;
	return leaf((unsigned)v[n / 2] + (unsigned)v[n]);
}

NOINLINE static unsigned early_return(const unsigned *p, unsigned n)
{
	if (!p)
		return n;
	unsigned v = leaf(*p);
	for (unsigned i = 0; i < n; i++)
		v += many_registers(v, i, 1, 2, 3, 4, 5, 6);
	return v;
}

NOINLINE static unsigned jump_table(unsigned n)
{
	switch (n) {
	case 0: return leaf(1);
	case 1: return leaf(7) + 1;
	case 2: return leaf(8) ^ 2;
	case 3: return fibonacci(2);
	case 4: return with_alloca(40);
	case 5: return leaf(n) * 3;
	default: return n;
	}
}

static void run_plain(void)
{
	unsigned x = 3;
	sink = many_registers(1, 2, 3, 4, 5, 6, 7, 8);
	sink = with_alloca(100) + with_alloca(17);
	sink = big_frame(300);
	sink = early_return(NULL, 3) + early_return(&x, 2);
	for (unsigned i = 0; i < 7; i++)
		sink = jump_table(i);
}

static void run_recursion(void)
{
	sink = fibonacci(9);
	sink = even(10);
}

static void run_aligned(void)
{
	sink = aligned_locals(5);
	sink = aligned_with_alloca(5, 1, 2, 3, 4, 5);
}

static void run_vectors(void)
{
	double x[40];
	for (unsigned i = 0; i < 40; i++)
		x[i] = i;
	if (__builtin_cpu_supports("avx2"))
		sink = (unsigned)vectors(x, 40);
}

static int compare(const void *a, const void *b)
{
	const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	sink = leaf(x);
	return x < y ? -1 : x > y;
}

static void run_callback(void)
{
	unsigned v[40], key = 17;
	for (unsigned i = 0; i < 40; i++)
		v[i] = i * 7 % 40;
	qsort(v, 40, sizeof *v, compare);
	sink = bsearch(&key, v, 40, sizeof *v, compare) != NULL;
}

static jmp_buf jump;

NOINLINE __attribute__((noreturn)) static void leave(unsigned n)
{
	sink = n;
	longjmp(jump, 1);
}

NOINLINE static unsigned deep_then_leave(unsigned n)
{
	if (n == 0)
		leave(n); /* the last instruction of this path is the call */
	if (n > 1000)
		return n; /* never */
	return deep_then_leave(n - 1) + n;
}

static void run_longjmp(void)
{
	for (volatile unsigned i = 0; i < 3; i++)
		if (setjmp(jump) == 0)
			sink = deep_then_leave(4 + i);
	if (sigsetjmp(jump, 1) == 0)
		deep_then_leave(2);
}

/* The first call of each goes through the lazy binder. */
static void run_libc(void)
{
	char text[128];
	struct timespec now;
	snprintf(text, sizeof text, "%d %g %s %x", 42, 3.25, "text", 77U);
	sink = (unsigned)strtoul(text, NULL, 10) + (unsigned)strlen(text);
	char *copy = strdup(text);
	sink = (unsigned)copy[0];
	free(copy);
	clock_gettime(CLOCK_MONOTONIC, &now);
	sink = (unsigned)now.tv_nsec + (unsigned)time(NULL) + (unsigned)getppid();
	void *big = malloc(300000);
	memset(big, 0, 3000);
	free(big);
	strtok(text, " ");
	sink = (unsigned)atoi("17") + (unsigned)abs(-3);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)info;
	steps_in_handler(context);
	STEPS_TOGGLE();
	sink = leaf((unsigned)sig) + fibonacci(3);
	qsort((unsigned[]){3, 1, 2}, 3, sizeof(unsigned), compare);
	STEPS_TOGGLE();
}

static void send_signal(int flags)
{
	const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};
	sigaction(SIGUSR1, &action, NULL);
	kill(getpid(), SIGUSR1);
	sink = leaf(sink);
}

NOINLINE static unsigned signal_in_depth(unsigned n, int flags)
{
	if (n > 0)
		return signal_in_depth(n - 1, flags) + 1;
	send_signal(flags);
	return 1;
}

static void run_signal(void)
{
	sink = signal_in_depth(3, 0);
}

static void run_signal_stack(void)
{
	static char memory[1 << 17];
	static int told;
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
	if (!told++)
		steps_add_stack(memory, sizeof memory, 1);
	sigaltstack(&stack, NULL);
	sink = signal_in_depth(3, SA_ONSTACK);
	sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
}

static ucontext_t main_context, coroutine_context;

static void coroutine(void)
{
	for (unsigned i = 0; i < 3; i++) {
		sink = fibonacci(3);
		swapcontext(&coroutine_context, &main_context);
	}
}

static void run_coroutine(void)
{
	static char memory[1 << 17];
	static int told;
	if (!told++)
		steps_add_stack(memory, sizeof memory, 0);
	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = memory;
	coroutine_context.uc_stack.ss_size = sizeof memory;
	coroutine_context.uc_link = &main_context;
	makecontext(&coroutine_context, coroutine, 0);
	for (unsigned i = 0; i < 4; i++) {
		swapcontext(&main_context, &coroutine_context);
		sink = leaf(i);
	}
}

/* The path of a small shared library in the environment: opened, called through its own PLT,
 * closed. */
static void run_dlopen(void)
{
	void *library = library_path_arg ? dlopen(library_path_arg, RTLD_LAZY) : NULL;
	if (!library)
		return;
	unsigned (*entry)(unsigned, unsigned (*)(unsigned)) =
		(unsigned (*)(unsigned, unsigned (*)(unsigned)))dlsym(library, "plugin_entry");
	if (entry)
		sink = entry(3, leaf);
	steps_unloading(1);
	dlclose(library);
	steps_unloading(0);
}

__attribute__((constructor)) static void find_library(void)
{
	library_path_arg = getenv("UNWIND_PLUGIN");
}

const struct steps_case code_cases[] = {
	{"plain", run_plain, 0},
	{"recursion", run_recursion, 0},
	{"aligned", run_aligned, 0},
	{"vectors", run_vectors, 0},
	{"callback", run_callback, 0},
	{"longjmp", run_longjmp, 0},
	{"libc", run_libc, 0},
	{"signal", run_signal, 0},
	{"signal_stack", run_signal_stack, 0},
	{"coroutine", run_coroutine, 0},
	{"dlopen", run_dlopen, 1},
	{NULL, NULL, 0},
};
