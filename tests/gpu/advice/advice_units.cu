/* SPDX-License-Identifier: BSD-3-Clause */
/* Flaws in what warps execute. See advice_ways.h. */
#include "tests/gpu/advice/advice_ways.h"

static const unsigned BLOCKS = 2112, THREADS = 256;

/* ---- divergence: the threads of a warp take different branches ---- */

static __device__ float chain(float a, float b, unsigned n)
{
	_Pragma("unroll 4") for (unsigned i = 0; i < n; i++) a = fmaf(a, b, 0.5f);
	return a;
}

__global__ void branches(float *out, unsigned shift, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float a = (float)(thread % 7);
	switch (threadIdx.x >> shift & 3) { /* DIVERGENCE */
	case 0: a = chain(a, 0.1f, n); break;
	case 1: a = chain(a, 0.2f, n) + 1; break;
	case 2: a = chain(a, 0.3f, n) * 2; break;
	default: a = chain(a, 0.4f, n) - 1;
	}
	out[thread] = a;
}

static void divergence_flawed(cudaStream_t s)
{
	branches<<<BLOCKS, THREADS, 0, s>>>(advice_output(BLOCKS * THREADS), 0, 4096);
}

static void divergence_cured(cudaStream_t s)
{
	branches<<<BLOCKS, THREADS, 0, s>>>(advice_output(BLOCKS * THREADS), 5, 4096);
}

/* ---- balance: one warp of eight does all that comes before the barrier ---- */

__global__ void __launch_bounds__(256) phases(float *out, unsigned of_first, unsigned of_others)
{
	__shared__ float sums[256];
	float a = (float)threadIdx.x;
	unsigned n = threadIdx.x < 32 ? of_first : of_others;
	_Pragma("unroll 1") for (unsigned phase = 0; phase < 16; phase++)
	{
		a = chain(a, 0.25f, n);
		sums[threadIdx.x] = a;
		__syncthreads(); /* BALANCE */
		a += sums[threadIdx.x ^ 32];
		__syncthreads();
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

static void balance_flawed(cudaStream_t s)
{
	phases<<<BLOCKS, THREADS, 0, s>>>(advice_output(BLOCKS * THREADS), 1024, 64);
}

/* The same sum of work for a block: 1024 + 7 * 64 = 8 * 184. */
static void balance_cured(cudaStream_t s)
{
	phases<<<BLOCKS, THREADS, 0, s>>>(advice_output(BLOCKS * THREADS), 184, 184);
}

/* ---- fetch: a loop so far unrolled that it does not fit in the instruction cache ---- */

template <unsigned UNROLL> __global__ void long_code(float *out, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float a = (float)(thread % 64), b = a + 1, c = a + 2, d = a + 3;
	_Pragma("unroll 1") for (unsigned i = 0; i < n / UNROLL; i++)
	{
		_Pragma("unroll") for (unsigned k = 0; k < UNROLL; k++)
		{
			a = fmaf(a, 0.5f, 0.25f); /* FETCH */
			b = fmaf(b, 0.5f, 0.25f);
			c = fmaf(c, 0.5f, 0.25f);
			d = fmaf(d, 0.5f, 0.25f);
		}
	}
	out[thread] = a + b + c + d;
}

static void fetch_flawed(cudaStream_t s)
{
	long_code<4096><<<BLOCKS, 64, 0, s>>>(advice_output(BLOCKS * 64), 8192);
}

static void fetch_cured(cudaStream_t s)
{
	long_code<16><<<BLOCKS, 64, 0, s>>>(advice_output(BLOCKS * 64), 8192);
}

/* ---- double: arithmetic with more digits than the result has ---- */

template <typename T> __global__ void polynomial(float *out, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	T a = (T)(thread % 64), b = a + 1, c = a + 2, d = a + 3;
	_Pragma("unroll 4") for (unsigned i = 0; i < n; i++)
	{
		a = a * (T)0.5 + (T)0.25; /* DOUBLE */
		b = b * (T)0.5 + (T)0.25;
		c = c * (T)0.5 + (T)0.25;
		d = d * (T)0.5 + (T)0.25;
	}
	out[thread] = (float)(a + b + c + d);
}

static void double_flawed(cudaStream_t s)
{
	polynomial<double><<<BLOCKS, THREADS, 0, s>>>(advice_output(BLOCKS * THREADS), 4096);
}

static void double_cured(cudaStream_t s)
{
	polynomial<float><<<BLOCKS, THREADS, 0, s>>>(advice_output(BLOCKS * THREADS), 4096);
}

/* ---- special: a sine for each step, where a rotation does ---- */

__global__ void sines(float *out, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float angle = 0.01f * (float)(thread % 64), sum = 0;
	_Pragma("unroll 4") for (unsigned i = 0; i < n; i++)
	{
		sum += __sinf(angle) * __cosf(angle); /* SPECIAL */
		angle += 0.001f;
	}
	out[thread] = sum;
}

__global__ void rotations(float *out, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float angle = 0.01f * (float)(thread % 64), sum = 0;
	float sine = __sinf(angle), cosine = __cosf(angle);
	const float step_sine = 0.001f, step_cosine = 0.9999995f;
	_Pragma("unroll 4") for (unsigned i = 0; i < n; i++)
	{
		sum += sine * cosine;
		float next = sine * step_cosine + cosine * step_sine;
		cosine = cosine * step_cosine - sine * step_sine;
		sine = next;
	}
	out[thread] = sum;
}

static void special_flawed(cudaStream_t s)
{
	sines<<<BLOCKS, THREADS, 0, s>>>(advice_output(BLOCKS * THREADS), 4096);
}

static void special_cured(cudaStream_t s)
{
	rotations<<<BLOCKS, THREADS, 0, s>>>(advice_output(BLOCKS * THREADS), 4096);
}

const advice_way advice_units[] = {
	{"divergence", divergence_flawed, divergence_cured, false},
	{"balance", balance_flawed, balance_cured, false},
	{"fetch", fetch_flawed, fetch_cured, false},
	{"double", double_flawed, double_cured, false},
	{"special", special_flawed, special_cured, false},
	{},
};
