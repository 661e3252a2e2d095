/* SPDX-License-Identifier: BSD-3-Clause */
/* Flaws in how kernels use memory. See advice_ways.h. */
#include "tests/gpu/advice/advice_ways.h"

/* ---- strided: neighbouring threads read addresses that are 128 bytes apart ---- */

static const unsigned FIELDS = 32, ELEMENTS = 1u << 21, STRIDED_THREADS = 1u << 17;

/* Reads each field of all elements before the next field, so that no cache still has its line. */
__global__ void sum_fields(const float *in, float *out, size_t element_step, size_t field_step)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (unsigned field = 0; field < FIELDS; field++)
		for (unsigned e = thread; e < ELEMENTS; e += STRIDED_THREADS)
			sum += in[e * element_step + field * field_step]; /* STRIDED */
	out[thread] = sum;
}

static void strided_flawed(cudaStream_t s)
{
	sum_fields<<<STRIDED_THREADS / 256, 256, 0, s>>>(advice_room((size_t)ELEMENTS * FIELDS),
							 advice_output(STRIDED_THREADS), FIELDS, 1);
}

static void strided_cured(cudaStream_t s)
{
	sum_fields<<<STRIDED_THREADS / 256, 256, 0, s>>>(advice_room((size_t)ELEMENTS * FIELDS),
							 advice_output(STRIDED_THREADS), 1,
							 ELEMENTS);
}

/* ---- inflight: one load at a time is under way ---- */

static const unsigned LONG_LOOP = 2048;

__global__ void one_load(const float *in, float *out, unsigned step)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	_Pragma("unroll 1") for (unsigned i = 0; i < LONG_LOOP; i++) sum +=
		in[thread + (size_t)i * step]; /* INFLIGHT */
	out[thread] = sum;
}

__global__ void eight_loads(const float *in, float *out, unsigned step)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	_Pragma("unroll 1") for (unsigned i = 0; i < LONG_LOOP; i += 8)
	{
		float v[8];
		for (unsigned k = 0; k < 8; k++)
			v[k] = in[thread + (size_t)(i + k) * step];
		for (unsigned k = 0; k < 8; k++)
			sum += v[k];
	}
	out[thread] = sum;
}

static void inflight_flawed(cudaStream_t s)
{
	unsigned blocks = advice_units_of_device(), threads = 128;
	one_load<<<blocks, threads, 0, s>>>(advice_room((size_t)LONG_LOOP * blocks * threads),
					    advice_output(blocks * threads), blocks * threads);
}

static void inflight_cured(cudaStream_t s)
{
	unsigned blocks = advice_units_of_device(), threads = 128;
	eight_loads<<<blocks, threads, 0, s>>>(advice_room((size_t)LONG_LOOP * blocks * threads),
					       advice_output(blocks * threads), blocks * threads);
}

/* ---- spills: the bound on blocks leaves a thread 32 registers where it needs more ---- */

static const unsigned VALUES = 40;

template <int BLOCKS>
__global__ void __launch_bounds__(256, BLOCKS) many_values(const float *in, float *out, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float v[VALUES];
	for (unsigned k = 0; k < VALUES; k++)
		v[k] = in[thread + k];
	_Pragma("unroll 1") for (unsigned i = 0; i < n; i++)
	{
		float first = v[0];
		_Pragma("unroll") for (unsigned k = 0; k + 1 < VALUES; k++) v[k] =
			fmaf(v[k + 1], 0.5f, v[k]); /* SPILLS */
		v[VALUES - 1] = fmaf(first, 0.5f, v[VALUES - 1]);
	}
	float sum = 0;
	for (unsigned k = 0; k < VALUES; k++)
		sum += v[k];
	out[thread] = sum;
}

static const unsigned SPILL_BLOCKS = 4096, SPILL_ROUNDS = 200;

static void spills_flawed(cudaStream_t s)
{
	many_values<8><<<SPILL_BLOCKS, 256, 0, s>>>(advice_room(SPILL_BLOCKS * 256 + VALUES),
						    advice_output(SPILL_BLOCKS * 256),
						    SPILL_ROUNDS);
}

static void spills_cured(cudaStream_t s)
{
	many_values<1><<<SPILL_BLOCKS, 256, 0, s>>>(advice_room(SPILL_BLOCKS * 256 + VALUES),
						    advice_output(SPILL_BLOCKS * 256),
						    SPILL_ROUNDS);
}

/* ---- banks: threads of a warp read a column of a tile whose rows begin in the same bank ---- */

template <unsigned WIDTH> __global__ void read_columns(const float *in, float *out, unsigned n)
{
	__shared__ float tile[32 * WIDTH];
	unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	for (unsigned row = warp; row < 32; row += blockDim.x / 32)
		tile[row * WIDTH + lane] = in[row * 32 + lane];
	__syncthreads();
	float sum = 0;
	_Pragma("unroll 4") for (unsigned i = 0; i < n; i++) sum +=
		tile[lane * WIDTH + (i + warp) % 32]; /* BANKS */
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static const unsigned BANK_BLOCKS = 2112, BANK_ROUNDS = 4096;

static void banks_flawed(cudaStream_t s)
{
	read_columns<32><<<BANK_BLOCKS, 256, 0, s>>>(advice_room(1024),
						     advice_output(BANK_BLOCKS * 256), BANK_ROUNDS);
}

static void banks_cured(cudaStream_t s)
{
	read_columns<33><<<BANK_BLOCKS, 256, 0, s>>>(advice_room(1024),
						     advice_output(BANK_BLOCKS * 256), BANK_ROUNDS);
}

/* ---- repeated: each store may change the coefficients, so they are loaded again ---- */

static const unsigned TERMS = 32, REPEATS = 128;

__global__ void loads_again(const float *terms, float *out, unsigned step)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float x = 0.001f * (float)(thread % 32);
	_Pragma("unroll 1") for (unsigned i = 0; i < REPEATS; i++)
	{
		float sum = 0;
		for (unsigned k = 0; k < TERMS; k++)
			sum = fmaf(sum, x, terms[k]); /* REPEATED */
		out[thread + (i % 4) * step] = sum;
		x += 0.001f;
	}
}

__global__ void loads_once(const float *__restrict__ terms, float *__restrict__ out, unsigned step)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float x = 0.001f * (float)(thread % 32), kept[TERMS];
	for (unsigned k = 0; k < TERMS; k++)
		kept[k] = terms[k];
	_Pragma("unroll 1") for (unsigned i = 0; i < REPEATS; i++)
	{
		float sum = 0;
		for (unsigned k = 0; k < TERMS; k++)
			sum = fmaf(sum, x, kept[k]);
		out[thread + (i % 4) * step] = sum;
		x += 0.001f;
	}
}

static const unsigned REPEAT_BLOCKS = 528;

static void repeated_flawed(cudaStream_t s)
{
	loads_again<<<REPEAT_BLOCKS, 256, 0, s>>>(
		advice_room(TERMS), advice_output(REPEAT_BLOCKS * 1024), REPEAT_BLOCKS * 256);
}

static void repeated_cured(cudaStream_t s)
{
	loads_once<<<REPEAT_BLOCKS, 256, 0, s>>>(
		advice_room(TERMS), advice_output(REPEAT_BLOCKS * 1024), REPEAT_BLOCKS * 256);
}

const advice_way advice_memory[] = {
	{"strided", strided_flawed, strided_cured, false},
	{"inflight", inflight_flawed, inflight_cured, false},
	{"spills", spills_flawed, spills_cured, false},
	{"banks", banks_flawed, banks_cured, false},
	{"repeated", repeated_flawed, repeated_cured, false},
	{},
};
