/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The discrete heat equation in enthalpy form, dH/dt = div(k grad T) + q, by finite volumes:
 * material properties cell by cell, assembly of the linear system of one implicit step, the update
 * of the enthalpy, and sums over the mesh. heat.c has the fields; what is called by the team is in
 * heat_omp.c, and for an accelerator in heat_opencl.c.
 */
#ifndef MELT_HEAT_H
#define MELT_HEAT_H

#include "grid.h"
#include "material.h"
#include "matrix.h"

struct heat_problem {
	const struct material *material;
	struct wall bottom, top; /* z = 0 and z = L; the other walls are insulated */
	struct torch torch;
};

/* Fields over one grid. enthalpy is the state; the others follow from it. */
struct heat_state {
	struct grid grid;
	double *enthalpy;     /* J/m3 */
	double *enthalpy_old; /* at the beginning of the step */
	double *temperature;  /* K */
	double *conduct;      /* W/(m K) */
	double *capacity;     /* J/(m3 K) */
	double *liquid;       /* fraction */
	double *rhs;          /* W */
	double *solution;     /* K: temperature at the end of the step, from the linear system */
};

/* Allocates the fields, with kernels_get(); outside a team. Ends the program when memory is
 * short. */
void heat_create(struct heat_state *state, const struct grid *grid);
void heat_destroy(struct heat_state *state);

/* (team) From the enthalpy: temperature, conductivity, capacity, liquid fraction of every cell.
 * Ghosts of the enthalpy are filled first. The loop is scheduled as omp_set_schedule said: cells
 * that are melting are dear, and they lie together. */
void heat_properties(const struct heat_problem *problem, struct heat_state *state);

/* (team) The linear system of one iteration of an implicit step of dt_s that ends at time_s. */
void heat_assemble(const struct heat_problem *problem, struct heat_state *state,
		   struct matrix *matrix, double dt_s, double time_s);

/* (team) Enthalpy from the solution of the linear system; conserves energy exactly. */
void heat_update(struct heat_state *state);

/* The following three are sums or maxima over all ranks, the same bits for any number of threads
 * and ranks, known to every thread on return. plane: nz_global numbers of scratch space, shared by
 * the team. */

/* (team) W that enter through the walls and from the torch, by the linear system solved last;
 * before heat_properties. */
double heat_input(const struct heat_problem *problem, const struct heat_state *state, double time_s,
		  double *plane);

/* (team) The integral of a field over the box. */
double heat_integral(const struct grid *grid, const double *field, double *plane);

/* (team) The largest value of a field. */
double heat_maximum(const struct grid *grid, const double *field, double *plane);

#endif
