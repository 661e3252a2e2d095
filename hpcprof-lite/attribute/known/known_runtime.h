/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of run-time libraries (OpenMP, MPI) and of their calls, and of the calls that wait for
 * a GPU: what a thread does inside. Test: tests/unit/prof/test_known_runtime.c.
 */
#ifndef HPCPROF_ATTRIBUTE_KNOWN_KNOWN_RUNTIME_H
#define HPCPROF_ATTRIBUTE_KNOWN_KNOWN_RUNTIME_H

#include "hpcprof-lite/model/model.h"

enum runtime_library {
	RUNTIME_NONE,   /* code of the program and of its other libraries */
	RUNTIME_OMP,    /* libgomp, libomp, Intel's libiomp5 */
	RUNTIME_MPI,    /* Open MPI, MPICH, Intel MPI and others of their kinds */
	RUNTIME_GPU,    /* of a call: it waits for a GPU */
	RUNTIME_SYSTEM, /* libc and others that run-time libraries call; never calls the program */
	RUNTIME_OURS    /* libhpcrun-lite: its functions stand in front of those of others */
};

struct runtime_call {
	enum runtime_library library; /* NONE: not a known call */
	enum model_activity activity;
	/* Of OMP: it calls functions of the program at once: a region, or a task without delay. */
	bool calls_back;
};

/* The library of a module, from the last component of its path. */
enum runtime_library known_library(const char *path);
/* What a call is, by its name in the symbol table: C, or Fortran with its underscores. */
struct runtime_call known_call(const char *function);
/* True for a function of OpenMP or MPI, also if it is ours and stands in front of theirs. */
bool known_is_runtime(enum runtime_library library, struct runtime_call call);

#endif
