/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops for benchmarks, as a program and, for profilers that live in Python (tests/gpu/peers.py),
 * as a library:
 *
 *     launch_loop empty N [DEPTH [OTHER]]   N empty kernels from DEPTH calls deep (30), and in turn
 *         from OTHER; ns of a launch, without waiting for room in the queue
 *     launch_loop busy N US            N kernels of US microseconds on the whole device, one behind
 *         the other; elapsed ns
 *     launch_loop streams N US         the same in four streams, each kernel on a quarter of the
 *         device
 *     launch_loop threads N T          N empty kernels from each of T threads (4) at once, 30 calls
 *         deep, each in a stream of its own; ns of a launch
 *
 * One round to warm up, behind which with STOPPED (environment) a measurement is stopped; then
 * ROUNDS (environment; 3): "ns NUMBER" for each, "ns-OTHER NUMBER" for the other depth, and at the
 * end "memory KIB", the largest resident memory.
 */
#include "work.cuh"

#include <dlfcn.h>
#include <sys/resource.h>
#include <atomic>
#include <thread>
#include <vector>

__global__ void empty() {}

/* Depends on nothing but the clock of the unit, so that its time is the same with and without a
 * profiler. */
__global__ void burn(int n, float b, float *to)
{
	float a = threadIdx.x;
	_Pragma("unroll 1") for (int i = 0; i < n; i++) a = fmaf(a, b, 0.5f), a = fmaf(a, b, 0.25f),
							a = fmaf(a, b, 0.5f), a = fmaf(a, b, 0.25f);
	if (a == 0.123f)
		*to = a;
}

__attribute__((noinline)) static double launch_empty(long n, cudaStream_t stream)
{
	uint64_t ns = 0, begin;
	MUST(cudaStreamSynchronize(stream));
	begin = work_now_ns();
	for (long i = 0; i < n; i++) {
		empty<<<1, 1, 0, stream>>>();
		if (i % 512 == 511) {
			ns += work_now_ns() - begin;
			MUST(cudaStreamSynchronize(stream));
			begin = work_now_ns();
		}
	}
	ns += work_now_ns() - begin;
	MUST(cudaStreamSynchronize(stream));
	MUST(cudaGetLastError());
	return (double)ns / (double)n;
}

__attribute__((noinline)) static double deep_empty(long n, int depth, cudaStream_t stream)
{
	double ns = depth > 1 ? deep_empty(n, depth - 1, stream) : launch_empty(n, stream);
	asm volatile(""); /* no tail call */
	return ns;
}

extern "C" double loop_empty(long n, int depth)
{
	double ns = deep_empty(n, depth, NULL);
	asm volatile("");
	return ns;
}

static double loop_threads(long n, int n_threads)
{
	std::vector<std::thread> threads;
	std::vector<double> ns((size_t)n_threads);
	std::atomic<int> n_ready{0};
	for (int t = 0; t < n_threads; t++)
		threads.emplace_back([&, t] {
			cudaStream_t stream;
			MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
			n_ready++;
			while (n_ready < n_threads)
				;
			ns[(size_t)t] = deep_empty(n, 30, stream);
			MUST(cudaStreamDestroy(stream));
		});
	double sum = 0;
	for (int t = 0; t < n_threads; t++) {
		threads[(size_t)t].join();
		sum += ns[(size_t)t];
	}
	return sum / n_threads;
}

extern "C" double loop_busy(long n, int us, int n_streams)
{
	static cudaStream_t stream[4];
	static int units;
	if (!units) {
		MUST(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0));
		for (cudaStream_t &s : stream)
			MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	}
	int khz = 0;
	MUST(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
	/* cycles of a round, measured on an H200 */
	int rounds = (int)((double)us * khz / 1000.0 / 30.6);
	MUST(cudaDeviceSynchronize());
	uint64_t begin = work_now_ns();
	for (long i = 0; i < n; i++)
		burn<<<units / n_streams, 128, 0, stream[i % n_streams]>>>(rounds, 0.5f, NULL);
	MUST(cudaDeviceSynchronize());
	MUST(cudaGetLastError());
	return (double)(work_now_ns() - begin);
}

/* What hpcrun-lite gives the programs that it measures. */
static void stop_measurement()
{
	auto stop = (void (*)())dlsym(RTLD_DEFAULT, "hpctoolkit_sampling_stop");
	if (stop)
		stop();
}

int main(int argc, char **argv)
{
	const char *rounds = getenv("ROUNDS");
	long n = argc > 2 ? atol(argv[2]) : 10000;
	int m = argc > 3 ? atoi(argv[3]) : 0, other = argc > 4 ? atoi(argv[4]) : 0;
	work_open();
	for (int i = 0; i <= (rounds ? atoi(rounds) : 3); i++) {
		double ns;
		if (argc > 1 && !strcmp(argv[1], "empty"))
			ns = loop_empty(i ? n : n / 10 + 1, m ? m : 30);
		else if (argc > 1 && !strcmp(argv[1], "busy"))
			ns = loop_busy(i ? n : n / 10 + 1, m ? m : 20, 1);
		else if (argc > 1 && !strcmp(argv[1], "streams"))
			ns = loop_busy(i ? n : n / 10 + 1, m ? m : 20, 4);
		else if (argc > 1 && !strcmp(argv[1], "threads"))
			ns = loop_threads(i ? n : n / 10 + 1, m ? m : 4);
		else
			return 2;
		if (i)
			printf("ns %.1f\n", ns);
		else if (getenv("STOPPED"))
			stop_measurement();
		if (other) {
			ns = loop_empty(i ? n : n / 10 + 1, other);
			if (i)
				printf("ns-%d %.1f\n", other, ns);
		}
	}
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("memory %ld\n", usage.ru_maxrss);
	fflush(stdout);
	return 0;
}
