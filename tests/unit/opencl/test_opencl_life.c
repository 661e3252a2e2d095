/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenCL back end before a fake implementation: commands that never end, handles that come
 * back, forks, the end of the measurement, many commands, several threads. */
#include "tests/unit/opencl/opencl_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

static void never_done(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	(void)state;
	fake.end_with = CL_RUNNING;
	ocl_test_run(q, ocl_test_kernel(), NULL);
	fake.end_with = CL_QUEUED;
	ocl_test_run(q, ocl_test_kernel(), NULL);
	clReleaseCommandQueue(q);
	fake_host.at_end(1000000);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NEVER_DONE], 2);
	assert_int_equal(fake_n_answered(), fake_n_launched());
	fake_host.at_end(1000000);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NEVER_DONE], 2);
}

/* Ended after the last call of the program. */
static void ended_late(void **state)
{
	cl_command_queue q = ocl_test_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	(void)state;
	fake.end_with = CL_SUBMITTED;
	for (unsigned i = 0; i < 100; i++)
		ocl_test_run(q, ocl_test_kernel(), NULL);
	fake_end_all(CL_COMPLETE);
	fake_host.at_end(1000000);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 100);
}

/* An end inside a call of OpenCL, as from a signal handler: nothing is asked any more. */
static void ended_inside(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	(void)state;
	ocl_test_run(q, ocl_test_kernel(), NULL);
	ocl_depth = 1;
	fake_host.at_end(1000000);
	ocl_depth = 0;
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NEVER_DONE], 1);
}

static void *hold_for_ever(void *lock)
{
	pthread_mutex_lock(lock);
	return NULL;
}

/* A thread has ended with the lock of a queue: what the queue holds is counted as lost, once. */
static void lock_is_gone(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	pthread_t thread;
	(void)state;
	fake.end_with = CL_RUNNING;
	for (unsigned i = 0; i < 3; i++)
		ocl_test_run(q, ocl_test_kernel(), NULL);
	assert_int_equal(pthread_create(&thread, NULL, hold_for_ever,
					&ocl_queue_find(atomic_load(&ocl_state_now), q)->lock),
			 0);
	pthread_join(thread, NULL);
	fake_host.at_end(1000000);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_BUSY], 3);
	fake_host.at_end(1000000);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_BUSY], 3);
}

static void handles_again(void **state)
{
	cl_command_queue_properties p;
	(void)state;
	fake.reuse = true;
	cl_command_queue q = ocl_test_queue(0), again;
	cl_kernel k = ocl_test_kernel();
	ocl_test_run(q, k, NULL);
	clFinish(q);
	clReleaseCommandQueue(q);
	again = ocl_test_queue(CL_QUEUE_PROFILING_ENABLE);
	assert_ptr_equal(again, q);
	clGetCommandQueueInfo(again, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL);
	assert_int_equal(p, CL_QUEUE_PROFILING_ENABLE);
	ocl_test_run(again, k, NULL);
	assert_int_equal(fake_host.n_queues, 2);
	assert_int_equal(fake_host.queue_flags, 0);
	assert_int_equal(fake_host.n_functions, 1);
	assert_ptr_equal(ocl_test_kernel(), k); /* the same handle for a new kernel */
	ocl_test_run(again, k, NULL);
	assert_int_equal(fake_host.n_functions, 2);
	cl_mem m = clCreateBuffer(fake_context(), 0, 100, NULL, NULL);
	clReleaseMemObject(m);
	assert_ptr_equal(clCreateBuffer(fake_context(), 0, 300, NULL, NULL), m);
	clReleaseMemObject(m);
	assert_int_equal(fake_last(MSR_GPU_FREE)->amount, 300);
	clReleaseCommandQueue(again);
}

/* The queue's handle comes back while operations of the one before are in flight. */
static void handle_again_too_early(void **state)
{
	(void)state;
	fake.reuse = true;
	fake.end_with = CL_RUNNING;
	cl_command_queue q = ocl_test_queue(0);
	ocl_test_run(q, ocl_test_kernel(), NULL);
	ocl_test_run(q, ocl_test_kernel(), NULL);
	clReleaseCommandQueue(q);
	ocl_queue_made(atomic_load(&ocl_state_now), q, true, NULL);
	ocl_test_run(q, ocl_test_kernel(), NULL);
	fake_end_all(CL_COMPLETE);
	fake_host.at_end(1000000);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 3);
	assert_int_equal(fake_host.n_queues, 2);
}

static void forked(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	(void)state;
	fake.end_with = CL_RUNNING;
	ocl_test_run(q, ocl_test_kernel(), NULL);
	pthread_mutex_lock(
		&atomic_load(&ocl_state_now)->define); /* as if another thread were inside */
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		fake_host.generation = 2;
		uint64_t before = fake_n_answered();
		fake_end_all(CL_COMPLETE);
		clFinish(q);
		bool good =
			fake_n_answered() == before + 1 &&
			fake.n_events == 1; /* the wait; the parent's operation is the parent's */
		ocl_test_run(q, ocl_test_kernel(), NULL);
		fake_end_all(CL_COMPLETE);
		clFinish(q);
		good = good && fake_host.n_ops[MSR_GPU_KERNEL] == 1;
		_exit(good ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	pthread_mutex_unlock(&atomic_load(&ocl_state_now)->define);
	fake_end_all(CL_COMPLETE);
	clReleaseCommandQueue(q);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 1);
}

/* Measurement has ended: calls go on, and what was hidden stays hidden. */
static void after_the_end(void **state)
{
	cl_command_queue_properties p = 99;
	cl_command_queue q = ocl_test_queue(0);
	(void)state;
	ocl_test_run(q, ocl_test_kernel(), NULL);
	fake_host.generation = 0;
	assert_int_equal(ocl_test_run(q, ocl_test_kernel(), NULL), CL_SUCCESS);
	clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL);
	assert_int_equal(p, 0);
	assert_int_equal(clFinish(q), CL_SUCCESS);
	clReleaseCommandQueue(q);
}

/* More in flight than is remembered. */
static void too_many(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	cl_kernel k = ocl_test_kernel();
	(void)state;
	fake.end_with = CL_QUEUED;
	for (uint32_t i = 0; i < OCL_MAX_PENDING + 10; i++)
		ocl_test_run(q, k, NULL);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_PENDING], 10);
	assert_int_equal(fake.n_events, OCL_MAX_PENDING + 10);
	fake_end_all(CL_COMPLETE);
	clFinish(q);
	assert_int_equal(fake.n_events, 0);
	assert_int_equal(fake_n_answered(), fake_n_launched());
	clReleaseCommandQueue(q);
}

#define N_THREADS 4
#define N_EACH 2000

static void *storm(void *arg)
{
	cl_command_queue shared = arg,
			 own = clCreateCommandQueue(fake_context(), fake_device(), 0, NULL);
	for (unsigned i = 0; i < N_EACH; i++) {
		const size_t size[1] = {i % 8 + 1};
		cl_event event = NULL;
		clEnqueueNDRangeKernel(i % 2 ? shared : own, ocl_test_kernel(), 1, NULL, size,
				       i % 3 ? size : NULL, 0, NULL, i % 4 ? NULL : &event);
		if (event)
			fake_dispatch.clReleaseEvent(event);
		if (i % 100 == 0)
			clFinish(own);
		cl_mem m = clCreateBuffer(fake_context(), 0, 8, NULL, NULL);
		clReleaseMemObject(m);
	}
	clReleaseCommandQueue(own);
	return NULL;
}

static void threads(void **state)
{
	pthread_t thread[N_THREADS];
	cl_command_queue shared = ocl_test_queue(0);
	(void)state;
	for (unsigned i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, storm, shared), 0);
	for (unsigned i = 0; i < N_THREADS; i++)
		pthread_join(thread[i], NULL);
	clFinish(shared);
	assert_int_equal(fake_host.n_launched[MSR_GPU_KERNEL], N_THREADS * N_EACH);
	for (unsigned i = 0; i < MSR_N_GPU_LOSSES; i++)
		assert_int_equal(fake_host.n_lost[i], 0);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], N_THREADS * N_EACH);
	assert_int_equal(fake_n_answered(), fake_n_launched());
	assert_int_equal(fake.n_events, 0);
	clReleaseCommandQueue(shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OCL_TEST(never_done),   OCL_TEST(ended_late),    OCL_TEST(ended_inside),
		OCL_TEST(lock_is_gone), OCL_TEST(handles_again), OCL_TEST(handle_again_too_early),
		OCL_TEST(forked),       OCL_TEST(after_the_end), OCL_TEST(too_many),
		OCL_TEST(threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
