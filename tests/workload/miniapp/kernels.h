/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data-parallel kernels of the linear solver, and the memory that they work on. With the (team)
 * functions of heat.h they are all the loops over cells there are. kernels_omp.c is for a team of
 * OpenMP threads; kernels_opencl.c is for an OpenCL device, whose team is one thread, and where
 * data stay on the device but for what kernels_to_host() and kernels_from_host() move.
 *
 * Every kernel is called by all threads of the team with the same arguments and ends in a barrier.
 * Fields are laid out as grid.h says; rows of a matrix belong to cells without ghosts. Kernels
 * allocate nothing; what fails ends the program with a message.
 */
#ifndef MELT_KERNELS_H
#define MELT_KERNELS_H

#include "grid.h"
#include "matrix.h"

/* Outside a team, around all else of this header. On a device: chooses one, says which on standard
 * output, compiles the kernels. */
void kernels_start(void);
void kernels_stop(void);

/* Memory for what kernels work on: fields, the arrays of matrices, planes. Zeroed, never NULL;
 * outside a team. The pointer that is returned is what kernels are called with, not one into the
 * middle. */
void *kernels_get(size_t n, size_t size);
void kernels_free(void *p);

/* By one thread: afterwards the host sees what kernels wrote; kernels see what the host wrote. All
 * of the array. NULL is an empty one. */
void kernels_to_host(void *p);
void kernels_from_host(void *p);

/* y = x, ghosts not included; x = value everywhere. */
void kernel_copy(const struct grid *grid, const double *x, double *y);
void kernel_fill(const struct grid *grid, double value, double *x);

/* y = y + a x; y = x + a y. */
void kernel_add_scaled(const struct grid *grid, double a, const double *x, double *y);
void kernel_scale_add(const struct grid *grid, double a, const double *x, double *y);

/* The sum of x y over all ranks, the same to the last bit for any number of threads and ranks.
 * plane is scratch space for nz_global numbers, shared by the team, from kernels_get(). */
double kernel_dot(const struct grid *grid, const double *x, const double *y, double *plane);

/* y = A x; r = b - A x. The ghosts of x are filled first. */
void kernel_multiply(const struct grid *grid, const struct matrix *matrix, double *x, double *y);
void kernel_residual(const struct grid *grid, const struct matrix *matrix, const double *b,
		     double *x, double *r);

/* One damped Jacobi sweep: x_new = x + w (b - A x) / diag(A). With x NULL, the sweep that starts at
 * zero. */
void kernel_jacobi(const struct grid *grid, const struct matrix *matrix, double w, const double *b,
		   double *x, double *x_new);

/* Between a grid and the one of half as many cells in each direction: coarse = sum of the eight
 * children; each child gets its parent's value added. */
void kernel_restrict(const struct grid *fine, const struct grid *coarse, const double *x_fine,
		     double *x_coarse);
void kernel_prolong(const struct grid *fine, const struct grid *coarse, const double *x_coarse,
		    double *x_fine);

/* The matrix of the coarse grid from that of the fine one: conductances between the eight children
 * of one cell and those of another are added up and scaled; what does not conduct is added up. The
 * pattern of the coarse matrix is there already. */
#define KERNEL_CONDUCTANCE_SCALE 0.5
void kernel_coarsen(const struct grid *fine, const struct matrix *fine_matrix,
		    const struct grid *coarse, const struct matrix *coarse_matrix);

#endif
