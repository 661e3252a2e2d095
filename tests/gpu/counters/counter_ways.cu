// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels whose bytes and operations are known, for gpu=nvidia,counters=... and for ncu.
//
//     known     each kernel twice, from two functions; prints what each does in one launch
//     streams   kernels on two streams from two threads, with copies and fills between them
//     graph     a captured graph of three kernels, launched twice, between two kernels
//     writes    20 launches that add 1 to device, managed and pinned memory; prints the sums
//     empty N   N empty kernels; prints the time of a launch
//     short N   N kernels of 20 us; prints the time of each

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace
{
constexpr size_t n_big = size_t(16) << 20;   // of 16 bytes: 256 MiB, more than any L2 cache
constexpr size_t n_small = size_t(1) << 20;  // 16 MiB, which fits
constexpr int n_steps = 1000, n_blocks = 528, n_threads = 256;

void check(cudaError_t e)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e));
		exit(1);
	}
}

__global__ void copy(const float4 *from, float4 *to, size_t n)
{
	size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
	if (i < n)
		to[i] = from[i];
}

__global__ void sum(const float4 *from, float *to, size_t n)
{
	float s = 0;
	for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
	     i += size_t(gridDim.x) * blockDim.x) {
		float4 v = from[i];
		s += v.x + v.y + v.z + v.w;
	}
	if (s == 12.5f)
		*to = s;
}

__global__ void fma32(float *to, int n)
{
	float x = threadIdx.x;
	for (int i = 0; i < n; i++)
		x = fmaf(x, 1.5f, 0.5f);
	if (x == 12.5f)
		*to = x;
}

__global__ void mix64(double *to, int n)
{
	double x = threadIdx.x;
	for (int i = 0; i < n; i++)
		x = __dadd_rn(__dmul_rn(fma(x, 1.5, 0.5), 0.75), 0.25);
	if (x == 12.5)
		*to = x;
}

__global__ void fma16(__half2 *to, int n)
{
	__half2 x = __float2half2_rn(threadIdx.x), y = __float2half2_rn(0.5f);
	for (int i = 0; i < n; i++)
		x = __hfma2(x, y, y);
	if (__low2float(x) == 12.5f)
		*to = x;
}

// Each warp multiplies matrices of 16 x 16 x 16: 8192 operations a step.
__global__ void tensor16(float *to, int n)
{
	using namespace nvcuda::wmma;
	fragment<matrix_a, 16, 16, 16, __half, row_major> a;
	fragment<matrix_b, 16, 16, 16, __half, row_major> b;
	fragment<accumulator, 16, 16, 16, float> c;
	fill_fragment(a, __float2half(1.0f));
	fill_fragment(b, __float2half(1.0f));
	fill_fragment(c, 0.0f);
	for (int i = 0; i < n; i++)
		mma_sync(c, a, b, c);
	float all = 0; // else the compiler leaves out what is not used
	for (int i = 0; i < c.num_elements; i++)
		all += c.x[i];
	if (all == -1.0f)
		*to = all;
}

__global__ void nothing(void)
{
}

__global__ void spin(long long cycles)
{
	long long begin = clock64();
	while (clock64() - begin < cycles)
		;
}

__global__ void add_to(unsigned *a, unsigned *b, unsigned *c)
{
	*a += 1;
	*b += 1;
	*c += 1;
}

float4 *big[2];

void make_memory(void)
{
	for (float4 *&b : big) {
		check(cudaMalloc(&b, n_big * sizeof *b));
		check(cudaMemset(b, 0, n_big * sizeof *b));
	}
	check(cudaDeviceSynchronize());
}

template <class T> T *place(void)
{
	return reinterpret_cast<T *>(big[1]);
}

// An own frame of the path: not the last call of its caller.
__attribute__((noinline)) void memory_kernels(void)
{
	copy<<<n_big / n_threads, n_threads>>>(big[0], big[1], n_big);
	sum<<<n_blocks, n_threads>>>(big[0], place<float>(), n_big);
	for (int i = 0; i < 2; i++)
		sum<<<n_blocks, n_threads>>>(big[0], place<float>(), n_small);
	asm volatile("");
}

__attribute__((noinline)) void computing_kernels(void)
{
	fma32<<<n_blocks, n_threads>>>(place<float>(), n_steps);
	mix64<<<n_blocks, n_threads>>>(place<double>(), n_steps);
	fma16<<<n_blocks, n_threads>>>(place<__half2>(), n_steps);
	tensor16<<<n_blocks, n_threads>>>(place<float>(), n_steps);
	asm volatile("");
}

void known(void)
{
	make_memory();
	for (int i = 0; i < 2; i++) {
		memory_kernels();
		computing_kernels();
	}
	check(cudaDeviceSynchronize());
	const double threads = double(n_blocks) * n_threads, bytes = n_big * 16.0;
	printf("truth copy read %.0f written %.0f\n", bytes, bytes);
	printf("truth sum read %.0f\n", bytes);
	printf("truth fma32 ffma %.0f\n", threads * n_steps);
	printf("truth mix64 dfma %.0f dmul %.0f dadd %.0f\n", threads * n_steps, threads * n_steps,
	       threads * n_steps);
	printf("truth fma16 hfma %.0f\n", threads * n_steps);
	printf("truth tensor16 operations %.0f\n", threads / 32 * n_steps * 8192);
}

void streams(void)
{
	make_memory();
	std::thread threads[2];
	for (int k = 0; k < 2; k++)
		threads[k] = std::thread([k] {
			cudaStream_t s;
			check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
			for (int i = 0; i < 300; i++) {
				if (k)
					fma32<<<n_blocks, n_threads, 0, s>>>(place<float>(), 100);
				else
					mix64<<<n_blocks, n_threads, 0, s>>>(place<double>(), 10);
				check(cudaMemsetAsync(big[k], 0, 12345, s));
				check(cudaMemcpyAsync(big[k], big[k] + 4096, 65536,
						      cudaMemcpyDeviceToDevice, s));
			}
			check(cudaStreamSynchronize(s));
		});
	for (std::thread &t : threads)
		t.join();
	const double threads_each = double(n_blocks) * n_threads;
	printf("truth fma32 ffma %.0f in 300\n", threads_each * 100 * 300);
	printf("truth mix64 dfma %.0f in 300\n", threads_each * 10 * 300);
}

void graph(void)
{
	cudaStream_t s;
	cudaGraph_t g;
	cudaGraphExec_t e;
	make_memory();
	check(cudaStreamCreate(&s));
	fma32<<<n_blocks, n_threads, 0, s>>>(place<float>(), n_steps);
	check(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	sum<<<n_blocks, n_threads, 0, s>>>(big[0], place<float>(), n_big);
	fma32<<<n_blocks, n_threads, 0, s>>>(place<float>(), 10);
	mix64<<<n_blocks, n_threads, 0, s>>>(place<double>(), 10);
	check(cudaStreamEndCapture(s, &g));
	check(cudaGraphInstantiate(&e, g, 0));
	for (int i = 0; i < 2; i++)
		check(cudaGraphLaunch(e, s));
	fma32<<<n_blocks, n_threads, 0, s>>>(place<float>(), n_steps);
	check(cudaDeviceSynchronize());
	printf("truth fma32 ffma %.0f in 2, without the graph\n",
	       2.0 * n_blocks * n_threads * n_steps);
}

void writes(void)
{
	unsigned *device, *managed, *pinned, seen;
	check(cudaMalloc(&device, sizeof *device));
	check(cudaMemset(device, 0, sizeof *device));
	check(cudaMallocManaged(&managed, sizeof *managed));
	check(cudaMallocHost(&pinned, sizeof *pinned));
	*managed = *pinned = 0;
	for (int i = 0; i < 20; i++)
		add_to<<<1, 1>>>(device, managed, pinned);
	check(cudaDeviceSynchronize());
	check(cudaMemcpy(&seen, device, sizeof seen, cudaMemcpyDeviceToHost));
	printf("device %u managed %u pinned %u\n", seen, *managed, *pinned);
}

void time_launches(const char *what, int n, long long cycles)
{
	make_memory();
	auto begin = std::chrono::steady_clock::now();
	for (int i = 0; i < n; i++)
		if (cycles)
			spin<<<1, 32>>>(cycles);
		else
			nothing<<<1, 32>>>();
	check(cudaDeviceSynchronize());
	std::chrono::duration<double, std::micro> us = std::chrono::steady_clock::now() - begin;
	printf("%s: %.2f us each\n", what, us.count() / n);
}
} // namespace

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "known";
	const int n = argc > 2 ? atoi(argv[2]) : 1000;
	if (!strcmp(way, "known"))
		known();
	else if (!strcmp(way, "streams"))
		streams();
	else if (!strcmp(way, "graph"))
		graph();
	else if (!strcmp(way, "writes"))
		writes();
	else if (!strcmp(way, "empty"))
		time_launches(way, n, 0);
	else if (!strcmp(way, "short"))
		time_launches(way, n, 35000);
	else
		return 2;
	return 0;
}
