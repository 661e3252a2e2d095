/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our functions that replace MPI's. All their arguments are integers or pointers, so each passes on
 * as many words as it gets. We do not use mpi.h: mpi_calls.h says what the words mean.
 *
 * We replace both names of each function, MPI_ and PMPI_. Fortran libraries call one of the two in
 * C, so Fortran needs no functions of its own. A tool in the program's executable comes before any
 * library; then the tool's call of PMPI_ counts. Test: tests/cli/mpi/mpi_truth.sh.
 */
#include "hpcrun-lite/mpi/mpi_enter.h"

#include <stdatomic.h>

#define EXPORT __attribute__((visibility("default")))
#define ERROR 15 /* if there is no MPI; MPI_ERR_OTHER of most libraries */

typedef uintptr_t W;

/* The n-th of these has n words; an empty list of parameters is void. */
#define LIST0(x) x##_NONE
#define LIST1(x) x(1)
#define LIST2(x) LIST1(x), x(2)
#define LIST3(x) LIST2(x), x(3)
#define LIST4(x) LIST3(x), x(4)
#define LIST5(x) LIST4(x), x(5)
#define LIST6(x) LIST5(x), x(6)
#define LIST7(x) LIST6(x), x(7)
#define LIST8(x) LIST7(x), x(8)
#define LIST9(x) LIST8(x), x(9)
#define LIST10(x) LIST9(x), x(10)
#define LIST11(x) LIST10(x), x(11)
#define LIST12(x) LIST11(x), x(12)
#define LIST13(x) LIST12(x), x(13)
#define PARAMETER(i) W a##i
#define PARAMETER_NONE void
#define ARGUMENT(i) a##i
#define ARGUMENT_NONE

static void *find(_Atomic(void *) *cache, const char *name, const void *caller)
{
	/* relaxed: the code existed before */
	void *function = atomic_load_explicit(cache, memory_order_relaxed);
	if (__builtin_expect(!function, 0)) {
		function = mpi_library_find(name, caller);
		atomic_store_explicit(cache, function, memory_order_relaxed);
	}
	return function;
}

#define WRAP(export, number, n, large)                                              \
	EXPORT W export(LIST##n(PARAMETER));                                        \
	EXPORT W export(LIST##n(PARAMETER))                                         \
	{                                                                           \
		static _Atomic(void *) cache;                                       \
		W (*next)(LIST##n(PARAMETER)) =                                          \
			(W(*)(LIST##n(PARAMETER)))find(&cache, #export,                  \
						  __builtin_return_address(0));     \
		const W a[] = {0, LIST##n(ARGUMENT)};                               \
		struct mpi_frame f;                                                 \
		f.function = (void *)next;                                          \
		f.call = number;                                                    \
		f.is_large = large;                                                 \
		if (!next)                                                          \
			return ERROR;                                               \
		if (mpi_is_inner(&f))                                               \
			return next(LIST##n(ARGUMENT));                             \
		mpi_enter(&f, a);                                                   \
		const W result = next(LIST##n(ARGUMENT));                           \
		mpi_leave(&f, a, (int)result);                                      \
		return result;                                                      \
	}

#define CALL(name, n, group, kind, ...)               \
	WRAP(MPI_##name, MPI_CALL_##name, n, false)   \
	WRAP(PMPI_##name, MPI_CALL_##name, n, false)
#define COUNT(name, n, group, kind, ...)              \
	CALL(name, n, group, kind)                    \
	WRAP(MPI_##name##_c, MPI_CALL_##name, n, true) \
	WRAP(PMPI_##name##_c, MPI_CALL_##name, n, true)

/* clang-format off */
MPI_CALLS(CALL, COUNT)
