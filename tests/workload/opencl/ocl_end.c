/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that end in every way while commands are on their way. Usage: ocl_end WAY
 *	return   main returns without clFinish, nothing is released
 *	exit     a second thread calls exit()
 *	_exit    no handler of exit runs
 *	thread   main's thread ends by pthread_exit, another one goes on
 *	never    commands wait for a user event that nobody sets, and main returns
 *	gone     the same, and the queue and the context are released before
 *	failed   the user event is set to an error
 *	fork     the child, which makes no call of OpenCL, and the parent both go on
 *	before   the process forks first, and the child alone uses OpenCL
 *	exec     the process becomes another program ("ocl_end return") while commands are on their
 *	    way
 *	forever  tiny kernels until somebody kills the process; a line says that they have begun,
 *	    and the process id
 */
#include "ocl_common.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 4096
#define COMMANDS 200

static const char source[] = "kernel void work(global float *a, int n)\n"
			     "{\n"
			     "	float x = a[get_global_id(0)];\n"
			     "\n"
			     "	for (int i = 0; i < n; i++)\n"
			     "		x = x * 0.999f + 0.5f;\n"
			     "	a[get_global_id(0)] = x;\n"
			     "}\n";

static struct ocl ocl;
static cl_command_queue queue;
static cl_kernel kernel;
static cl_mem buffer;

static void enqueue(int n, cl_uint n_before, const cl_event *before)
{
	const size_t global = N;

	for (int i = 0; i < n; i++)
		OCL_DO(OCL_KERNEL, 0,
		       clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, n_before,
					      before, NULL));
	OCL_DO(OCL_FLUSH, 0, clFlush(queue));
}

static void start(void)
{
	const int n = 50;

	ocl_open(&ocl);
	queue = ocl_queue(ocl.context, ocl.device, 0);
	kernel = ocl_kernel(ocl_build(ocl.context, ocl.device, source, ""), "work");
	buffer = ocl_buffer(ocl.context, CL_MEM_READ_WRITE, N * sizeof(float), NULL);
	ocl_must(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
	ocl_must(clSetKernelArg(kernel, 1, sizeof n, &n), "clSetKernelArg");
	/* The kernel is compiled now: a run time that is compiling when the process ends may crash,
	 * with us or without. */
	enqueue(1, 0, NULL);
	OCL_DO(OCL_FINISH, 0, clFinish(queue));
}

static cl_event gate(void)
{
	cl_int status;
	cl_event event = clCreateUserEvent(ocl.context, &status);

	ocl_must(status, "clCreateUserEvent");
	return event;
}

static void *leave(void *data)
{
	ocl_write_truth();
	exit(data ? 5 : 6);
}

static void *go_on(void *data)
{
	(void)data;
	enqueue(COMMANDS, 0, NULL);
	OCL_DO(OCL_FINISH, 0, clFinish(queue));
	printf("the other thread is done\n");
	ocl_write_truth();
	exit(7);
}

static int behind_a_gate(const char *way)
{
	cl_event closed;

	start();
	enqueue(10, 0, NULL);
	OCL_DO(OCL_FINISH, 0, clFinish(queue));
	closed = gate();
	enqueue(strcmp(way, "failed") == 0 ? 1 : 10, 1, &closed);
	if (strcmp(way, "failed") == 0) {
		ocl_must(clSetUserEventStatus(closed, -1), "clSetUserEventStatus");
		printf("clFinish: %d\n", (int)ocl_counted(clFinish(queue), OCL_FINISH, 0));
	}
	if (strcmp(way, "gone") == 0) {
		clReleaseMemObject(buffer);
		clReleaseKernel(kernel);
		clReleaseCommandQueue(queue);
		clReleaseContext(ocl.context);
	}
	printf("%s\n", way);
	ocl_write_truth();
	return 0;
}

static int forks(int before)
{
	pid_t child;
	int status = 0;

	if (!before) {
		start();
		enqueue(COMMANDS, 0, NULL);
	}
	fflush(stdout);
	child = fork();
	if (child == 0) {
		volatile double x = 1;

		if (before) {
			start();
			enqueue(COMMANDS, 0, NULL);
			OCL_DO(OCL_FINISH, 0, clFinish(queue));
			ocl_write_truth();
		}
		for (int i = 0; i < 20000000; i++)
			x = x * 1.0000001;
		printf("child\n");
		fflush(stdout);
		_exit(9);
	}
	if (!before) {
		enqueue(COMMANDS, 0, NULL);
		OCL_DO(OCL_FINISH, 0, clFinish(queue));
		ocl_write_truth();
	}
	waitpid(child, &status, 0);
	printf("child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}

static void forever(void)
{
	start();
	enqueue(COMMANDS, 0, NULL);
	OCL_DO(OCL_FINISH, 0, clFinish(queue));
	printf("begun %ld\n", (long)getpid());
	fflush(stdout);
	for (;;) {
		enqueue(COMMANDS, 0, NULL);
		OCL_DO(OCL_FINISH, 0, clFinish(queue));
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "return";
	pthread_t thread;

	if (strcmp(way, "never") == 0 || strcmp(way, "gone") == 0 || strcmp(way, "failed") == 0)
		return behind_a_gate(way);
	if (strcmp(way, "fork") == 0 || strcmp(way, "before") == 0)
		return forks(strcmp(way, "before") == 0);
	if (strcmp(way, "forever") == 0)
		forever();
	start();
	enqueue(COMMANDS, 0, NULL);
	printf("%s\n", way);
	fflush(stdout);
	if (strcmp(way, "exit") == 0 && pthread_create(&thread, NULL, leave, &ocl) == 0)
		pthread_join(thread, NULL);
	if (strcmp(way, "thread") == 0 && pthread_create(&thread, NULL, go_on, NULL) == 0)
		pthread_exit(NULL);
	ocl_write_truth();
	if (strcmp(way, "_exit") == 0)
		_exit(8);
	if (strcmp(way, "exec") == 0)
		execl("/proc/self/exe", argv[0], "return", (char *)NULL);
	return strcmp(way, "return") == 0 ? 4 : 1;
}
