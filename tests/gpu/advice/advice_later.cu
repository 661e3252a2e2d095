/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways that were written when the rules were complete. What is advised about them at the first
 * measurement is a prediction in the strict sense. See advice_ways.h.
 */
#include "tests/gpu/advice/advice_ways.h"

static const size_t ALL_FLOATS = (size_t)1 << 26;

/* ---- gather: values at places that are far apart, or in order ---- */

static const unsigned GATHERED = 1u << 22;

__global__ void gather(const float *in, float *out, unsigned step)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (unsigned i = 0; i < 8; i++) {
		unsigned at = (thread + i * GATHERED) * step % (unsigned)(1 << 26);
		sum += in[at]; /* GATHER */
	}
	out[thread] = sum;
}

static void gather_flawed(cudaStream_t s)
{
	gather<<<GATHERED / 256, 256, 0, s>>>(advice_room(ALL_FLOATS), advice_output(GATHERED),
					      2654435769u);
}

static void gather_cured(cudaStream_t s)
{
	gather<<<GATHERED / 256, 256, 0, s>>>(advice_room(ALL_FLOATS), advice_output(GATHERED), 1);
}

/* ---- roots: a root and a logarithm for each step, or for each eight ---- */

template <unsigned EVERY> __global__ void distances(float *out, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float x = 1 + 0.01f * (float)(thread % 64), sum = 0, last = 0;
	_Pragma("unroll 8") for (unsigned i = 0; i < n; i++)
	{
		if (i % EVERY == 0)
			last = rsqrtf(x) + __logf(x) + __expf(-x); /* ROOTS */
		sum = fmaf(last, 0.5f, sum);
		x += 0.25f;
	}
	out[thread] = sum;
}

static void roots_flawed(cudaStream_t s)
{
	distances<1><<<2112, 256, 0, s>>>(advice_output(2112 * 256), 2048);
}

static void roots_cured(cudaStream_t s)
{
	distances<8><<<2112, 256, 0, s>>>(advice_output(2112 * 256), 2048);
}

/* ---- vector: a small matrix in shared memory, times a vector, a row for each thread ---- */

template <unsigned STEP> __global__ void times_vector(const float *matrix, float *out, unsigned n)
{
	extern __shared__ float rows[];
	for (unsigned i = threadIdx.x; i < 64 * 64; i += blockDim.x)
		rows[i / 64 * STEP + i % 64] = matrix[i];
	__syncthreads();
	float v = (float)threadIdx.x;
	for (unsigned i = 0; i < n; i++) {
		float sum = 0;
		_Pragma("unroll 16") for (unsigned k = 0; k < 64; k++) sum =
			fmaf(rows[threadIdx.x % 64 * STEP + k], v, sum); /* VECTOR */
		v = sum * 0.01f + 1;
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

static void vector_flawed(cudaStream_t s)
{
	times_vector<64><<<1056, 256, 64 * 64 * sizeof(float), s>>>(advice_room(64 * 64),
								    advice_output(1056 * 256), 32);
}

static void vector_cured(cudaStream_t s)
{
	times_vector<65><<<1056, 256, 64 * 65 * sizeof(float), s>>>(advice_room(64 * 64),
								    advice_output(1056 * 256), 32);
}

/* ---- stack: an array of a thread with an index that only the run knows, or one of constants ----
 */

template <bool KNOWN> __global__ void sort_few(const float *in, float *out, unsigned rounds)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float v[16];
	_Pragma("unroll") for (unsigned k = 0; k < 16; k++) v[k] = in[thread + k] + (float)(k % 5);
	for (unsigned i = 0; i < rounds; i++) {
		if (KNOWN) {
			_Pragma("unroll") for (unsigned k = 0; k < 16; k++) v[k] =
				fmaf(v[(k + 5) % 16], 0.5f, v[k]);
		} else {
			_Pragma("unroll 1") for (unsigned k = 0; k < 16; k++) v[k] =
				fmaf(v[(k + rounds - 95) % 16], 0.5f, v[k]); /* STACK */
		}
	}
	float sum = 0;
	_Pragma("unroll") for (unsigned k = 0; k < 16; k++) sum += v[k];
	out[thread] = sum;
}

static void stack_flawed(cudaStream_t s)
{
	sort_few<false>
		<<<2112, 256, 0, s>>>(advice_room(2112 * 256 + 16), advice_output(2112 * 256), 100);
}

static void stack_cured(cudaStream_t s)
{
	sort_few<true>
		<<<2112, 256, 0, s>>>(advice_room(2112 * 256 + 16), advice_output(2112 * 256), 100);
}

/* ---- lookup: a value whose place is a value, one pair of loads after the other ---- */

static const unsigned LOOKUPS = 512;

template <unsigned AT_ONCE>
__global__ void follow_places(const unsigned *places, const float *values, float *out)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum = 0;
	_Pragma("unroll 1") for (unsigned i = 0; i < LOOKUPS; i += AT_ONCE)
	{
		unsigned at[AT_ONCE];
		for (unsigned k = 0; k < AT_ONCE; k++)
			at[k] = places[thread + (size_t)(i + k) * all];
		for (unsigned k = 0; k < AT_ONCE; k++)
			sum += values[(at[k] + thread + (i + k) * all) % (1u << 26)]; /* LOOKUP */
	}
	out[thread] = sum;
}

static void lookup_flawed(cudaStream_t s)
{
	unsigned blocks = advice_units_of_device() * 2;
	follow_places<1><<<blocks, 128, 0, s>>>((const unsigned *)advice_room(ALL_FLOATS),
						advice_room(ALL_FLOATS), advice_output(1 << 20));
}

static void lookup_cured(cudaStream_t s)
{
	unsigned blocks = advice_units_of_device() * 2;
	follow_places<8><<<blocks, 128, 0, s>>>((const unsigned *)advice_room(ALL_FLOATS),
						advice_room(ALL_FLOATS), advice_output(1 << 20));
}

/* ---- tiles: so much shared memory that two blocks fit, for a chain of instructions ---- */

__global__ void relax(float *out, unsigned n)
{
	extern __shared__ float tile[];
	tile[threadIdx.x] = (float)(threadIdx.x % 16);
	__syncthreads();
	float a = tile[threadIdx.x ^ 1];
	_Pragma("unroll 8") for (unsigned i = 0; i < n; i++) a = fmaf(a, 0.5f, 0.25f); /* TILES */
	out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

static void relax_with(unsigned shared_bytes, cudaStream_t s)
{
	MUST(cudaFuncSetAttribute(relax, cudaFuncAttributeMaxDynamicSharedMemorySize,
				  (int)shared_bytes));
	relax<<<8448, 64, shared_bytes, s>>>(advice_output(8448 * 64), 8192);
}

static void tiles_flawed(cudaStream_t s)
{
	relax_with(100 << 10, s);
}

static void tiles_cured(cudaStream_t s)
{
	relax_with(4 << 10, s);
}

/* ---- pieces: few long blocks, or many short ones ---- */

__global__ void __launch_bounds__(512) scale(const float *in, float *out, unsigned n)
{
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		out[i] = in[i] * 2 + 1; /* PIECES */
}

static void pieces_flawed(cudaStream_t s)
{
	scale<<<32, 512, 0, s>>>(advice_room(1 << 24), advice_output(1 << 24), 1 << 24);
}

static void pieces_cured(cudaStream_t s)
{
	scale<<<advice_units_of_device() * 4, 512, 0, s>>>(advice_room(1 << 24),
							   advice_output(1 << 24), 1 << 24);
}

/* ---- results: copied to pageable memory, or to pinned memory ---- */

static void results_to(bool is_pinned, cudaStream_t s)
{
	const size_t n_bytes = 64 << 20;
	static void *to[2];
	if (!to[0]) {
		to[0] = malloc(n_bytes);
		memset(to[0], 1, n_bytes);
		MUST(cudaMallocHost(&to[1], n_bytes));
	}
	scale<<<528, 512, 0, s>>>(advice_room(1 << 24), advice_output(1 << 24), 1 << 24);
	MUST(cudaMemcpyAsync(to[is_pinned], advice_output(1 << 24), n_bytes, cudaMemcpyDeviceToHost,
			     s));
	MUST(cudaStreamSynchronize(s));
}

static void results_flawed(cudaStream_t s)
{
	results_to(false, s);
}

static void results_cured(cudaStream_t s)
{
	results_to(true, s);
}

/* ---- steps: of a simulation, three short kernels each ---- */

static void launch_steps(cudaStream_t s)
{
	const unsigned n = 1 << 18;
	for (unsigned step = 0; step < 300; step++) {
		scale<<<n / 512, 512, 0, s>>>(advice_room(n), advice_output(n), n);
		scale<<<n / 512, 512, 0, s>>>(advice_output(n), advice_room(n), n);
		scale<<<n / 1024, 512, 0, s>>>(advice_room(n), advice_output(n), n / 2);
	}
}

static void steps_flawed(cudaStream_t s)
{
	launch_steps(s);
	MUST(cudaStreamSynchronize(s));
}

static void steps_cured(cudaStream_t s)
{
	static cudaGraphExec_t exec;
	if (!exec) {
		cudaGraph_t graph;
		advice_output(1);
		advice_room(1);
		MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
		launch_steps(s);
		MUST(cudaStreamEndCapture(s, &graph));
		MUST(cudaGraphInstantiate(&exec, graph, 0));
	}
	MUST(cudaGraphLaunch(exec, s));
	MUST(cudaStreamSynchronize(s));
}

/* ---- without a flaw ---- */

/* Four accesses of 16 bytes at a time, in a loop over all. */
__global__ void __launch_bounds__(256) add_vectors(const float4 *x, float4 *y, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	_Pragma("unroll 4") for (unsigned i = thread; i < n; i += all)
	{
		float4 a = x[i];
		y[i] = {a.x + 1, a.y + 1, a.z + 1, a.w + 1};
	}
}

static void vectors(cudaStream_t s)
{
	add_vectors<<<advice_units_of_device() * 8, 256, 0, s>>>(
		(const float4 *)advice_room(ALL_FLOATS), (float4 *)advice_output(ALL_FLOATS),
		(unsigned)(ALL_FLOATS / 4));
}

/* A sum of all, each thread of many, eight at a time. */
__global__ void __launch_bounds__(256) sum_all(const float *in, float *out, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum = 0;
	_Pragma("unroll 8") for (unsigned i = thread; i < n; i += all) sum += in[i];
	for (unsigned k = 16; k; k /= 2)
		sum += __shfl_xor_sync(~0u, sum, k);
	if (threadIdx.x % 32 == 0)
		atomicAdd(out, sum);
}

static void sum(cudaStream_t s)
{
	sum_all<<<advice_units_of_device() * 8, 256, 0, s>>>(
		advice_room(ALL_FLOATS), advice_output(1), (unsigned)ALL_FLOATS);
}

const advice_way advice_later[] = {
	{"gather", gather_flawed, gather_cured, false},
	{"roots", roots_flawed, roots_cured, false},
	{"vector", vector_flawed, vector_cured, false},
	{"stack", stack_flawed, stack_cured, false},
	{"lookup", lookup_flawed, lookup_cured, false},
	{"tiles", tiles_flawed, tiles_cured, false},
	{"pieces", pieces_flawed, pieces_cured, false},
	{"results", results_flawed, results_cured, true},
	{"steps", steps_flawed, steps_cured, true},
	{"clean-vectors", vectors, NULL, false},
	{"clean-sum", sum, NULL, false},
	{},
};
