/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work for several GPUs from one process. One way by its first argument; 77 with fewer than two
 * GPUs, but for `own`:
 *
 *     one N          one thread gives each GPU kernels in turn: N of 0.4 ms to GPU 0, N/2 of 0.6 ms
 *         to GPU 1, and so on
 *     threads N      a thread for each GPU, with two streams each
 *     peers N        copies from each of the first two GPUs to the other, blocking and in streams,
 *         and back; what arrives is what was sent
 *     loops N        one kernel on the first two GPUs at once, but another loop of it on each,
 *         launched by another function
 *     own D MS FILE  GPU D alone, for MS milliseconds in kernels of 1 ms, and on until FILE is
 *         there, if it is given
 *
 * Prints "truth" and "result" lines (work.cuh), and for each GPU "gpu D kernels N" and "gpu D
 * events-ns NS" (of the way `one`, by events around all of its kernels).
 */
#include "several_ways.h"
#include "work.cuh"


#include <thread>
#include <vector>

enum { MOST_GPUS = 16 };

static std::atomic<uint64_t> kernels_of[MOST_GPUS];
static int n_gpus;

__global__ void spin(uint64_t ns)
{
	uint64_t begin, now;
	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	while (now - begin < ns);
}

#define CHAIN_4(a, b, c) a = fmaf(a, b, c), a = fmaf(a, b, c), a = fmaf(a, b, c), a = fmaf(a, b, c)
#define CHAIN_16(a, b, c) CHAIN_4(a, b, c), CHAIN_4(a, b, c), CHAIN_4(a, b, c), CHAIN_4(a, b, c)
#define ROUNDS(n) _Pragma("unroll 1") for (int i = 0; i < (n); i++)

/* The same code on every GPU, and on each its own loop. What is behind a loop stands on its line:
 * what a branch waits is sampled there. */
__global__ void either(int is_second, int n, float b, float *to)
{
	float a = threadIdx.x;
	to += blockIdx.x * blockDim.x + threadIdx.x;
	if (is_second) {
		ROUNDS(n) CHAIN_16(a, b, 0.25f); *to = a; /* LOOP_OF_SECOND */
	} else {
		ROUNDS(n) CHAIN_16(a, b, 0.5f); *to = a; /* LOOP_OF_FIRST */
	}
}

static void use(int gpu)
{
	MUST(cudaSetDevice(gpu));
}

static void launched(int gpu)
{
	work_launched();
	kernels_of[gpu]++;
}

static void spin_on(int gpu, uint64_t ns, cudaStream_t s)
{
	spin<<<1, 32, 0, s>>>(ns);
	launched(gpu);
}

static cudaStream_t stream()
{
	cudaStream_t s;
	MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	return s;
}

/* ---- one thread, or one for each ------------------------------------------------------------- */

static void one(int n)
{
	cudaEvent_t begin[MOST_GPUS], end[MOST_GPUS];
	for (int d = 0; d < n_gpus; d++) {
		use(d);
		spin_on(d, 1000, 0); /* what comes with the first launch is over */
		MUST(cudaEventCreate(&begin[d]));
		MUST(cudaEventCreate(&end[d]));
		work_sync(0);
	}
	for (int d = 0; d < n_gpus; d++) {
		use(d);
		MUST(cudaEventRecord(begin[d]));
	}
	for (int i = 0; i < n; i++)
		for (int d = 0; d < n_gpus; d++)
			if (i % (d + 1) == 0) {
				use(d);
				spin_on(d, 400000 + 200000 * d, 0);
			}
	for (int d = 0; d < n_gpus; d++) {
		use(d);
		MUST(cudaEventRecord(end[d]));
	}
	for (int d = 0; d < n_gpus; d++) {
		float ms = 0;
		use(d);
		MUST(cudaEventSynchronize(end[d]));
		work_count(TRUTH_SYNC);
		MUST(cudaEventElapsedTime(&ms, begin[d], end[d]));
		printf("gpu %d events-ns %.0f\n", d, ms * 1e6);
	}
}

static void in_thread(int gpu, int n)
{
	use(gpu);
	cudaStream_t a = stream(), b = stream();
	for (int i = 0; i < n * (gpu + 1); i++) {
		spin_on(gpu, 50000, a);
		spin_on(gpu, 30000, b);
	}
	work_sync(a);
	work_sync(b);
}

static void threads(int n)
{
	std::vector<std::thread> all;
	for (int d = 0; d < n_gpus; d++)
		all.emplace_back(in_thread, d, n);
	for (std::thread &t : all)
		t.join();
}

/* ---- copies between GPUs --------------------------------------------------------------------- */

static void peers(int n)
{
	const size_t bytes = 4 << 20;
	char *at[2], *host = (char *)malloc(bytes), *back = (char *)malloc(bytes);
	for (int d = 0; d < 2; d++) {
		use(d);
		MUST(cudaMalloc(&at[d], bytes));
		if (cudaDeviceEnablePeerAccess(1 - d, 0) != cudaSuccess)
			(void)cudaGetLastError(); /* then by way of the host */
	}
	use(0);
	cudaStream_t s = stream();
	for (int i = 0; i < n; i++) {
		memset(host, i + 1, bytes);
		work_copy(at[0], host, bytes, cudaMemcpyHostToDevice, s);
		work_sync(s);
		MUST(cudaMemcpyPeer(at[1], 1, at[0], 0, bytes));
		MUST(cudaDeviceSynchronize());
		MUST(cudaMemcpyPeerAsync(at[0], 0, at[1], 1, bytes / 2, s));
		work_sync(s);
		work_count(TRUTH_COPY, 2);
		work_count(TRUTH_COPY_BYTES, bytes + bytes / 2);
		work_copy(back, at[0], bytes, cudaMemcpyDeviceToHost, s);
		work_sync(s);
		if (memcmp(host, back, bytes))
			puts("what came back is not what was sent"), exit(1);
	}
	printf("peer-copies %d peer-bytes %zu\n", 2 * n, n * (bytes + bytes / 2));
	for (int d = 0; d < 2; d++)
		work_result(d ? "second" : "first", at[d], bytes);
}

/* ---- for PC samples -------------------------------------------------------------------------- */

struct loops_of {
	float *to;
	cudaStream_t s;
};

enum { BLOCKS = 528, THREADS = 128 };

__attribute__((noinline)) static void on_first(const struct loops_of *l, int n)
{
	use(0);
	for (int i = 0; i < n; i++) {
		either<<<BLOCKS, THREADS, 0, l->s>>>(0, 20000, 0.5f, l->to);
		launched(0);
	}
}

__attribute__((noinline)) static void on_second(const struct loops_of *l, int n)
{
	use(1);
	for (int i = 0; i < n; i++) {
		either<<<BLOCKS, THREADS, 0, l->s>>>(1, 30000, 0.5f, l->to);
		launched(1);
	}
}

static void loops(int n)
{
	struct loops_of l[2];
	for (int d = 0; d < 2; d++) {
		use(d);
		l[d].s = stream();
		MUST(cudaMalloc(&l[d].to, BLOCKS * THREADS * sizeof *l[d].to));
	}
	for (int i = 0; i < n; i += 10) {
		on_first(&l[0], 10);
		on_second(&l[1], 10);
	}
	for (int d = 0; d < 2; d++) {
		use(d);
		work_sync(l[d].s);
		work_result(d ? "second" : "first", l[d].to, BLOCKS * THREADS * sizeof *l[d].to);
	}
}

static void spin_1ms(int gpu)
{
	use(gpu);
	spin_on(gpu, 1000000, 0);
}

static void sync_gpu(int gpu)
{
	use(gpu);
	work_sync(0);
}

static uint64_t n_kernels(int gpu)
{
	return kernels_of[gpu];
}

int main(int argc, char **argv)
{
	static const struct several_ways ways = {NULL,  one,      threads,  peers,
						 loops, spin_1ms, sync_gpu, n_kernels};
	n_gpus = work_open();
	n_gpus = n_gpus < MOST_GPUS ? n_gpus : MOST_GPUS;
	int status = several_run(&ways, n_gpus, argc, argv);
	if (status == 0)
		work_report();
	return status;
}
