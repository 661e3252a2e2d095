/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A region whose function is in no object, as a compiler at run time (JIT) makes it: the libgomp
 * given is loaded for all. Prints the size of the team. Without an argument, there is no
 * libgomp, and it asks for loops that it finds with dlsym. Used by tests/cli/openmp/gomp_two.sh.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static _Atomic int n_threads;

static void inner(void *argument)
{
	(void)argument;
	n_threads++;
}

/* Prints whether the thread gets iterations: two empty loops and two with some, of each type. */
static int alone(void)
{
	_Bool (*start)(long from, long to, long step, long chunk, long *first, long *last);
	_Bool (*start_ull)(_Bool up, unsigned long long from, unsigned long long to,
			   unsigned long long step, unsigned long long chunk,
			   unsigned long long *first, unsigned long long *last);
	long a, b;
	unsigned long long c, d;
	*(void **)&start = dlsym(RTLD_DEFAULT, "GOMP_loop_dynamic_start");
	*(void **)&start_ull = dlsym(RTLD_DEFAULT, "GOMP_loop_ull_dynamic_start");
	if (!start || !start_ull)
		return 1;
	printf("%d%d%d%d ", start(5, 0, 1, 1, &a, &b), start(0, 5, -1, 1, &a, &b),
	       start(0, 5, 1, 1, &a, &b), start(5, 0, -1, 1, &a, &b));
	printf("%d%d%d%d\n", start_ull(1, 5, 0, 1, 1, &c, &d), start_ull(0, 0, 5, -1, 1, &c, &d),
	       start_ull(1, 0, 5, 1, 1, &c, &d), start_ull(0, 5, 0, -1, 1, &c, &d));
	return 0;
}

int main(int argc, char **argv)
{
	/* mov $inner, %rax; jmp *%rax */
	unsigned char code[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
	const uintptr_t to = (uintptr_t)inner;
	void (*parallel)(uintptr_t function, void *data, unsigned n_threads, unsigned flags);
	void *at = mmap(NULL, sizeof code, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc == 1)
		return alone();
	if (argc != 2 || at == MAP_FAILED || !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))
		return 1;
	memcpy(code + 2, &to, sizeof to);
	memcpy(at, code, sizeof code);
	*(void **)&parallel = dlsym(RTLD_DEFAULT, "GOMP_parallel");
	for (int i = 0; i < 10; i++)
		parallel((uintptr_t)at, NULL, 4, 0);
	printf("10 teams of %d\n", n_threads / 10);
	return 0;
}
