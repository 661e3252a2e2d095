/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine whose stack lies below that of its thread, with a page between them that cannot be
 * read, and whose first frame has no unwind information: whoever looks for its caller looks up to
 * that page. Usage: run_coroutine given|sized SECONDS   given: the thread's stack is memory of the
 * program's; sized: libc's, of a size that the program asks for.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { PAGE = 4096, COROUTINE_BYTES = 64 << 10, THREAD_BYTES = 256 << 10 };

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

void coroutine_switch(void **from, void *to);
void coroutine_entry(void);
void coroutine_body(void);

__asm__(".text\n"
	".globl coroutine_switch, coroutine_entry\n"
	"coroutine_switch:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	"
	"push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	"
	"pop %rbp\n"
	"	ret\n"
	"coroutine_entry:\n"
	"	call coroutine_body\n"
	"	ud2\n");

static void *thread_sp, *coroutine_sp;
static char *coroutine_stack;
static double seconds;

static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void coroutine_body(void)
{
	double end = cpu() + seconds;
	volatile double x = 0;
	while (cpu() < end)
		for (int i = 0; i < 10000; i++)
			x = x + i;
	coroutine_switch(&coroutine_sp, thread_sp);
}

/* The next free place below the stack of the calling thread, which libc made; with the page behind
 * it. */
static char *map_below(void)
{
	enum { PLACES = 1 << 14 }; /* 1 GiB: past all libraries */
	char *lo, *at = MAP_FAILED, here;
	lo = (char *)((uintptr_t)&here & ~(uintptr_t)(PAGE - 1)) - THREAD_BYTES;
	for (int i = 0; i < PLACES && at == MAP_FAILED; i++)
		at = mmap(lo - (i + 1) * (COROUTINE_BYTES + PAGE), COROUTINE_BYTES + PAGE,
			  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			  -1, 0);
	return at != MAP_FAILED && mprotect(at + COROUTINE_BYTES, PAGE, PROT_NONE) == 0
		       ? at
		       : MAP_FAILED;
}

static void *run(void *unused)
{
	if (!coroutine_stack)
		coroutine_stack = map_below();
	if (coroutine_stack == MAP_FAILED)
		return NULL;
	void **sp = (void **)(void *)(coroutine_stack + COROUTINE_BYTES);
	*--sp = (void *)coroutine_entry;
	for (int i = 0; i < 6; i++)
		*--sp = NULL;
	coroutine_switch(&thread_sp, sp);
	puts("back");
	return unused;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t thread;
	if (argc < 3 || pthread_attr_init(&attr) != 0)
		return 99;
	seconds = atof(argv[2]);
	if (strcmp(argv[1], "given") == 0) {
		char *all = mmap(NULL, COROUTINE_BYTES + PAGE + THREAD_BYTES,
				 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (all == MAP_FAILED || mprotect(all + COROUTINE_BYTES, PAGE, PROT_NONE) != 0)
			return 1;
		coroutine_stack = all;
		pthread_attr_setstack(&attr, all + COROUTINE_BYTES + PAGE, THREAD_BYTES);
	} else {
		pthread_attr_setstacksize(&attr, THREAD_BYTES);
	}
	if (pthread_create(&thread, &attr, run, NULL) != 0)
		return 2;
	return pthread_join(thread, NULL) == 0 ? 0 : 3;
}
