/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fibres as Boost.Context makes them: a new stack begins with a piece of code without unwind tables
 * that nothing called, and whose address is the return address of the fibre's first function.
 */
#include <stdlib.h>

static volatile unsigned long sink;
static void *fiber, *thread;

void *make_fiber(void *top, void (*first)(void));
void *jump(void **save, void *to);

/* jump() keeps the registers that a call keeps. `finish` is never reached. */
__asm__(".text\n"
	".type make_fiber, @function\n"
	"make_fiber:\n"
	"	lea -64(%rdi), %rax\n"
	"	mov %rsi, 0(%rax)\n"
	"	lea finish(%rip), %rcx\n"
	"	mov %rcx, 8(%rax)\n"
	"	lea start(%rip), %rcx\n"
	"	mov %rcx, 48(%rax)\n"
	"	ret\n"
	"start:\n"
	"	push %rbp\n"
	"	jmp *%rbx\n"
	"finish:\n"
	"	hlt\n"
	".size make_fiber, .-make_fiber\n"
	".type jump, @function\n"
	"jump:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".size jump, .-jump\n");

__attribute__((noinline)) void fiber_work(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * i;
}

__attribute__((noinline)) void main_work(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * i;
}

static void fiber_entry(void)
{
	for (;;) {
		fiber_work(2000000);
		jump(&fiber, thread);
	}
}

int main(void)
{
	char *stack = malloc(65536);
	if (!stack)
		return 1;
	unsigned long *words = make_fiber((void *)(((size_t)stack + 65536) & ~(size_t)15),
					  fiber_entry);
	/* In the order in which jump() takes them; make_fiber() left first and finish in front. */
	const unsigned long first = words[0], finish = words[1];
	words[0] = words[1] = words[2] = words[3] = 0;
	words[4] = first;  /* rbx */
	words[5] = finish; /* rbp */
	fiber = words;
	for (int i = 0; i < 60; i++) {
		main_work(1000000);
		jump(&thread, fiber);
	}
	return 0;
}
