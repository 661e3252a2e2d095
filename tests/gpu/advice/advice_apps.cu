/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops as they are in programs, with the flaw that is usual there. The rules were not fitted to
 * them: they show how good advice is about code that it has not seen. See advice_ways.h.
 */
#include "tests/gpu/advice/advice_ways.h"

static const size_t ALL_FLOATS = (size_t)1 << 26;

static __device__ float sum_of_warp(float v)
{
	for (unsigned k = 16; k; k /= 2)
		v += __shfl_xor_sync(~0u, v, k);
	return v;
}

/* ---- records: an array of structures of 16 values, of which a loop needs two ---- */

static const unsigned RECORDS = 1u << 22;

__global__ void move_records(float *at, unsigned record_step, unsigned field_step)
{
	size_t thread = blockIdx.x * blockDim.x + threadIdx.x;
	float *x = at + thread * record_step;
	x[0] += 0.01f * x[8 * (size_t)field_step]; /* RECORDS */
}

static void records_flawed(cudaStream_t s)
{
	move_records<<<RECORDS / 256, 256, 0, s>>>(advice_room(ALL_FLOATS), 16, 1);
}

static void records_cured(cudaStream_t s)
{
	move_records<<<RECORDS / 256, 256, 0, s>>>(advice_room(ALL_FLOATS), 1, RECORDS);
}

/* ---- columns: a transposition that writes columns ---- */

static const unsigned SIDE = 8192;

__global__ void transpose_plain(const float *in, float *out)
{
	unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
	out[(size_t)x * SIDE + y] = in[(size_t)y * SIDE + x]; /* COLUMNS */
}

__global__ void transpose_by_tiles(const float *in, float *out)
{
	__shared__ float tile[32][33];
	unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
	for (unsigned k = 0; k < 32; k += 8)
		tile[threadIdx.y + k][threadIdx.x] = in[(size_t)(y + k) * SIDE + x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x;
	y = blockIdx.x * 32 + threadIdx.y;
	for (unsigned k = 0; k < 32; k += 8)
		out[(size_t)(y + k) * SIDE + x] = tile[threadIdx.x][threadIdx.y + k];
}

static void columns_flawed(cudaStream_t s)
{
	transpose_plain<<<dim3(SIDE / 32, SIDE / 8), dim3(32, 8), 0, s>>>(
		advice_room(ALL_FLOATS), advice_output(ALL_FLOATS));
}

static void columns_cured(cudaStream_t s)
{
	transpose_by_tiles<<<dim3(SIDE / 32, SIDE / 32), dim3(32, 8), 0, s>>>(
		advice_room(ALL_FLOATS), advice_output(ALL_FLOATS));
}

/* ---- rows: a matrix times a vector, a thread for each row, or a warp ---- */

static const unsigned ROW = 256, ROWS = (unsigned)(ALL_FLOATS / ROW);

__global__ void row_by_thread(const float *matrix, float *out)
{
	unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (unsigned k = 0; k < ROW; k++)
		sum += matrix[(size_t)row * ROW + k] * (float)(k % 8); /* ROWS */
	out[row] = sum;
}

__global__ void row_by_warp(const float *matrix, float *out)
{
	unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
	float sum = 0;
	for (unsigned k = lane; k < ROW; k += 32)
		sum += matrix[(size_t)row * ROW + k] * (float)(k % 8);
	sum = sum_of_warp(sum);
	if (lane == 0)
		out[row] = sum;
}

static void rows_flawed(cudaStream_t s)
{
	row_by_thread<<<ROWS / 256, 256, 0, s>>>(advice_room(ALL_FLOATS), advice_output(ROWS));
}

static void rows_cured(cudaStream_t s)
{
	row_by_warp<<<ROWS / 8, 256, 0, s>>>(advice_room(ALL_FLOATS), advice_output(ROWS));
}

/* ---- product: matrices multiplied from global memory, or by tiles in shared memory ---- */

static const unsigned N_PRODUCT = 2048, TILE = 32;

__global__ void product_plain(const float *a, const float *b, float *c)
{
	unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
	float sum = 0;
	for (unsigned k = 0; k < N_PRODUCT; k++)
		sum += a[y * N_PRODUCT + k] * b[k * N_PRODUCT + x]; /* PRODUCT */
	c[y * N_PRODUCT + x] = sum;
}

/* Each thread has four rows. */
__global__ void product_by_tiles(const float *a, const float *b, float *c)
{
	__shared__ float ta[TILE][TILE], tb[TILE][TILE];
	unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
	float sum[4] = {0};
	for (unsigned tile = 0; tile < N_PRODUCT; tile += TILE) {
		for (unsigned r = 0; r < 4; r++) {
			unsigned at = threadIdx.y + 8 * r;
			ta[at][threadIdx.x] = a[(y + 8 * r) * N_PRODUCT + tile + threadIdx.x];
			tb[at][threadIdx.x] = b[(tile + at) * N_PRODUCT + x];
		}
		__syncthreads();
		for (unsigned k = 0; k < TILE; k++)
			for (unsigned r = 0; r < 4; r++)
				sum[r] += ta[threadIdx.y + 8 * r][k] * tb[k][threadIdx.x];
		__syncthreads();
	}
	for (unsigned r = 0; r < 4; r++)
		c[(y + 8 * r) * N_PRODUCT + x] = sum[r];
}

static void product_flawed(cudaStream_t s)
{
	float *in = advice_room(2 * N_PRODUCT * N_PRODUCT);
	product_plain<<<dim3(N_PRODUCT / TILE, N_PRODUCT / TILE), dim3(TILE, TILE), 0, s>>>(
		in, in + N_PRODUCT * N_PRODUCT, advice_output(N_PRODUCT * N_PRODUCT));
}

static void product_cured(cudaStream_t s)
{
	float *in = advice_room(2 * N_PRODUCT * N_PRODUCT);
	product_by_tiles<<<dim3(N_PRODUCT / TILE, N_PRODUCT / TILE), dim3(TILE, 8), 0, s>>>(
		in, in + N_PRODUCT * N_PRODUCT, advice_output(N_PRODUCT * N_PRODUCT));
}

/* ---- tree: a sum by steps that all threads of a block wait for ---- */

__global__ void sum_by_steps(const float *in, float *out)
{
	__shared__ float part[256];
	part[threadIdx.x] = in[(size_t)blockIdx.x * blockDim.x + threadIdx.x];
	__syncthreads();
	for (unsigned k = 1; k < blockDim.x; k *= 2) {
		if (threadIdx.x % (2 * k) == 0)
			part[threadIdx.x] += part[threadIdx.x + k];
		__syncthreads(); /* TREE */
	}
	if (threadIdx.x == 0)
		out[blockIdx.x] = part[0];
}

__global__ void sum_by_warps(const float *in, float *out)
{
	__shared__ float part[8];
	float sum = sum_of_warp(in[(size_t)blockIdx.x * blockDim.x + threadIdx.x]);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = sum;
	__syncthreads();
	if (threadIdx.x < 32) {
		sum = sum_of_warp(threadIdx.x < 8 ? part[threadIdx.x] : 0);
		if (threadIdx.x == 0)
			out[blockIdx.x] = sum;
	}
}

static const unsigned SUM_BLOCKS = (unsigned)(ALL_FLOATS / 256);

static void tree_flawed(cudaStream_t s)
{
	sum_by_steps<<<SUM_BLOCKS, 256, 0, s>>>(advice_room(ALL_FLOATS), advice_output(SUM_BLOCKS));
}

static void tree_cured(cudaStream_t s)
{
	sum_by_warps<<<SUM_BLOCKS, 256, 0, s>>>(advice_room(ALL_FLOATS), advice_output(SUM_BLOCKS));
}

/* ---- bodies: forces between bodies, with a root in double precision by mistake ---- */

static const unsigned BODIES = 132 * 256;

template <typename T> __device__ float inverse_root(float v)
{
	return (float)(T(1) / sqrt((T)v)); /* BODIES */
}

template <> __device__ float inverse_root<float>(float v)
{
	return rsqrtf(v);
}

template <typename T> __global__ void pull(const float4 *bodies, float4 *out, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float4 self = bodies[thread], sum = {0, 0, 0, 0};
	for (unsigned i = 0; i < n; i++) {
		float4 other = bodies[i];
		float x = other.x - self.x, y = other.y - self.y, z = other.z - self.z;
		float r = inverse_root<T>(x * x + y * y + z * z + 0.01f);
		float f = other.w * r * r * r;
		sum.x += f * x;
		sum.y += f * y;
		sum.z += f * z;
	}
	out[thread] = sum;
}

static void bodies_flawed(cudaStream_t s)
{
	pull<double><<<BODIES / 256, 256, 0, s>>>((const float4 *)advice_room(BODIES * 4),
						  (float4 *)advice_output(BODIES * 4), 4096);
}

static void bodies_cured(cudaStream_t s)
{
	pull<float><<<BODIES / 256, 256, 0, s>>>((const float4 *)advice_room(BODIES * 4),
						 (float4 *)advice_output(BODIES * 4), 4096);
}

/* ---- chain: few warps, and a polynomial at one point after the other ---- */

static const unsigned POINTS = 256, DEGREE = 128;

template <unsigned AT_ONCE> __global__ void polynomials(float *out, unsigned degree)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	_Pragma("unroll 1") for (unsigned p = 0; p < POINTS; p += AT_ONCE)
	{
		float v[AT_ONCE] = {0};
		_Pragma("unroll 16") for (unsigned k = 0; k < degree; k++)
			_Pragma("unroll") for (unsigned q = 0; q < AT_ONCE; q++) v[q] =
				fmaf(v[q], 0.001f * (float)(p + q), 1.5f); /* CHAIN */
		for (unsigned q = 0; q < AT_ONCE; q++)
			sum += v[q];
	}
	out[thread] = sum;
}

static void chain_flawed(cudaStream_t s)
{
	unsigned blocks = advice_units_of_device();
	polynomials<1><<<blocks, 128, 0, s>>>(advice_output(blocks * 128), DEGREE);
}

static void chain_cured(cudaStream_t s)
{
	unsigned blocks = advice_units_of_device();
	polynomials<4><<<blocks, 128, 0, s>>>(advice_output(blocks * 128), DEGREE);
}

/* ---- table: each thread looks another entry up, in constant memory or in shared memory ---- */

static const unsigned ENTRIES = 2048;
static __constant__ unsigned constant_table[ENTRIES];

template <bool SHARED> __global__ void look_up(unsigned *out, unsigned n)
{
	__shared__ unsigned table[SHARED ? ENTRIES : 1];
	if (SHARED) {
		for (unsigned i = threadIdx.x; i < ENTRIES; i += blockDim.x)
			table[i] = constant_table[i];
		__syncthreads();
	}
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, at = thread;
	for (unsigned i = 0; i < n; i++) {
		unsigned entry = (at * 1664525u + 1013904223u) >> 21;
		at += 1 + (SHARED ? table[entry] : constant_table[entry]); /* TABLE */
	}
	out[thread] = at;
}

static void table_flawed(cudaStream_t s)
{
	look_up<false><<<1056, 256, 0, s>>>((unsigned *)advice_output(1056 * 256), 512);
}

static void table_cured(cudaStream_t s)
{
	look_up<true><<<1056, 256, 0, s>>>((unsigned *)advice_output(1056 * 256), 512);
}

/* ---- host and check: what the host does between kernels ---- */

__global__ void smooth(float *at, unsigned n_floats, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float a = at[thread % n_floats];
	for (unsigned i = 0; i < n; i++)
		a = fmaf(a, 0.5f, 0.25f);
	at[thread % n_floats] = a;
}

static const unsigned SMOOTHED = 1u << 20;

static volatile double host_result;

/* Some 0.3 ms. */
static void work_of_host()
{
	double sum = 1;
	for (unsigned i = 0; i < 100000; i++)
		sum = sum * 0.999 + 1;
	host_result = sum;
}

static void host_with(bool waits_first, cudaStream_t s)
{
	for (unsigned i = 0; i < 20; i++) {
		smooth<<<SMOOTHED / 256, 256, 0, s>>>(advice_output(SMOOTHED), SMOOTHED, 10000);
		if (waits_first)
			MUST(cudaStreamSynchronize(s));
		work_of_host(); /* HOST */
		MUST(cudaStreamSynchronize(s));
	}
}

static void host_flawed(cudaStream_t s)
{
	host_with(true, s);
}

static void host_cured(cudaStream_t s)
{
	host_with(false, s);
}

/* An iteration that asks after each step, or each 16, whether it has converged. */
static void check_each(unsigned steps, cudaStream_t s)
{
	static float *norm;
	if (!norm)
		MUST(cudaMallocHost(&norm, sizeof *norm));
	for (unsigned i = 0; i < 256; i++) {
		smooth<<<SMOOTHED / 256, 256, 0, s>>>(advice_output(SMOOTHED), SMOOTHED, 100);
		if (i % steps)
			continue;
		MUST(cudaMemcpyAsync(norm, advice_output(SMOOTHED), sizeof *norm,
				     cudaMemcpyDeviceToHost, s));
		MUST(cudaStreamSynchronize(s)); /* CHECK */
	}
}

static void check_flawed(cudaStream_t s)
{
	check_each(1, s);
}

static void check_cured(cudaStream_t s)
{
	check_each(16, s);
}

/* ---- without a flaw ---- */

/* y += a x */
__global__ void add_scaled(const float *x, float *y, float a)
{
	size_t thread = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	y[thread] = fmaf(a, x[thread], y[thread]);
}

static void scaled(cudaStream_t s)
{
	add_scaled<<<ALL_FLOATS / 256, 256, 0, s>>>(advice_room(ALL_FLOATS),
						    advice_output(ALL_FLOATS), 0.5f);
}

/* All pairs of bodies by way of shared memory, with enough warps. */
__global__ void pull_tiles(const float4 *bodies, float4 *out, unsigned n)
{
	__shared__ float4 tile[256];
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	float4 self = bodies[thread], sum = {0, 0, 0, 0};
	for (unsigned first = 0; first < n; first += 256) {
		tile[threadIdx.x] = bodies[first + threadIdx.x];
		__syncthreads();
		_Pragma("unroll 16") for (unsigned i = 0; i < 256; i++)
		{
			float x = tile[i].x - self.x, y = tile[i].y - self.y,
			      z = tile[i].z - self.z;
			float r = rsqrtf(x * x + y * y + z * z + 0.01f);
			float f = tile[i].w * r * r * r;
			sum.x += f * x;
			sum.y += f * y;
			sum.z += f * z;
		}
		__syncthreads();
	}
	out[thread] = sum;
}

static void bodies_by_tiles(cudaStream_t s)
{
	pull_tiles<<<8 * BODIES / 256, 256, 0, s>>>((const float4 *)advice_room(8 * BODIES * 4),
						    (float4 *)advice_output(8 * BODIES * 4), 4096);
}

const advice_way advice_apps[] = {
	{"records", records_flawed, records_cured, false},
	{"columns", columns_flawed, columns_cured, false},
	{"rows", rows_flawed, rows_cured, false},
	{"product", product_flawed, product_cured, false},
	{"tree", tree_flawed, tree_cured, false},
	{"bodies", bodies_flawed, bodies_cured, false},
	{"chain", chain_flawed, chain_cured, false},
	{"table", table_flawed, table_cured, false},
	{"host", host_flawed, host_cured, true},
	{"check", check_flawed, check_cured, true},
	{"clean-scaled", scaled, NULL, false},
	{"clean-bodies", bodies_by_tiles, NULL, false},
	{},
};
