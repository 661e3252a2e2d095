/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of mpi_calls.h. Test: tests/unit/mpi/test_mpi_bytes.c. */
#include "common/format/mpi_calls.h"

#include <stddef.h>

#define NAME(name, n_, group_, kind_, ...) "MPI_" #name,
static const char *const names[MPI_N_CALLS] = {MPI_CALLS(NAME, NAME)};

#define FORM(name, n_, group_, kind_, ...) \
	{.n = n_, .group = MPI_GROUP_##group_, .kind = MPI_KIND_##kind_, __VA_ARGS__},
const struct mpi_call_form mpi_call_forms[MPI_N_CALLS] = {MPI_CALLS(FORM, FORM)};

const char *mpi_call_name(unsigned call)
{
	return call < MPI_N_CALLS ? names[call] : NULL;
}
