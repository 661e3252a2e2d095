/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See known_runtime.h. The calls of OpenMP are those in libgomp's libgomp.map and in LLVM's libomp;
 * the groups of MPI are those of mpi_calls.h. Test: tests/unit/prof/test_known_runtime.c.
 */
#include "hpcprof-lite/attribute/known/known_runtime.h"

#include "common/format/mpi_calls.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool begins(const char *name, const char *head)
{
	return strncmp(name, head, strlen(head)) == 0;
}

static bool begins_as(const char *name, const char *const *heads)
{
	while (*heads && !begins(name, *heads))
		heads++;
	return *heads;
}

static bool is_any(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names) != 0)
		names++;
	return *names;
}

enum runtime_library known_library(const char *path)
{
	static const char *const omp[] = {"libgomp.so",  "libgomp-",   "libomp.so",
					  "libomp-",     "libomp5.so", "libiomp5", NULL};
	/* libmpi: also libmpich, libmpifort, libmpi_mpifh; mca_: components of Open MPI */
	static const char *const mpi[] = {"libmpi",      "libpmpi",   "libfmpich",
					  "libopen-pal", "libopal",   "libopen-rte",
					  "libprrte",    "libpmix",   "libmca_",
					  "mca_",        "libmpl.so", NULL};
	static const char *const system[] = {"libc.so",    "libc-2",   "libpthread", "ld-",
					     "ld.so",      "libdl.so", "librt.so",   "libhwloc",
					     "libnuma.so", "[vdso]",   "linux-vdso", NULL};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	return begins(name, "libhpcrun-lite") ? RUNTIME_OURS
	       : begins_as(name, omp)         ? RUNTIME_OMP
	       : begins_as(name, mpi)         ? RUNTIME_MPI
	       : begins_as(name, system)      ? RUNTIME_SYSTEM
					      : RUNTIME_NONE;
}

/* ---- OpenMP ---- */

struct row {
	const char *head;
	enum model_activity activity;
	bool calls_back;
};

/* Matched by the beginning of the name. The first row that matches counts. */
static const struct row omp_rows[] = {
	/* GCC's libgomp */
	{"GOMP_barrier", MODEL_OMP_BARRIER, false},
	{"GOMP_loop_end_nowait", MODEL_OMP_OVERHEAD, false},
	{"GOMP_loop_end", MODEL_OMP_BARRIER, false},
	{"GOMP_sections_end_nowait", MODEL_OMP_OVERHEAD, false},
	{"GOMP_sections_end", MODEL_OMP_BARRIER, false},
	{"GOMP_single_copy", MODEL_OMP_BARRIER, false},
	{"GOMP_workshare_task_reduction_unregister", MODEL_OMP_BARRIER, false},
	{"GOMP_parallel_end", MODEL_OMP_BARRIER, false},
	{"GOMP_parallel", MODEL_OMP_OVERHEAD, true},
	{"GOMP_teams", MODEL_OMP_OVERHEAD, true},
	{"GOMP_target", MODEL_OMP_OVERHEAD, true},
	{"GOMP_taskwait", MODEL_OMP_TASKWAIT, false},
	{"GOMP_taskgroup_end", MODEL_OMP_TASKWAIT, false},
	{"GOMP_taskgroup", MODEL_OMP_OVERHEAD, false},
	{"GOMP_taskyield", MODEL_OMP_OVERHEAD, false},
	{"GOMP_task", MODEL_OMP_OVERHEAD, true},
	{"GOMP_critical", MODEL_OMP_LOCK, false},
	{"GOMP_atomic", MODEL_OMP_LOCK, false},
	{"GOMP_ordered", MODEL_OMP_ORDERED, false},
	{"GOMP_doacross", MODEL_OMP_ORDERED, false},
	{"GOMP_", MODEL_OMP_OVERHEAD, false},
	/* LLVM's and Intel's libomp */
	{"__kmpc_barrier", MODEL_OMP_BARRIER, false},
	{"__kmpc_cancel_barrier", MODEL_OMP_BARRIER, false},
	{"__kmpc_end_barrier", MODEL_OMP_BARRIER, false},
	{"__kmpc_copyprivate", MODEL_OMP_BARRIER, false},
	{"__kmpc_reduce_nowait", MODEL_OMP_OVERHEAD, false},
	{"__kmpc_end_reduce_nowait", MODEL_OMP_OVERHEAD, false},
	{"__kmpc_reduce", MODEL_OMP_BARRIER, false},
	{"__kmpc_end_reduce", MODEL_OMP_BARRIER, false},
	{"__kmpc_critical", MODEL_OMP_LOCK, false},
	{"__kmpc_end_critical", MODEL_OMP_LOCK, false},
	{"__kmpc_set_lock", MODEL_OMP_LOCK, false},
	{"__kmpc_set_nest_lock", MODEL_OMP_LOCK, false},
	{"__kmpc_unset_lock", MODEL_OMP_LOCK, false},
	{"__kmpc_unset_nest_lock", MODEL_OMP_LOCK, false},
	{"__kmpc_atomic_start", MODEL_OMP_LOCK, false},
	{"__kmpc_ordered", MODEL_OMP_ORDERED, false},
	{"__kmpc_end_ordered", MODEL_OMP_ORDERED, false},
	{"__kmpc_doacross", MODEL_OMP_ORDERED, false},
	{"__kmpc_omp_taskwait", MODEL_OMP_TASKWAIT, false},
	{"__kmpc_omp_wait_deps", MODEL_OMP_TASKWAIT, false},
	{"__kmpc_end_taskgroup", MODEL_OMP_TASKWAIT, false},
	{"__kmpc_fork_", MODEL_OMP_OVERHEAD, true},
	{"__kmpc_omp_task", MODEL_OMP_OVERHEAD, true},
	{"__kmpc_", MODEL_OMP_OVERHEAD, false},
	/* both */
	{"omp_set_lock", MODEL_OMP_LOCK, false},
	{"omp_set_nest_lock", MODEL_OMP_LOCK, false},
	{"omp_unset_lock", MODEL_OMP_LOCK, false},
	{"omp_unset_nest_lock", MODEL_OMP_LOCK, false},
};

static struct runtime_call omp_call(const char *function)
{
	for (size_t i = 0; i < sizeof omp_rows / sizeof *omp_rows; i++)
		if (begins(function, omp_rows[i].head))
			return (struct runtime_call){RUNTIME_OMP, omp_rows[i].activity,
						     omp_rows[i].calls_back};
	return (struct runtime_call){.library = RUNTIME_NONE};
}

/* ---- MPI ---- */

/*
 * Finds the name after "MPI_", in lower case: "send" for "MPI_Send", "PMPI_Send_c", "mpi_send_",
 * "pmpi_send__" and "mpi_send_f08_". False: the name does not have this form.
 */
static bool mpi_name(const char *function, char name[64])
{
	const char *at = function + (function[0] == 'P' || function[0] == 'p');
	bool is_c = begins(at, "MPI_") && isalpha((unsigned char)at[4]);
	size_t n = 0;
	if (!is_c && !begins(at, "mpi_"))
		return false;
	for (at += 4; *at && *at != ' ' && n < 63; at++)
		name[n++] = (char)tolower((unsigned char)*at);
	name[n] = 0;
	bool is_fortran = n && name[n - 1] == '_';
	while (n && name[n - 1] == '_')
		name[--n] = 0;
	static const char *const ends[] = {"_c",   "_large", "_f08", "_f08ts", "_fts",
					   "_large", "_init",  "_f",   NULL};
	for (size_t i = 0; ends[i]; i++) {
		size_t length = strlen(ends[i]);
		if (n <= length || strcmp(name + n - length, ends[i]) != 0)
			continue;
		is_fortran |= name[n - 1] == '8' || name[n - 1] == 's';
		name[n -= length] = 0;
	}
	return n && (is_c || is_fortran);
}

/*
 * Only names of MPI itself count, because programs have their own functions named mpi_... and
 * MPI_....
 */
static bool mpi_activity(const char *name, enum model_activity *activity)
{
	static const enum model_activity groups[] = {
		[MPI_GROUP_P2P] = MODEL_MPI_P2P,
		[MPI_GROUP_COLLECTIVE] = MODEL_MPI_COLLECTIVE,
		[MPI_GROUP_ONE_SIDED] = MODEL_MPI_ONE_SIDED,
		[MPI_GROUP_IO] = MODEL_MPI_IO,
		[MPI_GROUP_OTHER] = MODEL_MPI_OTHER};
	/* calls that may take time but have no row in mpi_calls.h */
	static const char *const p2p[] = {
		"psend", "precv", "pready", "pready_range", "pready_list", "parrived",
		"buffer_flush", "request_get_status", "cancel", NULL};
	static const char *const one_sided[] = {"win_attach", "win_detach", "win_sync", NULL};
	static const char *const other[] = {
		"session", "abort", "alloc_mem", "free_mem", "pack", "unpack", "pack_external",
		"unpack_external", "reduce_local", "get_count", "type_commit", "comm_join",
		"comm_rank", "comm_size", "wtime", NULL};
	for (unsigned i = 0; i < MPI_N_CALLS; i++)
		if (strcasecmp(name, mpi_call_name(i) + strlen("MPI_")) == 0) {
			*activity = groups[mpi_call_forms[i].group];
			return true;
		}
	*activity = is_any(name, p2p)         ? MODEL_MPI_P2P
		    : is_any(name, one_sided) ? MODEL_MPI_ONE_SIDED
					      : MODEL_MPI_OTHER;
	return *activity != MODEL_MPI_OTHER || is_any(name, other);
}

/* ---- GPUs ---- */

/* Calls of CUDA and OpenCL that return when the GPU is done. Asynchronous copies are not here. */
static bool waits_for_gpu(const char *function)
{
	static const char *const names[] = {
		"cudaDeviceSynchronize", "cudaThreadSynchronize", "cudaStreamSynchronize",
		"cudaEventSynchronize",  "cudaMemcpy",            "cudaMemcpy2D",
		"cudaMemcpy3D",          "cudaMemcpyToSymbol",    "cudaMemcpyFromSymbol",
		"cuCtxSynchronize",      "cuStreamSynchronize",   "cuEventSynchronize",
		"cuMemcpyHtoD_v2",       "cuMemcpyDtoH_v2",       "cuMemcpyDtoD_v2",
		"cuMemcpy",              "clFinish",              "clWaitForEvents",
		NULL};
	char name[64];
	size_t n = strcspn(function, "( ");
	if (n >= sizeof name)
		return false;
	memcpy(name, function, n);
	name[n] = 0;
	static const char *const ends[] = {"_ptsz", "_ptds", NULL};
	for (size_t i = 0; ends[i]; i++)
		if (n > 5 && strcmp(name + n - 5, ends[i]) == 0)
			name[n - 5] = 0;
	return is_any(name, names);
}

struct runtime_call known_call(const char *function)
{
	char name[64];
	enum model_activity activity;
	if (mpi_name(function, name) && mpi_activity(name, &activity))
		return (struct runtime_call){RUNTIME_MPI, activity, false};
	if (waits_for_gpu(function))
		return (struct runtime_call){RUNTIME_GPU, MODEL_GPU_WAIT, false};
	/* the C++ part of torch.distributed, with the reducer of DDP; gloo's threads */
	if (begins(function, "c10d::") || begins(function, "gloo::"))
		return (struct runtime_call){RUNTIME_TORCH, MODEL_TORCH_COLLECTIVE, false};
	return omp_call(function);
}

bool known_is_runtime(enum runtime_library library, struct runtime_call call)
{
	const enum runtime_library is = library == RUNTIME_OURS ? call.library : library;
	return is == RUNTIME_OMP || is == RUNTIME_MPI;
}
