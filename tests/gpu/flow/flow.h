/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mini-application: incompressible flow in a periodic box by the projection method on a staggered
 * grid, with tracers carried along. A step is
 *
 *     advect, diffuse      semi-Lagrangian, second order in time; explicit                 
 *         advect.cu
 *     divergence, V-cycles, gradient: the pressure, by multigrid, as one CUDA graph        
 *         pressure.cu
 *     tracers              moved on a stream of their own while the next step begins       
 *         tracers.cu
 *     energy               sums in a fixed order, copied to the host                       
 *         energy.cu
 *
 * Nothing depends on the order in which blocks run: equal arguments give equal bits. Lengths are in
 * cells, so the grid spacing is 1. All launch functions return after launching; streams say the
 * order.
 */
#ifndef TESTS_GPU_FLOW_FLOW_H
#define TESTS_GPU_FLOW_FLOW_H

#include "tests/gpu/work.cuh"

/* Velocities are at the centres of faces: u[0] of cell (i, j, k) at (i, j + 1/2, k + 1/2), and so
 * on. n is a power of 2. */
struct velocity {
	float *u[3];
};

dim3 flow_blocks(int n); /* for n^3 cells, with flow_threads() each */
dim3 flow_threads();

/* advect.cu: `to` is `from` after dt, without pressure; viscosity in cells^2 a second. The
 * Taylor-Green vortex, of amplitude 1 cell a second, with a disturbance. */
void advect_start(struct velocity v, int n, cudaStream_t s);
void advect_step(struct velocity from, struct velocity spare, struct velocity to, int n, float dt,
		 float viscosity, cudaStream_t s);

/* pressure.cu: makes v free of divergence. The graph is made at the first call with this v. */
struct pressure;
struct pressure *pressure_create(int n, int cycles);
void pressure_project(struct pressure *p, struct velocity v, cudaStream_t s);
const float *pressure_field(const struct pressure *p); /* n^3 */

/* tracers.cu: three coordinates of each. */
void tracers_start(float *at, int n_tracers, int n, cudaStream_t s);
void tracers_move(float *at, int n_tracers, struct velocity v, int n, float dt, cudaStream_t s);

/* energy.cu: kinetic energy and the largest divergence, into two doubles on the host, pinned, valid
 * when s is done. */
struct energy;
struct energy *energy_create();
void energy_measure(struct energy *e, struct velocity v, int n, double *host, cudaStream_t s);

#endif
