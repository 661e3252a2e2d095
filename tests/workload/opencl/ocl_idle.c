/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaves its device idle for known times and reasons. Usage: ocl_idle WAY ROUNDS.
 *
 *	compute   the host computes for 60 ms between kernels that it waits for
 *	sleep     the host sleeps for 60 ms between them
 *	sync      short kernels, each waited for
 *	launch    tiny kernels, of which only the last is waited for; each launch takes 40 us
 *	copy      copies of 16 MiB, and a short kernel after every eighth
 *
 * Besides the truths of ocl_common.h, it writes the clocks that it read around its phases, by
 * CLOCK_MONOTONIC: "ns host:work N", "ns host:away N" of that for times in which it could not
 * compute for more than 2 ms, "ns host:wait N" within the calls that waited, "ns host:late N" for
 * the times from one launch, or the end of its wait, to the next launch that were longer than
 * 90 us, and "ns host:all N" from the first launch to the end of the last wait. All but the start
 * of the process is in there.
 */
#include "ocl_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	ITEMS = 4096,
	TINY_ITEMS = 64,
	SHORT = 50, /* rounds of a kernel */
	LONG = 20000,
	HOST_NS = 60000000,
	LAUNCH_NS = 40000,
	AWAY_NS = 2000000,
	LATE_NS = 90000, /* hpcprof-lite calls no launch slow that comes after 100 us */
	COPY_BYTES = 16 << 20
};

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static const char source[] = "kernel void busy(global float *a, int n)\n"
			     "{\n"
			     "	float x = a[get_global_id(0)];\n"
			     "\n"
			     "	for (int i = 0; i < n; i++)\n"
			     "		x = x * 0.999f + 0.5f;\n"
			     "	a[get_global_id(0)] = x;\n"
			     "}\n";

static struct ocl ocl;
static cl_command_queue queue;
static cl_kernel busy;
static cl_mem data, block;
static uint64_t work_ns, away_ns, wait_ns, late_ns, last_ns;

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static NOINLINE double host_compute(uint64_t ns)
{
	uint64_t begin = now_ns(), last = begin, now;
	volatile double x = 1;
	for (; (now = now_ns()) - begin < ns; last = now) {
		away_ns += now - last > AWAY_NS ? now - last : 0;
		for (int i = 0; i < 100; i++)
			x = x * 1.0000001;
	}
	away_ns += now - last > AWAY_NS ? now - last : 0;
	work_ns += now - begin;
	return x;
}

static NOINLINE void host_sleep(void)
{
	uint64_t begin = now_ns();
	struct timespec rest = {.tv_nsec = HOST_NS};
	while (nanosleep(&rest, &rest) != 0)
		;
	work_ns += now_ns() - begin;
	__asm__ volatile("");
}

static NOINLINE void host_wait(void)
{
	uint64_t begin = now_ns();
	OCL_DO(OCL_FINISH, 0, clFinish(queue));
	last_ns = now_ns();
	wait_ns += last_ns - begin;
	__asm__ volatile("");
}

/* launched: a launch begins. A busy machine makes it late. */
static void launched(void)
{
	uint64_t now = now_ns();
	if (last_ns && now - last_ns > LATE_NS)
		late_ns += now - last_ns;
	last_ns = now;
}

static cl_event launch(size_t global, int n)
{
	cl_event event;
	launched();
	ocl_must(clSetKernelArg(busy, 1, sizeof n, &n), "clSetKernelArg");
	OCL_DO(OCL_KERNEL, 0,
	       clEnqueueNDRangeKernel(queue, busy, 1, NULL, &global, NULL, 0, NULL, &event));
	return event;
}

static cl_event copy(const void *from)
{
	cl_event event;
	OCL_DO(OCL_WRITE, COPY_BYTES,
	       clEnqueueWriteBuffer(queue, block, CL_FALSE, 0, COPY_BYTES, from, 0, NULL, &event));
	return event;
}

static void run(const char *way, int n)
{
	cl_event *events = calloc((size_t)n, sizeof(cl_event));
	char *from = calloc(1, COPY_BYTES);
	int is_copy = strcmp(way, "copy") == 0, is_launch = strcmp(way, "launch") == 0,
	    is_short = is_copy || is_launch || strcmp(way, "sync") == 0;
	if (!events || !from)
		exit(1);
	for (int i = 0; i < n; i++) {
		if (strcmp(way, "compute") == 0 && i)
			host_compute(HOST_NS);
		if (is_launch)
			host_compute(LAUNCH_NS);
		if (strcmp(way, "sleep") == 0 && i)
			host_sleep();
		events[i] = is_copy && i % 8 ? copy(from)
			    : is_launch      ? launch(TINY_ITEMS, 1)
					     : launch(ITEMS, is_short ? SHORT : LONG);
		if (!is_copy && !is_launch)
			host_wait();
	}
	host_wait();
	for (int i = 0; i < n; i++)
		ocl_done(events[i], is_copy && i % 8 ? OCL_WRITE : OCL_KERNEL, NULL);
	free(events);
	free(from);
}

static void write_clocks(uint64_t all_ns)
{
	const char *path = getenv("OCL_TRUTH");
	FILE *file = path ? fopen(path, "a") : NULL;
	if (!file)
		return;
	fprintf(file,
		"ns host:work %llu\nns host:away %llu\nns host:wait %llu\nns host:late %llu\n"
		"ns host:all %llu\n",
		(unsigned long long)work_ns, (unsigned long long)away_ns,
		(unsigned long long)wait_ns, (unsigned long long)late_ns,
		(unsigned long long)all_ns);
	fclose(file);
}

int main(int argc, char **argv)
{
	if (argc != 3 || atoi(argv[2]) < 1)
		return 2;
	ocl_open(&ocl);
	queue = ocl_queue(ocl.context, ocl.device, CL_QUEUE_PROFILING_ENABLE);
	busy = ocl_kernel(ocl_build(ocl.context, ocl.device, source, ""), "busy");
	data = ocl_buffer(ocl.context, CL_MEM_READ_WRITE, ITEMS * sizeof(float), NULL);
	block = ocl_buffer(ocl.context, CL_MEM_READ_WRITE, COPY_BYTES, NULL);
	ocl_must(clSetKernelArg(busy, 0, sizeof data, &data), "clSetKernelArg");
	uint64_t begin = now_ns();
	run(argv[1], atoi(argv[2]));
	write_clocks(now_ns() - begin);
	printf("%s: done\n", argv[1]);
	ocl_write_truth();
	return 0;
}
