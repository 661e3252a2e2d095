/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows run-time libraries (OpenMP, MPI), their calls, and the calls that wait for a GPU, by name.
 * A call says what the thread does inside. Test: tests/unit/prof/test_known_runtime.c.
 */
#ifndef HPCPROF_ATTRIBUTE_KNOWN_KNOWN_RUNTIME_H
#define HPCPROF_ATTRIBUTE_KNOWN_KNOWN_RUNTIME_H

#include "hpcprof-lite/model/model.h"

enum runtime_library {
	RUNTIME_NONE,   /* code of the program and of its other libraries */
	RUNTIME_OMP,    /* libgomp, libomp, Intel's libiomp5 */
	RUNTIME_MPI,    /* Open MPI, MPICH, Intel MPI and their relatives */
	RUNTIME_GPU,    /* of a call: it waits for a GPU */
	RUNTIME_TORCH,  /* of a call: torch.distributed */
	RUNTIME_SYSTEM, /* libc and others that run-time libraries call; never calls the program */
	RUNTIME_OURS    /* libhpcrun-lite, which interposes functions of other libraries */
};

struct runtime_call {
	enum runtime_library library; /* NONE: not a known call */
	enum model_activity activity;
	/*
	 * OMP only: the call runs a function of the program right away: a region or an undeferred
	 * task.
	 */
	bool calls_back;
};

/* The library of a module, from the last component of its path. */
enum runtime_library known_library(const char *path);
/*
 * Finds out what a call does from its name in the symbol table: a C name, or a Fortran name with
 * its underscores.
 */
struct runtime_call known_call(const char *function);
/* True for a function of OpenMP or MPI, and for ours that interposes one. */
bool known_is_runtime(enum runtime_library library, struct runtime_call call);

#endif
