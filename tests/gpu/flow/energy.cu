/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinetic energy and largest divergence: each block sums its part in a fixed order, then one block
 * sums the parts. See flow.h. */
#include "tests/gpu/flow/grid.cuh"

enum { PARTS = 512, THREADS = 256 };

struct energy {
	double *parts; /* PARTS sums, PARTS largest */
	double *result;
};

/* Sum (first) and largest (second) over the threads of a block, in shared memory, as a tree. */
static __device__ void over_block(double sum, double most, double *to_sum, double *to_most)
{
	__shared__ double sums[THREADS], largest[THREADS];
	int t = threadIdx.x;
	sums[t] = sum;
	largest[t] = most;
	for (int half = THREADS / 2; half > 0; half /= 2) {
		__syncthreads();
		if (t < half) {
			sums[t] += sums[t + half];
			largest[t] = fmax(largest[t], largest[t + half]);
		}
	}
	if (t == 0) {
		*to_sum = sums[0];
		*to_most = largest[0];
	}
}

static __device__ __forceinline__ double square(float a)
{
	return (double)a * (double)a;
}

__global__ void measure_parts(velocity v, int n, double *parts)
{
	double sum = 0, most = 0;
	for (int c = blockIdx.x * THREADS + threadIdx.x; c < n * n * n; c += PARTS * THREADS) {
		sum += 0.5 * (square(v.u[0][c]) + square(v.u[1][c]) + square(v.u[2][c]));
		most = fmax(most, fabs((double)divergence_of(v, c % n, c / n % n, c / n / n, n)));
	}
	over_block(sum, most, &parts[blockIdx.x], &parts[PARTS + blockIdx.x]);
}

__global__ void sum_parts(const double *parts, double *result)
{
	int t = threadIdx.x;
	over_block(parts[t] + parts[t + THREADS],
		   fmax(parts[PARTS + t], parts[PARTS + t + THREADS]), &result[0], &result[1]);
}

struct energy *energy_create()
{
	struct energy *e = new energy();
	MUST(cudaMalloc(&e->parts, 2 * PARTS * sizeof *e->parts));
	MUST(cudaMalloc(&e->result, 2 * sizeof *e->result));
	return e;
}

void energy_measure(struct energy *e, struct velocity v, int n, double *host, cudaStream_t s)
{
	measure_parts<<<PARTS, THREADS, 0, s>>>(v, n, e->parts);
	work_launched();
	sum_parts<<<1, THREADS, 0, s>>>(e->parts, e->result);
	work_launched();
	work_copy(host, e->result, 2 * sizeof *host, cudaMemcpyDeviceToHost, s);
}
