/* SPDX-License-Identifier: BSD-3-Clause */
/* The flow carries itself along, and rubs. See flow.h. */
#include "tests/gpu/flow/grid.cuh"

dim3 flow_threads()
{
	return dim3(32, 4, 2);
}

dim3 flow_blocks(int n)
{
	dim3 t = flow_threads();
	return dim3((n + t.x - 1) / t.x, (n + t.y - 1) / t.y, (n + t.z - 1) / t.z);
}

static __device__ __forceinline__ point face(int c, int i, int j, int k)
{
	return {(float)i + (c == 0 ? 0.0f : 0.5f), (float)j + (c == 1 ? 0.0f : 0.5f),
		(float)k + (c == 2 ? 0.0f : 0.5f)};
}

__global__ void start(velocity v, int n)
{
	int i, j, k;
	if (!my_cell(n, i, j, k))
		return;
	const float w = 2.0f * 3.14159265f / (float)n;
	point p = face(0, i, j, k), q = face(1, i, j, k), r = face(2, i, j, k);
	v.u[0][cell(i, j, k, n)] = sinf(w * p.x) * cosf(w * p.y) * cosf(w * p.z);
	v.u[1][cell(i, j, k, n)] = -cosf(w * q.x) * sinf(w * q.y) * cosf(w * q.z);
	v.u[2][cell(i, j, k, n)] = 0.2f * sinf(3.0f * w * r.x) * cosf(2.0f * w * r.y);
}

__global__ void advect(velocity from, velocity to, int n, float dt)
{
	int i, j, k;
	if (!my_cell(n, i, j, k))
		return;
	for (int c = 0; c < 3; c++)
		to.u[c][cell(i, j, k, n)] =
			component_at(from, c, carried(from, face(c, i, j, k), -dt, n), n);
}

__global__ void diffuse(const float *from, float *to, int n, float amount)
{
	int i, j, k;
	if (!my_cell(n, i, j, k))
		return;
	float f = from[cell(i, j, k, n)];
	to[cell(i, j, k, n)] = fmaf(amount, neighbours(from, i, j, k, n) - 6.0f * f, f);
}

void advect_start(struct velocity v, int n, cudaStream_t s)
{
	start<<<flow_blocks(n), flow_threads(), 0, s>>>(v, n);
	work_launched();
}

void advect_step(struct velocity from, struct velocity spare, struct velocity to, int n, float dt,
		 float viscosity, cudaStream_t s)
{
	advect<<<flow_blocks(n), flow_threads(), 0, s>>>(from, spare, n, dt);
	work_launched();
	for (int c = 0; c < 3; c++) {
		diffuse<<<flow_blocks(n), flow_threads(), 0, s>>>(spare.u[c], to.u[c], n,
								  viscosity * dt);
		work_launched();
	}
}
