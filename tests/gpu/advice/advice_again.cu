/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second blind test: ways that were written after the rules had been mended by what the first
 * one (advice_later.cu) and programs of others showed. See advice_ways.h.
 */
#include "tests/gpu/advice/advice_ways.h"

/* ---- matrix: a sparse matrix times a vector, a thread or a warp for each row ---- */

static const unsigned ROWS = 1u << 16, OF_ROW = 128;

__global__ void row_of_thread(const float *values, const float *x, float *y)
{
	unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (unsigned k = 0; k < OF_ROW; k++)
		sum += values[row * OF_ROW + k] * x[(row + 17 * k) % 4096]; /* MATRIX */
	y[row] = sum;
}

__global__ void row_of_warp(const float *values, const float *x, float *y)
{
	unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
	float sum = 0;
	for (unsigned k = lane; k < OF_ROW; k += 32)
		sum += values[row * OF_ROW + k] * x[(row + 17 * k) % 4096];
	for (unsigned k = 16; k; k /= 2)
		sum += __shfl_xor_sync(~0u, sum, k);
	if (lane == 0)
		y[row] = sum;
}

static void matrix_flawed(cudaStream_t s)
{
	row_of_thread<<<ROWS / 256, 256, 0, s>>>(advice_room(ROWS * OF_ROW), advice_room(4096),
						 advice_output(ROWS));
}

static void matrix_cured(cudaStream_t s)
{
	row_of_warp<<<ROWS / 8, 256, 0, s>>>(advice_room(ROWS * OF_ROW), advice_room(4096),
					     advice_output(ROWS));
}

/* ---- powers: by a function, or by products ---- */

template <bool BY_FUNCTION> __global__ void powers(float *out, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float x = 1 + 0.001f * (float)(thread % 128), sum = 0;
	for (unsigned i = 0; i < n; i++) {
		float e = BY_FUNCTION ? exp2f(3 * log2f(x)) : x * x * x; /* POWERS */
		sum += e + sqrtf(e);
		x += 0.01f;
	}
	out[thread] = sum;
}

static void powers_flawed(cudaStream_t s)
{
	powers<true><<<2112, 256, 0, s>>>(advice_output(2112 * 256), 1024);
}

static void powers_cured(cudaStream_t s)
{
	powers<false><<<2112, 256, 0, s>>>(advice_output(2112 * 256), 1024);
}

/* ---- small: blocks of 32 threads, or of 256 ---- */

__global__ void smooth(const float *in, float *out, unsigned n_steps)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float a = in[thread], b = in[thread + 1], c = in[thread + 2];
	for (unsigned i = 0; i < n_steps; i++) { /* SMALL */
		float next = 0.25f * a + 0.5f * b + 0.25f * c;
		a = b;
		b = c;
		c = next;
	}
	out[thread] = c;
}

static void small_flawed(cudaStream_t s)
{
	smooth<<<(1 << 20) / 16, 16, 0, s>>>(advice_room((1 << 20) + 2), advice_output(1 << 20),
					     256);
}

static void small_cured(cudaStream_t s)
{
	smooth<<<(1 << 20) / 256, 256, 0, s>>>(advice_room((1 << 20) + 2), advice_output(1 << 20),
					       256);
}

/* ---- turned: a matrix turned by tiles whose columns are in one bank, or in all ---- */

template <unsigned STEP> __global__ void turn_tiles(const float *in, float *out, unsigned times)
{
	__shared__ float tile[32 * STEP];
	unsigned x = threadIdx.x % 32, y = threadIdx.x / 32;
	tile[y * STEP + x] = in[blockIdx.x * blockDim.x + threadIdx.x];
	for (unsigned i = 0; i < times; i++) {
		__syncthreads();
		float v = tile[x * STEP + y] + 1; /* TURNED */
		__syncthreads();
		tile[y * STEP + x] = v;
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = tile[y * STEP + x];
}

static void turned_flawed(cudaStream_t s)
{
	turn_tiles<32>
		<<<2112, 1024, 0, s>>>(advice_room(2112 * 1024), advice_output(2112 * 1024), 64);
}

static void turned_cured(cudaStream_t s)
{
	turn_tiles<33>
		<<<2112, 1024, 0, s>>>(advice_room(2112 * 1024), advice_output(2112 * 1024), 64);
}

/* ---- product: of two vectors, by few threads, one or eight elements at a time ---- */

template <unsigned AT_ONCE>
__global__ void dot(const float *x, const float *y, float *out, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum = 0;
	_Pragma("unroll 1") for (unsigned i = thread; i < n; i += AT_ONCE * all)
	{
		float a[AT_ONCE], b[AT_ONCE];
		for (unsigned k = 0; k < AT_ONCE; k++) {
			a[k] = x[i + k * all];
			b[k] = y[i + k * all];
		}
		for (unsigned k = 0; k < AT_ONCE; k++)
			sum = fmaf(a[k], b[k], sum); /* DOT */
	}
	out[thread] = sum;
}

static const unsigned DOT_THREADS = 132 * 256;

static void dot_flawed(cudaStream_t s)
{
	dot<1><<<132, 256, 0, s>>>(advice_room(DOT_THREADS * 512), advice_output(DOT_THREADS * 512),
				   advice_output(DOT_THREADS), DOT_THREADS * 512);
}

static void dot_cured(cudaStream_t s)
{
	dot<8><<<132, 256, 0, s>>>(advice_room(DOT_THREADS * 512), advice_output(DOT_THREADS * 512),
				   advice_output(DOT_THREADS), DOT_THREADS * 512);
}

/* ---- residual: copied to the host after each step, or after each 40 ---- */

static void iterate(unsigned every, cudaStream_t s)
{
	static float *residual;
	if (!residual)
		MUST(cudaMallocHost(&residual, sizeof *residual));
	for (unsigned i = 0; i < 200; i++) {
		smooth<<<256, 256, 0, s>>>(advice_room((1 << 16) + 2), advice_output(1 << 16), 64);
		if (i % every != every - 1)
			continue;
		MUST(cudaMemcpyAsync(residual, advice_output(1), sizeof *residual,
				     cudaMemcpyDeviceToHost, s));
		MUST(cudaStreamSynchronize(s));
	}
}

static void residual_flawed(cudaStream_t s)
{
	iterate(1, s);
}

static void residual_cured(cudaStream_t s)
{
	iterate(40, s);
}

/* ---- upload: of new data for each step, from pageable or pinned memory ---- */

static void upload(bool is_pinned, cudaStream_t s)
{
	const size_t n_bytes = 24 << 20;
	static void *from[2];
	if (!from[0]) {
		from[0] = malloc(n_bytes);
		memset(from[0], 1, n_bytes);
		MUST(cudaMallocHost(&from[1], n_bytes));
	}
	for (unsigned i = 0; i < 8; i++) {
		MUST(cudaMemcpyAsync(advice_room(n_bytes / 4), from[is_pinned], n_bytes,
				     cudaMemcpyHostToDevice, s));
		smooth<<<(1 << 20) / 256, 256, 0, s>>>(advice_room((1 << 20) + 2),
						       advice_output(1 << 20), 256);
	}
	MUST(cudaStreamSynchronize(s));
}

static void upload_flawed(cudaStream_t s)
{
	upload(false, s);
}

static void upload_cured(cudaStream_t s)
{
	upload(true, s);
}

/* ---- without a flaw ---- */

/* A list for each warp: no load can begin before the one before it, and SMs are full. */
__global__ void __launch_bounds__(256) walk_lists(const unsigned *next, unsigned *out, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, at = thread / 32;
	for (unsigned i = 0; i < n; i++)
		at = next[at % (1u << 21) * 32 + threadIdx.x % 32] + at * 1664525u + 1013904223u;
	out[thread] = at;
}

static void lists(cudaStream_t s)
{
	walk_lists<<<advice_units_of_device() * 8, 256, 0, s>>>((const unsigned *)advice_room(1),
								(unsigned *)advice_output(1), 128);
}

/* Sums of powers in registers, four at a time. */
__global__ void __launch_bounds__(256) polynomials(float *out, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float x = 0.001f * (float)(thread % 512), a[4] = {0, 1, 2, 3};
	for (unsigned i = 0; i < n; i++)
		_Pragma("unroll") for (unsigned k = 0; k < 4; k++) a[k] = fmaf(a[k], x, 1);
	out[thread] = a[0] + a[1] + a[2] + a[3];
}

static void horner(cudaStream_t s)
{
	polynomials<<<advice_units_of_device() * 8, 256, 0, s>>>(advice_output(1 << 20), 8192);
}

const advice_way advice_again[] = {
	{"matrix", matrix_flawed, matrix_cured, false},
	{"powers", powers_flawed, powers_cured, false},
	{"small", small_flawed, small_cured, false},
	{"turned", turned_flawed, turned_cured, false},
	{"dot", dot_flawed, dot_cured, false},
	{"residual", residual_flawed, residual_cured, true},
	{"upload", upload_flawed, upload_cured, true},
	{"clean-lists", lists, NULL, false},
	{"clean-horner", horner, NULL, false},
	{},
};
