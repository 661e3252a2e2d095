/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses CUDA and stops and starts its measurement, by its first argument. What it
 * counts is what a tool has to find: what was asked for while measurement was on.
 *
 *     parts         kernels, a graph, copies and allocations in three parts, of which the second is
 *         not measured; `flight` beside it: the part before still runs when measurement is stopped
 *     delay         for --delay-sampling: the first part is not measured, nor what it still runs
 *     threads       four threads launch while the main one stops and starts
 *     late          the same, but for the first stop, which comes before the threads
 *     ended         parts, after another thread has used CUDA and ended
 *     inside        another thread waits in a call for a kernel while the main one stops and
 *         starts, and launches afterwards
 *     handler       stopped and started in signal handlers
 *     ratio N US    ns of an empty launch (N of them, in turns of 512) and of a kernel of US
 *         microseconds, while measurement is on and off in turns; without the tool both are the
 *             same, and the reference
 *
 * On a driver that does not exist (fake_cuda.c) it also says what the tool had left switched on in
 * the second part.
 */
#include "tests/gpu/cuda_work.h"
#include "tests/workload/run/control.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_TAIL_CALL __asm__ volatile("")

static bool is_flight;

/* ---- what is asked for ---- */

static CUgraphExec graph;
static CUstream stream;

static CUgraphExec make_graph(void)
{
	CUgraph made;
	CUgraphExec ready;
	MUST(cuda.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	MUST(cuda.cuLaunchKernel(cuda_empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	MUST(cuda.cuLaunchKernel(cuda_empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	MUST(cuda.cuStreamEndCapture(stream, &made));
	MUST(cuda.cuGraphInstantiateWithFlags(&ready, made, 0));
	return ready;
}

/* 12 kernels (2 of them long), 3 graphs of 2 kernels, 2 copies (one blocking), an allocation and
 * its release. */
static void work(bool counts)
{
	CUdeviceptr p;
	char bytes[64] = "";
	uint64_t ns = 3000000;
	void *arguments[] = {&ns};
	MUST(cuda.cuMemAlloc_v2(&p, 4096));
	for (int i = 0; i < 10; i++)
		MUST(cuda.cuLaunchKernel(cuda_empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	for (int i = 0; i < 3; i++)
		MUST(cuda.cuGraphLaunch(graph, stream));
	MUST(cuda.cuMemcpyHtoD_v2(p, bytes, sizeof bytes));
	MUST(cuda.cuMemcpyHtoDAsync_v2(p, bytes, sizeof bytes, stream));
	for (int i = 0; i < 2; i++)
		MUST(cuda.cuLaunchKernel(cuda_spin, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
	MUST(cuda.cuMemFree_v2(p));
	if (!counts)
		return;
	cuda_count(TRUTH_KERNEL, 12);
	cuda_count(TRUTH_GRAPH, 3);
	cuda_count(TRUTH_GRAPH_OPS, 6);
	cuda_count(TRUTH_COPY, 2);
	cuda_count(TRUTH_COPY_BYTES, 2 * sizeof bytes);
	cuda_count(TRUTH_SYNC, 1);
	cuda_count(TRUTH_ALLOC, 1);
	cuda_count(TRUTH_FREE, 1);
}

static void settle(bool counts)
{
	MUST(cuda.cuCtxSynchronize());
	cuda_count(TRUTH_SYNC, counts);
}

APART static void measured_part(void)
{
	work(true);
	if (!is_flight)
		settle(true);
	NO_TAIL_CALL;
}

APART static void other_part(void)
{
	work(false);
	if (!is_flight)
		settle(false);
	NO_TAIL_CALL;
}

/* ---- what the tool has left on ---- */

typedef void switched_on_fn(uint64_t *, uint64_t *, uint64_t *);

static switched_on_fn *switched_on(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD),
	     *symbol = driver ? dlsym(driver, "fake_switched_on") : NULL;
	return (switched_on_fn *)(uintptr_t)symbol;
}

static void report_off(const char *name, uint64_t callbacks_before)
{
	uint64_t callbacks, kinds, sampling;
	if (!switched_on())
		return;
	switched_on()(&callbacks, &kinds, &sampling);
	printf("%s: callbacks %llu kinds %llu sampling %llu\n", name,
	       (unsigned long long)(callbacks - callbacks_before), (unsigned long long)kinds,
	       (unsigned long long)sampling);
}

static uint64_t callbacks_now(void)
{
	uint64_t callbacks = 0, kinds, sampling;
	if (switched_on())
		switched_on()(&callbacks, &kinds, &sampling);
	return callbacks;
}

/* ---- ways ---- */

static void off_part(void)
{
	hpctoolkit_sampling_stop();
	uint64_t before = callbacks_now();
	other_part();
	report_off("off", before);
}

static void parts(void)
{
	measured_part();
	off_part();
	off_part();
	hpctoolkit_sampling_start();
	measured_part();
}

static void delay(void)
{
	uint64_t before = callbacks_now();
	other_part();
	report_off("before the start", before);
	hpctoolkit_sampling_start();
	measured_part();
	off_part();
}

static atomic_bool end;
static atomic_uint n_ready;

static void threads(bool is_late)
{
	if (is_late)
		hpctoolkit_sampling_stop();
	cuda_launchers_start();
	for (int i = 0; i < 100; i++) {
		usleep(2000);
		hpctoolkit_sampling_stop();
		usleep(2000);
		hpctoolkit_sampling_start();
	}
	cuda_launchers_end();
}

static void *use_once(void *arg)
{
	CUstream own = cuda_own_stream(arg);
	cuda_launch_empty(own);
	MUST(cuda.cuStreamSynchronize(own));
	cuda_count(TRUTH_SYNC, 1);
	return NULL;
}

static void ended(void)
{
	pthread_t t;
	CUcontext context;
	MUST(cuda.cuCtxGetCurrent(&context));
	pthread_create(&t, NULL, use_once, context);
	pthread_join(t, NULL);
	parts();
}

static void *wait_and_launch(void *arg)
{
	CUstream own = cuda_own_stream(arg);
	cuda_launch_spin(own, 100000000);
	n_ready++;
	MUST(cuda.cuStreamSynchronize(own));
	n_ready++;
	while (!end)
		usleep(1000);
	for (int i = 0; i < 50; i++)
		cuda_launch_empty(own);
	MUST(cuda.cuStreamSynchronize(own));
	return NULL;
}

/* As often as goes while it waits: on a slow machine the first may come too late. */
static void inside(void)
{
	pthread_t t;
	CUcontext context;
	MUST(cuda.cuCtxGetCurrent(&context));
	pthread_create(&t, NULL, wait_and_launch, context);
	while (n_ready < 1)
		usleep(1000);
	do {
		usleep(10000);
		hpctoolkit_sampling_stop();
		usleep(10000);
		hpctoolkit_sampling_start();
	} while (n_ready < 2);
	end = true;
	pthread_join(t, NULL);
}

static void handler(void)
{
	control_by_signals();
	measured_part();
	raise(SIGUSR1);
	other_part();
	raise(SIGUSR2);
	measured_part();
}

/* ---- for benchmarks ---- */

static double ns_of_launch(long n)
{
	uint64_t ns = 0, begin = cuda_now_ns();
	for (long i = 0; i < n; i++) {
		MUST(cuda.cuLaunchKernel(cuda_empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
		if (i % 512 == 511) {
			ns += cuda_now_ns() - begin;
			MUST(cuda.cuCtxSynchronize());
			begin = cuda_now_ns();
		}
	}
	ns += cuda_now_ns() - begin;
	MUST(cuda.cuCtxSynchronize());
	return (double)ns / (double)n;
}

static double us_of_kernel(long n, uint64_t ns)
{
	void *arguments[] = {&ns};
	uint64_t begin = cuda_now_ns();
	for (long i = 0; i < n; i++)
		MUST(cuda.cuLaunchKernel(cuda_spin, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
	MUST(cuda.cuCtxSynchronize());
	return (double)(cuda_now_ns() - begin) / (double)n / 1e3;
}

static void ratio(long n, long us)
{
	double launch[2] = {0, 0}, kernel[2] = {0, 0};
	enum { TURNS = 6 };
	ns_of_launch(n / 10);
	us_of_kernel(n / 100, (uint64_t)us * 1000);
	for (int i = 0; i < 2 * TURNS; i++) {
		bool off = i % 2;
		if (off)
			hpctoolkit_sampling_stop();
		double a = ns_of_launch(n), b = us_of_kernel(n / 10, (uint64_t)us * 1000);
		printf("%s: launch %.0f ns, kernel %.3f us\n", off ? "off" : "on", a, b);
		launch[off] += a / TURNS;
		kernel[off] += b / TURNS;
		if (off)
			hpctoolkit_sampling_start();
	}
	printf("mean: launch on %.0f off %.0f ns, kernel on %.3f off %.3f us; off / on %.3f %.4f\n",
	       launch[0], launch[1], kernel[0], kernel[1], launch[1] / launch[0],
	       kernel[1] / kernel[0]);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "parts";
	is_flight = argc > 2 && !strcmp(argv[2], "flight");
	cuda_open();
	MUST(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	if (!strcmp(way, "ratio")) {
		ratio(argc > 2 ? atol(argv[2]) : 20000, argc > 3 ? atol(argv[3]) : 20);
		return 0;
	}
	graph = make_graph();
	if (!strcmp(way, "delay"))
		delay();
	else if (!strcmp(way, "threads") || !strcmp(way, "late"))
		threads(!strcmp(way, "late"));
	else if (!strcmp(way, "ended"))
		ended();
	else if (!strcmp(way, "inside"))
		inside();
	else if (!strcmp(way, "handler"))
		handler();
	else
		parts();
	if (is_flight)
		settle(!strcmp(way, "delay") ? false : true);
	cuda_report();
	return 0;
}
