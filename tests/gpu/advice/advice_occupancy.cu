/* SPDX-License-Identifier: BSD-3-Clause */
/* Too few warps: by registers, shared memory, the size of blocks or grids. See advice_ways.h. */
#include "tests/gpu/advice/advice_ways.h"

/* A walk through memory in which each load of a warp waits for the one before it. */
static __device__ unsigned walk(const unsigned *next, unsigned at, unsigned n)
{
	unsigned lane = threadIdx.x % 32;
	at /= 32;
	_Pragma("unroll 1") for (unsigned i = 0; i < n; i++) at +=
		next[(at * 1664525u + 1013904223u) % 131072 * 32 + lane] + 1; /* WALK */
	return at;
}

static const unsigned WALKERS = 1u << 18, STEPS = 512, WALK_FLOATS = 131072 * 32;

static const unsigned *walk_memory()
{
	return (const unsigned *)advice_room(WALK_FLOATS);
}

static unsigned *walk_output()
{
	return (unsigned *)advice_output(WALKERS);
}

/* ---- registers: values that only the end needs are loaded before the loop ---- */

static const unsigned KEPT = 150;

template <bool EARLY>
__global__ void __launch_bounds__(128)
	keep_values(const unsigned *next, const volatile unsigned *values, unsigned *out)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, v[KEPT];
	if (EARLY)
		_Pragma("unroll") for (unsigned k = 0; k < KEPT; k++) v[k] = values[k + thread];
	unsigned at = walk(next, thread, STEPS);
	if (!EARLY) {
		_Pragma("unroll 2") for (unsigned k = 0; k < KEPT; k++) at =
			at * 3 + values[k + thread];
	} else {
		_Pragma("unroll") for (unsigned k = 0; k < KEPT; k++) at = at * 3 + v[k];
	}
	out[thread] = at;
}

static void registers_flawed(cudaStream_t s)
{
	keep_values<true>
		<<<WALKERS / 128, 128, 0, s>>>(walk_memory(), walk_memory(), walk_output());
}

static void registers_cured(cudaStream_t s)
{
	keep_values<false>
		<<<WALKERS / 128, 128, 0, s>>>(walk_memory(), walk_memory(), walk_output());
}

/* ---- shared: a block asks for more shared memory than it uses ---- */

__global__ void walk_beside_tile(const unsigned *next, unsigned *out)
{
	extern __shared__ unsigned tile[];
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	tile[threadIdx.x] = thread;
	out[thread] = walk(next, tile[threadIdx.x], STEPS);
}

static void walk_with(unsigned shared_bytes, cudaStream_t s)
{
	MUST(cudaFuncSetAttribute(walk_beside_tile, cudaFuncAttributeMaxDynamicSharedMemorySize,
				  (int)shared_bytes));
	walk_beside_tile<<<WALKERS / 256, 256, shared_bytes, s>>>(walk_memory(), walk_output());
}

static void shared_flawed(cudaStream_t s)
{
	walk_with(64 << 10, s);
}

static void shared_cured(cudaStream_t s)
{
	walk_with(1 << 10, s);
}

/* ---- blocks: of one warp, so that the number of blocks on an SM is the limit ---- */

__global__ void walk_alone(const unsigned *next, unsigned *out)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	out[thread] = walk(next, thread, STEPS);
}

static void blocks_flawed(cudaStream_t s)
{
	walk_alone<<<WALKERS / 32, 32, 0, s>>>(walk_memory(), walk_output());
}

static void blocks_cured(cudaStream_t s)
{
	walk_alone<<<WALKERS / 256, 256, 0, s>>>(walk_memory(), walk_output());
}

/* ---- grid and wave: arithmetic on elements, any number of blocks ---- */

__global__ void __launch_bounds__(1024) compute(float *out, unsigned n_elements, unsigned n)
{
	for (unsigned e = blockIdx.x * blockDim.x + threadIdx.x; e < n_elements;
	     e += gridDim.x * blockDim.x) {
		float a = (float)(e % 64), b = a + 1;
		for (unsigned i = 0; i < n; i++) {
			a = fmaf(a, 0.5f, 0.25f);
			b = fmaf(b, 0.5f, 0.25f);
		}
		out[e] = a + b;
	}
}

/* Blocks that an SM holds at a time. */
static unsigned resident()
{
	int n = 0;
	MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, compute, 256, 0));
	return (unsigned)n * advice_units_of_device();
}

static const unsigned ELEMENT_ROUNDS = 512;

static void grid_flawed(cudaStream_t s)
{
	compute<<<16, 256, 0, s>>>(advice_output(1u << 20), 1u << 20, ELEMENT_ROUNDS);
}

static void grid_cured(cudaStream_t s)
{
	compute<<<resident(), 256, 0, s>>>(advice_output(1u << 20), 1u << 20, ELEMENT_ROUNDS);
}

/* One block fits on an SM. The work is the same with any number of blocks: 72 elements a thread. */
static void wave(unsigned blocks, cudaStream_t s)
{
	const unsigned shared_bytes = 128 << 10, n = advice_units_of_device() * 1024 * 72;
	MUST(cudaFuncSetAttribute(compute, cudaFuncAttributeMaxDynamicSharedMemorySize,
				  (int)shared_bytes));
	compute<<<blocks, 1024, shared_bytes, s>>>(advice_output(n), n, ELEMENT_ROUNDS);
}

static void wave_flawed(cudaStream_t s)
{
	wave(advice_units_of_device() * 9 / 8, s);
}

static void wave_cured(cudaStream_t s)
{
	wave(advice_units_of_device(), s);
}

const advice_way advice_occupancy[] = {
	{"registers", registers_flawed, registers_cured, false},
	{"shared", shared_flawed, shared_cured, false},
	{"blocks", blocks_flawed, blocks_cured, false},
	{"grid", grid_flawed, grid_cured, false},
	{"wave", wave_flawed, wave_cured, false},
	{},
};
