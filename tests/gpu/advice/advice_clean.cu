/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that are close to a limit of the device and need no advice. See advice_ways.h. */
#include "tests/gpu/advice/advice_ways.h"

static const unsigned STREAM_VECTORS = 1u << 24;

/* The limit is the bandwidth of memory. */
__global__ void stream_copy(const float4 *in, float4 *out)
{
	size_t thread = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	out[thread] = in[thread];
}

static void stream(cudaStream_t s)
{
	stream_copy<<<STREAM_VECTORS / 256, 256, 0, s>>>(
		(const float4 *)advice_room((size_t)STREAM_VECTORS * 4),
		(float4 *)advice_output((size_t)STREAM_VECTORS * 4));
}

/* The limit is the rate at which a scheduler issues. */
__global__ void __launch_bounds__(256) all_issue(float *out, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float a = (float)(thread % 64), b = a + 1, c = a + 2, d = a + 3;
	_Pragma("unroll 8") for (unsigned i = 0; i < n; i++)
	{
		a = fmaf(a, 0.5f, 0.25f);
		b = fmaf(b, 0.5f, 0.25f);
		c = fmaf(c, 0.5f, 0.25f);
		d = fmaf(d, 0.5f, 0.25f);
	}
	out[thread] = a + b + c + d;
}

static void issue(cudaStream_t s)
{
	unsigned blocks = advice_units_of_device() * 64;
	all_issue<<<blocks, 256, 0, s>>>(advice_output(blocks * 256), 4096);
}

/* The bandwidth of memory again, by way of shared memory with one row of padding. */
__global__ void transpose_tile(const float *in, float *out, unsigned n)
{
	__shared__ float tile[32][33];
	unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
	for (unsigned k = 0; k < 32; k += 8)
		tile[threadIdx.y + k][threadIdx.x] = in[(size_t)(y + k) * n + x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x;
	y = blockIdx.x * 32 + threadIdx.y;
	for (unsigned k = 0; k < 32; k += 8)
		out[(size_t)(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

static void transpose(cudaStream_t s)
{
	const unsigned n = 8192;
	transpose_tile<<<dim3(n / 32, n / 32), dim3(32, 8), 0, s>>>(
		advice_room((size_t)n * n), advice_output((size_t)n * n), n);
}

/* Barriers that all warps of a block reach at the same time. */
__global__ void __launch_bounds__(256) even_phases(float *out, unsigned n)
{
	__shared__ float sums[2][256];
	float a = (float)threadIdx.x;
	_Pragma("unroll 1") for (unsigned phase = 0; phase < 16; phase++)
	{
		_Pragma("unroll 4") for (unsigned i = 0; i < n; i++) a = fmaf(a, 0.5f, 0.25f);
		sums[phase & 1][threadIdx.x] = a;
		__syncthreads();
		a += sums[phase & 1][threadIdx.x ^ 32];
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

static void even(cudaStream_t s)
{
	unsigned blocks = advice_units_of_device() * 64;
	even_phases<<<blocks, 256, 0, s>>>(advice_output(blocks * 256), 512);
}

/* Few long kernels, one behind the other, waited for once. */
static void queue(cudaStream_t s)
{
	for (unsigned i = 0; i < 8; i++)
		issue(s);
	MUST(cudaStreamSynchronize(s));
}

const advice_way advice_clean[] = {
	{"clean-stream", stream, NULL, false},       {"clean-issue", issue, NULL, false},
	{"clean-transpose", transpose, NULL, false}, {"clean-even", even, NULL, false},
	{"clean-queue", queue, NULL, true},          {},
};
