/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library that makes tail calls of MPI (-DLIBRARY -O2), and a program without MPI that loads it
 * for itself alone: the return address of a call is in the program. Usage: mpi_tail LIBRARY
 */
#ifdef LIBRARY
#include <mpi.h>

int start(void)
{
	return MPI_Init(0, 0);
}

int meet(void)
{
	return MPI_Barrier(MPI_COMM_WORLD);
}

int finish(void)
{
	return MPI_Finalize();
}
#else
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	static const char *const names[] = {"start", "meet", "meet", "finish"};
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	for (int i = 0; library && i < 4; i++) {
		int (*function)(void);
		*(void **)&function = dlsym(library, names[i]);
		printf("%s %d\n", names[i], function());
	}
	return library ? 0 : 1;
}
#endif
