/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes in states that compiled code does not expect. Prints what it found; the status is 3.
 *
 *	sacred_state align            x86-64: the alignment check flag (EFLAGS.AC) is set
 *	sacred_state base             another thread pointer (FS base), of no thread
 *	sacred_state tsc              x86-64: rdtsc raises SIGSEGV, and a handler emulates it
 *	sacred_state dispatch         system calls of one thread raise SIGSYS; another goes on
 *	sacred_state stack BYTES      handlers in four threads, on alternate stacks of BYTES above
 *	                              what the kernel's frame needs; checks what it can ask
 *	                              about them
 *	sacred_state spare BYTES      the same stack is there, but only death by SIGTERM comes
 *	sacred_state jump BYTES       jumps out of such a handler without the mask, then computes
 *
 * Status 77: the kernel cannot do it.
 */
#include "common/machine/machine.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define MILLION 1000000L
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

static volatile uint64_t sink;

/* In registers alone: no memory of the stack's, no thread variable. */
#define COMPUTE(millions) \
	do { \
		uint64_t x_ = 1; \
		for (long i_ = 0; i_ < (millions) * MILLION; i_++) { \
			x_ = x_ * UINT64_C(6364136223846793005) + 1; \
			__asm__ volatile("" : "+r"(x_)); \
		} \
		sink = x_; \
	} while (0)

__attribute__((noinline)) static void compute(long millions)
{
	COMPUTE(millions);
}

static void align(void)
{
#ifdef __x86_64__
	__asm__ volatile("pushf; orl $0x40000, (%%rsp); popf" ::: "cc", "memory");
	COMPUTE(100);
	__asm__ volatile("pushf; andl $~0x40000, (%%rsp); popf" ::: "cc", "memory");
#else
	COMPUTE(100); /* no such state */
#endif
}

static char area[65536] __attribute__((aligned(4096)));

static void set_base(uintptr_t at)
{
	machine_set_base(machine_has_direct_base(), at);
}

__attribute__((noinline)) static void on_other_base(uintptr_t before)
{
	set_base((uintptr_t)area + 32768);
	COMPUTE(100);
	set_base(before);
}

static void base(void)
{
	const uintptr_t before = machine_base(machine_has_direct_base());
	on_other_base(before);
	for (size_t i = 0; i < sizeof area; i++)
		if (area[i]) {
			printf("something was written there\n");
			return;
		}
}

#ifdef __x86_64__
static volatile int n_faults;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uint8_t *code = (const uint8_t *)r[REG_RIP];
	(void)sig;
	(void)info;
	if (code[0] != 0x0f || code[1] != 0x31)
		_exit(99);
	r[REG_RAX] = ++n_faults;
	r[REG_RDX] = 0;
	r[REG_RIP] += 2;
}

static void tsc(void)
{
	struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	uint64_t sum = 0;
	sigaction(SIGSEGV, &act, NULL);
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
		exit(77);
	compute(100);
	for (int i = 0; i < 1000; i++)
		sum += __builtin_ia32_rdtsc();
	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
	printf("%d faults, sum %llu\n", n_faults, (unsigned long long)sum);
}
#else
static void tsc(void)
{
	exit(77);
}
#endif

static volatile char blocks;
static volatile int n_calls, n_other_calls;
enum { NO_CALL = 1000, CALLS = 100 };

static void on_call(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	blocks = 0;
	n_calls++;
	n_other_calls += info->si_syscall != NO_CALL;
	machine_set_result(context, 42);
}

static void *other_thread(void *unused)
{
	compute(100);
	return unused;
}

static void dispatch(void)
{
	struct sigaction act = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};
	pthread_t thread;
	long sum = 0;
	sigaction(SIGSYS, &act, NULL);
	pthread_create(&thread, NULL, other_thread, NULL);
	compute(25);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 7, 0, 0, &blocks) == 0 || errno != EINVAL)
		printf("a wrong mode is accepted\n");
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &blocks) != 0)
		exit(77);
	for (int i = 0; i < CALLS; i++) {
		blocks = 1;
		COMPUTE(1);
		sum += machine_call3(NO_CALL, 0, 0, 0);
	}
	prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0);
	pthread_join(thread, NULL);
	printf("%d calls, %d others, sum %ld\n", n_calls, n_other_calls, sum);
}

/* ---- alternate stacks ---- */

static size_t stack_bytes;
static _Atomic int n_handled;

static void set_stack(void)
{
	char *at = mmap(NULL, stack_bytes + 8192, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = at + 4096, .ss_size = stack_bytes}, found;
	mprotect(at, 4096, PROT_NONE);
	if (sigaltstack(&stack, NULL) != 0 || sigaltstack(NULL, &found) != 0 ||
	    found.ss_sp != stack.ss_sp || found.ss_size != stack.ss_size || found.ss_flags != 0)
		printf("the stack is another one\n");
}

static void on_user(int sig)
{
	(void)sig;
	n_handled++;
	compute(2);
}

static void *use_stack(void *unused)
{
	set_stack();
	for (int i = 0; i < 30; i++)
		pthread_kill(pthread_self(), SIGUSR1);
	return unused;
}

static void check_masks(void)
{
	struct sigaction found;
	sigset_t mask;
	sigaction(SIGUSR1, NULL, &found);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (int sig = 1; sig < 32; sig++)
		if (sigismember(&found.sa_mask, sig) || sigismember(&mask, sig))
			printf("signal %d is blocked\n", sig);
}

static void stack(void)
{
	struct sigaction act = {.sa_handler = on_user, .sa_flags = SA_ONSTACK};
	pthread_t thread[4];
	sigaction(SIGUSR1, &act, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, use_stack, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	check_masks();
	sigaction(SIGUSR1, &act, NULL);
	check_masks();
	compute(20);
	pthread_kill(pthread_self(), SIGUSR1); /* this thread has no such stack */
	printf("%d handled\n", n_handled);
}

static void spare(void)
{
	set_stack();
	compute(50);
	puts("alive");
	fflush(stdout);
	raise(SIGTERM);
}

static jmp_buf place;

static void on_jump(int sig)
{
	(void)sig;
	compute(2);
	_longjmp(place, 1);
}

static void jump(void)
{
	struct sigaction act = {.sa_handler = on_jump, .sa_flags = SA_ONSTACK};
	sigset_t user;
	sigaction(SIGUSR1, &act, NULL);
	set_stack();
	sigemptyset(&user);
	sigaddset(&user, SIGUSR1);
	if (_setjmp(place) == 0)
		raise(SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &user, NULL);
	compute(100);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} modes[] = {{"align", align}, {"base", base},	 {"tsc", tsc},	 {"dispatch", dispatch},
		     {"stack", stack}, {"spare", spare}, {"jump", jump}};
	enum { AUX_MINSIGSTKSZ = 51 };
	stack_bytes = getauxval(AUX_MINSIGSTKSZ) + (argc > 2 ? strtoul(argv[2], NULL, 10) : 0);
	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (strcmp(argv[1], modes[i].name) == 0) {
			modes[i].fn();
			puts("done");
			return 3;
		}
	return 2;
}
