/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways of several_gpus.cu by the driver API, for a driver that does not exist as well: several
 * GPUs in one process, for tests/gpu/several.sh. See there for what is printed.
 *
 *     one N, threads N, peers N, loops N, own D MS [FILE]
 *
 * loops: the kernel runs one of two loops, by its argument: 0 on the first GPU, launched by
 * on_first, 1 on the second, launched by on_second.
 */
#include "tests/gpu/cuda_work.h"
#include "tests/gpu/several_ways.h"

#include <pthread.h>

#define MOST_GPUS 4
#define BLOCKS 12 /* one for each multiprocessor of the GPU that does not exist */
#define NO_TAIL_CALL __asm__ volatile("")

static struct gpu {
	CUcontext context;
	CUfunction spin, either;
	uint64_t n_kernels;
} gpus[MOST_GPUS];
static int n_gpus;

#define TIMER_LOOP(name, head)                                                                 \
	name ":\n  mov.u64 %now, %globaltimer;\n  sub.u64 %now, %now, %start;\n  setp.lt.u64 " \
	     "%more, %now, %ns;\n  @%more bra " name ";\n" head
static const char kernels[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry spin(.param .u64 ns) {\n  .reg .u64 %start, %now, %ns; .reg .pred "
	"%more;\n  ld.param.u64 %ns, [ns];\n  mov.u64 %start, %globaltimer;\n" TIMER_LOOP(
		"again",
		"") "  ret;\n}\n"
		    ".visible .entry either(.param .u64 ns, .param .u32 second) {\n  .reg .u64 "
		    "%start, %now, %ns; .reg .u32 %second; .reg .pred %more, %other;\n  "
		    "ld.param.u64 %ns, [ns];\n"
		    "  ld.param.u32 %second, [second];\n  setp.ne.u32 %other, %second, 0;\n  "
		    "mov.u64 %start, %globaltimer;\n  @%other bra loop_of_second;\n" TIMER_LOOP(
			    "loop_of_first", "  ret;\n")
			    TIMER_LOOP("loop_of_second", "") "  ret;\n}\n";

static void use(int d)
{
	MUST(cuda.cuCtxSetCurrent(gpus[d].context));
}

static void open_gpu(int d)
{
	CUdevice device;
	CUmodule module;
	MUST(cuda.cuDeviceGet(&device, d));
	MUST(cuda.cuDevicePrimaryCtxRetain(&gpus[d].context, device));
	use(d);
	MUST(cuda.cuModuleLoadData(&module, kernels));
	MUST(cuda.cuModuleGetFunction(&gpus[d].spin, module, "spin"));
	MUST(cuda.cuModuleGetFunction(&gpus[d].either, module, "either"));
}

static void launch(int d, CUfunction f, uint64_t ns, unsigned second, CUstream s)
{
	void *arguments[] = {&ns, &second};
	MUST(cuda.cuLaunchKernel(f, BLOCKS, 1, 1, 1, 1, 1, 0, s, arguments, NULL));
	cuda_count(TRUTH_KERNEL, 1);
	__atomic_fetch_add(&gpus[d].n_kernels, 1, __ATOMIC_RELAXED);
}

static CUstream stream(void)
{
	CUstream s;
	MUST(cuda.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	return s;
}

static void sync_stream(CUstream s)
{
	MUST(cuda.cuStreamSynchronize(s));
	cuda_count(TRUTH_SYNC, 1);
}

/* ---- the ways -------------------------------------------------------------------------------- */

static void one(int n)
{
	CUevent begin[MOST_GPUS], end[MOST_GPUS];
	for (int d = 0; d < n_gpus; d++) {
		use(d);
		MUST(cuda.cuEventCreate(&begin[d], 0));
		MUST(cuda.cuEventCreate(&end[d], 0));
		MUST(cuda.cuEventRecord(begin[d], NULL));
	}
	for (int i = 0; i < n; i++)
		for (int d = 0; d < n_gpus; d++)
			if (i % (d + 1) == 0) {
				use(d);
				launch(d, gpus[d].spin, 400000 + 200000 * (uint64_t)d, 0, NULL);
			}
	for (int d = 0; d < n_gpus; d++) {
		use(d);
		MUST(cuda.cuEventRecord(end[d], NULL));
	}
	for (int d = 0; d < n_gpus; d++) {
		float ms = 0;
		use(d);
		MUST(cuda.cuEventSynchronize(end[d]));
		cuda_count(TRUTH_SYNC, 1);
		MUST(cuda.cuEventElapsedTime(&ms, begin[d], end[d]));
		printf("gpu %d events-ns %.0f\n", d, ms * 1e6);
	}
}

struct worker {
	int gpu, n;
};

static void *in_thread(void *arg)
{
	const struct worker *w = arg;
	use(w->gpu);
	CUstream a = stream(), b = stream();
	for (int i = 0; i < w->n * (w->gpu + 1); i++) {
		launch(w->gpu, gpus[w->gpu].spin, 50000, 0, a);
		launch(w->gpu, gpus[w->gpu].spin, 30000, 0, b);
	}
	sync_stream(a);
	sync_stream(b);
	return NULL;
}

static void threads(int n)
{
	pthread_t thread[MOST_GPUS];
	struct worker w[MOST_GPUS];
	for (int d = 0; d < n_gpus; d++) {
		w[d] = (struct worker){d, n};
		if (pthread_create(&thread[d], NULL, in_thread, &w[d]) != 0)
			exit(1);
	}
	for (int d = 0; d < n_gpus; d++)
		pthread_join(thread[d], NULL);
}

static void count_copies(int n, size_t bytes)
{
	cuda_count(TRUTH_COPY, (uint64_t)n);
	cuda_count(TRUTH_COPY_BYTES, bytes);
}

static void peers(int n)
{
	enum { BYTES = 1 << 20 };
	CUdeviceptr at[2];
	char *host = malloc(BYTES);
	for (int d = 0; d < 2; d++) {
		use(d);
		MUST(cuda.cuMemAlloc_v2(&at[d], BYTES));
		cuda_count(TRUTH_ALLOC, 1);
		cuda_count(TRUTH_ALLOC_BYTES, BYTES);
	}
	use(0);
	CUstream s = stream();
	for (int i = 0; i < n; i++) {
		memset(host, i + 1, BYTES);
		MUST(cuda.cuMemcpyHtoDAsync_v2(at[0], host, BYTES, s));
		sync_stream(s);
		MUST(cuda.cuMemcpyPeer(at[1], gpus[1].context, at[0], gpus[0].context, BYTES));
		MUST(cuda.cuMemcpyPeerAsync(at[0], gpus[0].context, at[1], gpus[1].context,
					    BYTES / 2, s));
		count_copies(3, BYTES + BYTES + BYTES / 2);
		sync_stream(s);
	}
	printf("peer-copies %d peer-bytes %d\n", 2 * n, n * (BYTES + BYTES / 2));
	free(host);
}

__attribute__((noinline)) static void on_first(CUstream s, int n)
{
	use(0);
	for (int i = 0; i < n; i++)
		launch(0, gpus[0].either, 800000, 0, s);
	NO_TAIL_CALL;
}

__attribute__((noinline)) static void on_second(CUstream s, int n)
{
	use(1);
	for (int i = 0; i < n; i++)
		launch(1, gpus[1].either, 1200000, 1, s);
	NO_TAIL_CALL;
}

static void loops(int n)
{
	CUstream s[2];
	for (int d = 0; d < 2; d++) {
		use(d);
		s[d] = stream();
	}
	for (int i = 0; i < n; i += 10) {
		on_first(s[0], 10);
		on_second(s[1], 10);
	}
	for (int d = 0; d < 2; d++) {
		use(d);
		sync_stream(s[d]);
	}
}

static void spin_1ms(int d)
{
	use(d);
	launch(d, gpus[d].spin, 1000000, 0, NULL);
}

static void sync_gpu(int d)
{
	use(d);
	sync_stream(NULL);
}

static uint64_t n_kernels(int d)
{
	return gpus[d].n_kernels;
}

int main(int argc, char **argv)
{
	static const struct several_ways ways = {open_gpu, one,      threads,  peers,
						 loops,    spin_1ms, sync_gpu, n_kernels};
	cuda_open_driver();
	MUST(cuda.cuDeviceGetCount(&n_gpus));
	n_gpus = n_gpus < MOST_GPUS ? n_gpus : MOST_GPUS;
	int status = several_run(&ways, n_gpus, argc, argv);
	if (status == 0)
		cuda_report();
	return status;
}
