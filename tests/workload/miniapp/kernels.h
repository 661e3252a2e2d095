/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data-parallel kernels of the linear solver. With multigrid_update and the (team) functions of heat.h they are all the loops
 * over cells that there are. The implementation here is kernels_omp.c; one for an accelerator replaces that file and runs
 * with a team of one thread.
 *
 * Every function is called by all threads of the team with the same arguments and ends in a barrier. Fields are laid out
 * as grid.h says; rows of a matrix belong to cells without ghosts. Nothing is allocated, nothing fails.
 */
#ifndef MELT_KERNELS_H
#define MELT_KERNELS_H

#include "grid.h"
#include "matrix.h"

/* y = x, ghosts not included; x = value everywhere. */
void kernel_copy(const struct grid *grid, const double *x, double *y);
void kernel_fill(const struct grid *grid, double value, double *x);

/* y = y + a x; y = x + a y. */
void kernel_add_scaled(const struct grid *grid, double a, const double *x, double *y);
void kernel_scale_add(const struct grid *grid, double a, const double *x, double *y);

/* The sum of x y over all ranks, the same to the last bit for any number of threads and ranks. plane is scratch space for
 * nz_global numbers, shared by the team. */
double kernel_dot(const struct grid *grid, const double *x, const double *y, double *plane);

/* y = A x; r = b - A x. The ghosts of x are filled first. */
void kernel_multiply(const struct grid *grid, const struct matrix *matrix, double *x, double *y);
void kernel_residual(const struct grid *grid, const struct matrix *matrix, const double *b, double *x, double *r);

/* One damped Jacobi sweep: x_new = x + w (b - A x) / diag(A). With x NULL, the sweep that starts at zero. */
void kernel_jacobi(const struct grid *grid, const struct matrix *matrix, double w, const double *b, double *x, double *x_new);

/* Between a grid and the one of half as many cells in each direction: coarse = sum of the eight children; each child
 * gets its parent's value added. */
void kernel_restrict(const struct grid *fine, const struct grid *coarse, const double *x_fine, double *x_coarse);
void kernel_prolong(const struct grid *fine, const struct grid *coarse, const double *x_coarse, double *x_fine);

#endif
