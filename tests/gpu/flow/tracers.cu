/* SPDX-License-Identifier: BSD-3-Clause */
/* Points that the flow carries along. See flow.h. */
#include "tests/gpu/flow/grid.cuh"

static __device__ __forceinline__ float scattered(uint32_t i, uint32_t salt, int n)
{
	uint32_t h = (i + salt) * 2654435761u;
	h ^= h >> 15;
	h *= 2246822519u;
	h ^= h >> 13;
	return (float)(h & 0xffffff) * (1.0f / 16777216.0f) * (float)n;
}

__global__ void scatter(float *at, int n_tracers, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	for (int c = 0; i < n_tracers && c < 3; c++)
		at[3 * i + c] = scattered((uint32_t)i, (uint32_t)c << 24, n);
}

__global__ void move_tracers(float *at, int n_tracers, velocity v, int n, float dt)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n_tracers)
		return;
	point p = carried(v, {at[3 * i], at[3 * i + 1], at[3 * i + 2]}, dt, n);
	at[3 * i] = p.x;
	at[3 * i + 1] = p.y;
	at[3 * i + 2] = p.z;
}

void tracers_start(float *at, int n_tracers, int n, cudaStream_t s)
{
	scatter<<<(n_tracers + 255) / 256, 256, 0, s>>>(at, n_tracers, n);
	work_launched();
}

void tracers_move(float *at, int n_tracers, struct velocity v, int n, float dt, cudaStream_t s)
{
	move_tracers<<<(n_tracers + 255) / 256, 256, 0, s>>>(at, n_tracers, v, n, dt);
	work_launched();
}
