/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A region whose function is in no object, as a compiler at run time (JIT) makes it: the libgomp
 * given is loaded for all. Prints the size of the team. Used by tests/cli/openmp/gomp_two.sh.
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

int main(int argc, char **argv)
{
	/* mov $inner, %rax; jmp *%rax */
	unsigned char code[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
	const uintptr_t to = (uintptr_t)inner;
	void (*parallel)(uintptr_t function, void *data, unsigned n_threads, unsigned flags);
	void *at = mmap(NULL, sizeof code, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
