/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of run-time libraries and their calls (known_runtime.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcprof-lite/attribute/known/known_runtime.h"
#include "hpcprof-lite/attribute/known/known_waits.h"

static void libraries(void **state)
{
	static const struct {
		const char *path;
		enum runtime_library library;
	} cases[] = {
		{"/usr/lib/x86_64-linux-gnu/libgomp.so.1", RUNTIME_OMP},
		{"/usr/lib/llvm-14/lib/libomp-14.so.5", RUNTIME_OMP},
		{"/opt/intel/lib/libiomp5.so", RUNTIME_OMP},
		{"/usr/lib/libompitrace.so.40", RUNTIME_NONE},
		{"/usr/lib/libmpi.so.40", RUNTIME_MPI},
		{"/usr/lib/libmpich.so.12", RUNTIME_MPI},
		{"/usr/lib/libmpi_mpifh.so.40", RUNTIME_MPI},
		{"/usr/lib/openmpi/mca_pml_ob1.so", RUNTIME_MPI},
		{"/usr/lib/libopen-pal.so.40", RUNTIME_MPI},
		{"/usr/lib/libmpfr.so.6", RUNTIME_NONE},
		{"/lib/x86_64-linux-gnu/libc.so.6", RUNTIME_SYSTEM},
		{"[vdso]", RUNTIME_SYSTEM},
		{"/usr/lib/libhpcrun-lite.so", RUNTIME_OURS},
		{"/home/a/libmpi/solver", RUNTIME_NONE},
		{"", RUNTIME_NONE},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(known_library(cases[i].path), cases[i].library);
}

static void assert_call(const char *name, enum runtime_library library,
			enum model_activity activity)
{
	struct runtime_call c = known_call(name);
	if (c.library != library || (library != RUNTIME_NONE && c.activity != activity))
		fail_msg("%s: library %d, activity %d", name, (int)c.library, (int)c.activity);
}

static void openmp(void **state)
{
	(void)state;
	assert_call("GOMP_barrier", RUNTIME_OMP, MODEL_OMP_BARRIER);
	assert_call("GOMP_loop_end", RUNTIME_OMP, MODEL_OMP_BARRIER);
	assert_call("GOMP_loop_end_nowait", RUNTIME_OMP, MODEL_OMP_OVERHEAD);
	assert_call("GOMP_critical_name_start", RUNTIME_OMP, MODEL_OMP_LOCK);
	assert_call("omp_set_lock_", RUNTIME_OMP, MODEL_OMP_LOCK);
	assert_call("GOMP_ordered_start", RUNTIME_OMP, MODEL_OMP_ORDERED);
	assert_call("GOMP_taskwait_depend", RUNTIME_OMP, MODEL_OMP_TASKWAIT);
	assert_call("GOMP_parallel_loop_dynamic", RUNTIME_OMP, MODEL_OMP_OVERHEAD);
	assert_call("GOMP_parallel_end", RUNTIME_OMP, MODEL_OMP_BARRIER);
	assert_call("__kmpc_reduce", RUNTIME_OMP, MODEL_OMP_BARRIER);
	assert_call("__kmpc_reduce_nowait", RUNTIME_OMP, MODEL_OMP_OVERHEAD);
	assert_call("__kmpc_critical_with_hint", RUNTIME_OMP, MODEL_OMP_LOCK);
	assert_call("__kmpc_omp_taskwait", RUNTIME_OMP, MODEL_OMP_TASKWAIT);
	assert_call("GOMP_barrier [guessed]", RUNTIME_OMP, MODEL_OMP_BARRIER);
	assert_true(known_call("__kmpc_fork_call").calls_back);
	assert_true(known_call("GOMP_task").calls_back);
	assert_false(known_call("GOMP_taskwait").calls_back);
	assert_call("omp_get_wtime", RUNTIME_NONE, MODEL_WORK);
	assert_call("solve", RUNTIME_NONE, MODEL_WORK);
}

static void mpi(void **state)
{
	(void)state;
	static const char *const sends[] = {"MPI_Send", "PMPI_Send", "PMPI_Send_c", "mpi_send_",
					    "pmpi_send__", "MPI_SEND", "mpi_send_f08_",
					    "PMPI_Isend", "MPI_Sendrecv_replace", "MPI_Send_init",
					    "mpi_waitall_", "MPI_Iprobe", "PMPI_Send [guessed]"};
	for (size_t i = 0; i < sizeof sends / sizeof *sends; i++)
		assert_call(sends[i], RUNTIME_MPI, MODEL_MPI_P2P);
	static const char *const collectives[] = {"PMPI_Barrier", "MPI_Ibcast", "mpi_allreduce_",
						  "MPI_Ineighbor_alltoallw",
						  "MPI_Reduce_scatter_block", "MPI_Allreduce_init"};
	for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
		assert_call(collectives[i], RUNTIME_MPI, MODEL_MPI_COLLECTIVE);
	assert_call("MPI_Win_fence", RUNTIME_MPI, MODEL_MPI_ONE_SIDED);
	assert_call("MPI_Get", RUNTIME_MPI, MODEL_MPI_ONE_SIDED);
	assert_call("MPI_Get_count", RUNTIME_MPI, MODEL_MPI_OTHER);
	assert_call("MPI_File_write_all", RUNTIME_MPI, MODEL_MPI_IO);
	assert_call("MPI_Init", RUNTIME_MPI, MODEL_MPI_OTHER);
	assert_call("MPI_Comm_split", RUNTIME_MPI, MODEL_MPI_OTHER);
	assert_call("MPI_Reduce_local", RUNTIME_MPI, MODEL_MPI_OTHER);
	assert_call("mpi_send_large_f08_", RUNTIME_MPI, MODEL_MPI_P2P);
	assert_call("MPI_Session_init", RUNTIME_MPI, MODEL_MPI_OTHER);
	/* functions of programs */
	assert_call("mpi_helper", RUNTIME_NONE, MODEL_WORK);
	assert_call("mpi_pack_halo_", RUNTIME_NONE, MODEL_WORK);
	assert_call("mpi_exchange_", RUNTIME_NONE, MODEL_WORK);
	assert_call("mpi_file_output_", RUNTIME_NONE, MODEL_WORK);
	assert_call("MPI_Manager::run(int)", RUNTIME_NONE, MODEL_WORK);
	assert_call("MPI_", RUNTIME_NONE, MODEL_WORK);
	assert_call("P", RUNTIME_NONE, MODEL_WORK);
	assert_call("", RUNTIME_NONE, MODEL_WORK);
}

static void gpu(void **state)
{
	(void)state;
	assert_call("cudaDeviceSynchronize", RUNTIME_GPU, MODEL_GPU_WAIT);
	assert_call("cuStreamSynchronize_ptsz", RUNTIME_GPU, MODEL_GPU_WAIT);
	assert_call("clFinish", RUNTIME_GPU, MODEL_GPU_WAIT);
	assert_call("cudaMemcpy", RUNTIME_GPU, MODEL_GPU_WAIT);
	assert_call("cudaMemcpyAsync", RUNTIME_NONE, MODEL_WORK);
	assert_call("cudaLaunchKernel", RUNTIME_NONE, MODEL_WORK);
}

static void torch(void **state)
{
	(void)state;
	assert_call("c10d::Reducer::finalize_backward()", RUNTIME_TORCH, MODEL_TORCH_COLLECTIVE);
	assert_call("gloo::transport::tcp::Loop::run()", RUNTIME_TORCH, MODEL_TORCH_COLLECTIVE);
	assert_call("c10::impl::OperatorEntry::getKernel", RUNTIME_NONE, MODEL_WORK);
}

static void waits(void **state)
{
	static const struct {
		const char *name, *exported;
		enum known_wait_object object;
		const char *word;
	} cases[] = {
		{"___pthread_cond_wait", "pthread_cond_wait", KNOWN_WAIT_CONDITION,
		 "condition variable"},
		{"___pthread_cond_timedwait64", "pthread_cond_timedwait", KNOWN_WAIT_CONDITION,
		 "condition variable"},
		{"__new_sem_wait", "sem_wait", KNOWN_WAIT_SEMAPHORE, "semaphore"},
		{"pthread_barrier_wait", "pthread_barrier_wait", KNOWN_WAIT_BARRIER, "barrier"},
		{"__pthread_clockjoin_ex", "pthread_clockjoin_ex", KNOWN_WAIT_JOIN, "thread"},
		{"__pthread_mutex_cond_lock", "pthread_mutex_cond_lock", KNOWN_WAIT_LOCK, "lock"},
		{"__lll_lock_wait", "lll_lock_wait", KNOWN_WAIT_LOCK, "lock"},
		{"__GI___libc_read", "read", KNOWN_WAIT_NONE, "lock"},
		{"pread64", "pread64", KNOWN_WAIT_NONE, "lock"},
		{"_", "_", KNOWN_WAIT_NONE, "lock"},
		{"", "", KNOWN_WAIT_NONE, "lock"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char exported[KNOWN_NAME_BYTES];
		known_exported_name(cases[i].name, exported);
		assert_string_equal(exported, cases[i].exported);
		enum known_wait_object object = known_wait_object(cases[i].name);
		assert_int_equal(object, cases[i].object);
		assert_string_equal(known_wait_word(object), cases[i].word);
		assert_int_equal(known_is_thread(object), object > KNOWN_WAIT_LOCK);
	}
	static const char *const blocked[] = {"futex_wait", "__futex_abstimed_wait_common",
					    "__GI___lll_lock_wait", "___pthread_cond_timedwait64",
					    "__new_sem_wait_slow64", "pthread_barrier_wait"},
		*const awake[] = {"futex_wake", "___pthread_cond_broadcast",
				  "pthread_cond_signal", "__new_sem_post", "wait4"};
	for (size_t i = 0; i < sizeof blocked / sizeof *blocked; i++)
		assert_true(known_waits_in(blocked[i]));
	for (size_t i = 0; i < sizeof awake / sizeof *awake; i++)
		assert_false(known_waits_in(awake[i]));
	assert_true(known_is_start("__libc_start_main_impl") && known_is_start("start_thread") &&
		    known_is_start("__clone3"));
	assert_false(known_is_start("poll") || known_is_start("__clock_nanosleep"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libraries), cmocka_unit_test(openmp), cmocka_unit_test(mpi),
		cmocka_unit_test(torch),     cmocka_unit_test(gpu),    cmocka_unit_test(waits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
