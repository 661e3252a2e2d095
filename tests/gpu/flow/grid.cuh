/* SPDX-License-Identifier: BSD-3-Clause */
/* Device functions of the flow mini-application: cells of a periodic grid, and what lies between
 * them. All are inlined. */
#ifndef TESTS_GPU_FLOW_GRID_CUH
#define TESTS_GPU_FLOW_GRID_CUH

#include "tests/gpu/flow/flow.h"

struct point {
	float x, y, z;
};

__device__ __forceinline__ int wrapped(int i, int n)
{
	return i & (n - 1);
}

__device__ __forceinline__ int cell(int i, int j, int k, int n)
{
	return (wrapped(k, n) * n + wrapped(j, n)) * n + wrapped(i, n);
}

__device__ __forceinline__ float mix(float a, float b, float t)
{
	return fmaf(b - a, t, a);
}

/* A field between its points, which are at whole numbers. */
__device__ __forceinline__ float between(const float *f, float x, float y, float z, int n)
{
	int i = (int)floorf(x), j = (int)floorf(y), k = (int)floorf(z);
	float tx = x - (float)i, ty = y - (float)j, tz = z - (float)k;
	float low = mix(mix(f[cell(i, j, k, n)], f[cell(i + 1, j, k, n)], tx),
			mix(f[cell(i, j + 1, k, n)], f[cell(i + 1, j + 1, k, n)], tx), ty);
	float high = mix(mix(f[cell(i, j, k + 1, n)], f[cell(i + 1, j, k + 1, n)], tx),
			 mix(f[cell(i, j + 1, k + 1, n)], f[cell(i + 1, j + 1, k + 1, n)], tx), ty);
	return mix(low, high, tz);
}

__device__ __forceinline__ float component_at(const velocity &v, int c, point p, int n)
{
	return between(v.u[c], p.x - (c == 0 ? 0.0f : 0.5f), p.y - (c == 1 ? 0.0f : 0.5f),
		       p.z - (c == 2 ? 0.0f : 0.5f), n);
}

__device__ __forceinline__ point velocity_at(const velocity &v, point p, int n)
{
	return {component_at(v, 0, p, n), component_at(v, 1, p, n), component_at(v, 2, p, n)};
}

__device__ __forceinline__ point moved(point p, point v, float dt)
{
	return {fmaf(v.x, dt, p.x), fmaf(v.y, dt, p.y), fmaf(v.z, dt, p.z)};
}

/* Where what is at p will be after dt, by the midpoint rule; with a negative dt, where it was. */
__device__ __forceinline__ point carried(const velocity &v, point p, float dt, int n)
{
	point middle = moved(p, velocity_at(v, p, n), 0.5f * dt);
	return moved(p, velocity_at(v, middle, n), dt);
}

__device__ __forceinline__ float divergence_of(const velocity &v, int i, int j, int k, int n)
{
	return v.u[0][cell(i + 1, j, k, n)] - v.u[0][cell(i, j, k, n)] +
	       v.u[1][cell(i, j + 1, k, n)] - v.u[1][cell(i, j, k, n)] +
	       v.u[2][cell(i, j, k + 1, n)] - v.u[2][cell(i, j, k, n)];
}

__device__ __forceinline__ float neighbours(const float *f, int i, int j, int k, int n)
{
	return f[cell(i - 1, j, k, n)] + f[cell(i + 1, j, k, n)] + f[cell(i, j - 1, k, n)] +
	       f[cell(i, j + 1, k, n)] + f[cell(i, j, k - 1, n)] + f[cell(i, j, k + 1, n)];
}

/* The cell of this thread; false: beyond the grid, which coarse ones do not fill. */
__device__ __forceinline__ bool my_cell(int n, int &i, int &j, int &k)
{
	i = blockIdx.x * blockDim.x + threadIdx.x;
	j = blockIdx.y * blockDim.y + threadIdx.y;
	k = blockIdx.z * blockDim.z + threadIdx.z;
	return i < n && j < n && k < n;
}

#endif
