/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of kernels.h on an OpenCL device; what runs there is kernels.cl. One rank: planes of
 * other ranks are not exchanged.
 */
#include "kernels.h"

#include "opencl.h"

/* Number of elements of an array of arguments. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Three arguments: the arrays of a matrix. */
#define OPENCL_MATRIX(m) \
	OPENCL_BUFFER((m)->row_start), OPENCL_BUFFER((m)->column), OPENCL_BUFFER((m)->value)

void kernel_copy(const struct grid *grid, const double *x, double *y)
{
	opencl_copy(x, y, grid_plane(grid) * sizeof *x, grid_rows(grid) * sizeof *x);
}

void kernel_fill(const struct grid *grid, double value, double *x)
{
	opencl_fill(x, value, grid_field_size(grid) * sizeof *x);
}

/* The two kernels of the same arguments. */
static void add(enum opencl_kernel kernel, const struct grid *grid, double a, const double *x,
		double *y)
{
	const int rows = (int)grid_rows(grid), plane = (int)grid_plane(grid);
	const struct opencl_argument arguments[] = {OPENCL_VALUE(rows), OPENCL_VALUE(plane),
						    OPENCL_VALUE(a), OPENCL_BUFFER(x),
						    OPENCL_BUFFER(y)};

	opencl_run_rows(kernel, grid_rows(grid), arguments, COUNT(arguments));
}

void kernel_add_scaled(const struct grid *grid, double a, const double *x, double *y)
{
	add(OPENCL_ADD_SCALED, grid, a, x, y);
}

void kernel_scale_add(const struct grid *grid, double a, const double *x, double *y)
{
	add(OPENCL_SCALE_ADD, grid, a, x, y);
}

double kernel_dot(const struct grid *grid, const double *x, const double *y, double *plane)
{
	const int in_plane = (int)grid_plane(grid);
	const struct opencl_argument arguments[] = {OPENCL_VALUE(in_plane), OPENCL_BUFFER(x),
						    OPENCL_BUFFER(y), OPENCL_BUFFER(plane)};
	double sum = 0;

	opencl_run_planes(OPENCL_DOT_PLANES, grid, arguments, COUNT(arguments), plane);
	for (int z = 0; z < grid->nz; z++)
		sum += plane[z];
	return sum;
}

void kernel_multiply(const struct grid *grid, const struct matrix *matrix, double *x, double *y)
{
	const int rows = (int)grid_rows(grid), plane = (int)grid_plane(grid);
	const struct opencl_argument arguments[] = {OPENCL_VALUE(rows), OPENCL_VALUE(plane),
						    OPENCL_MATRIX(matrix), OPENCL_BUFFER(x),
						    OPENCL_BUFFER(y)};

	opencl_run_rows(OPENCL_MULTIPLY, grid_rows(grid), arguments, COUNT(arguments));
}

void kernel_residual(const struct grid *grid, const struct matrix *matrix, const double *b,
		     double *x, double *r)
{
	const int rows = (int)grid_rows(grid), plane = (int)grid_plane(grid);
	const struct opencl_argument arguments[] = {OPENCL_VALUE(rows),    OPENCL_VALUE(plane),
						    OPENCL_MATRIX(matrix), OPENCL_BUFFER(b),
						    OPENCL_BUFFER(x),      OPENCL_BUFFER(r)};

	opencl_run_rows(OPENCL_RESIDUAL, grid_rows(grid), arguments, COUNT(arguments));
}

static void jacobi_from_zero(const struct grid *grid, const struct matrix *matrix, double w,
			     const double *b, double *x_new)
{
	const int rows = (int)grid_rows(grid), plane = (int)grid_plane(grid);
	const struct opencl_argument arguments[] = {
		OPENCL_VALUE(rows),           OPENCL_VALUE(plane), OPENCL_BUFFER(matrix->row_start),
		OPENCL_BUFFER(matrix->value), OPENCL_VALUE(w),     OPENCL_BUFFER(b),
		OPENCL_BUFFER(x_new)};

	opencl_run_rows(OPENCL_JACOBI_FROM_ZERO, grid_rows(grid), arguments, COUNT(arguments));
}

void kernel_jacobi(const struct grid *grid, const struct matrix *matrix, double w, const double *b,
		   double *x, double *x_new)
{
	if (!x) {
		jacobi_from_zero(grid, matrix, w, b, x_new);
	} else {
		const int rows = (int)grid_rows(grid), plane = (int)grid_plane(grid);
		const struct opencl_argument arguments[] = {
			OPENCL_VALUE(rows),  OPENCL_VALUE(plane), OPENCL_MATRIX(matrix),
			OPENCL_VALUE(w),     OPENCL_BUFFER(b),    OPENCL_BUFFER(x),
			OPENCL_BUFFER(x_new)};

		opencl_run_rows(OPENCL_JACOBI, grid_rows(grid), arguments, COUNT(arguments));
	}
}

void kernel_restrict(const struct grid *fine, const struct grid *coarse, const double *x_fine,
		     double *x_coarse)
{
	const int rows = (int)grid_rows(coarse);
	const struct opencl_argument arguments[] = {OPENCL_VALUE(rows), OPENCL_VALUE(coarse->nx),
						    OPENCL_VALUE(coarse->ny), OPENCL_BUFFER(x_fine),
						    OPENCL_BUFFER(x_coarse)};

	(void)fine;
	opencl_run_rows(OPENCL_RESTRICT_TO_COARSE, grid_rows(coarse), arguments, COUNT(arguments));
}

void kernel_prolong(const struct grid *fine, const struct grid *coarse, const double *x_coarse,
		    double *x_fine)
{
	const int rows = (int)grid_rows(fine);
	const struct opencl_argument arguments[] = {OPENCL_VALUE(rows), OPENCL_VALUE(fine->nx),
						    OPENCL_VALUE(fine->ny), OPENCL_BUFFER(x_coarse),
						    OPENCL_BUFFER(x_fine)};

	(void)coarse;
	opencl_run_rows(OPENCL_PROLONG, grid_rows(fine), arguments, COUNT(arguments));
}

void kernel_coarsen(const struct grid *fine, const struct matrix *fine_matrix,
		    const struct grid *coarse, const struct matrix *coarse_matrix)
{
	const int rows = (int)grid_rows(coarse);
	const double scale = KERNEL_CONDUCTANCE_SCALE;
	const struct opencl_argument arguments[] = {
		OPENCL_VALUE(rows),  OPENCL_VALUE(coarse->nx),   OPENCL_VALUE(coarse->ny),
		OPENCL_VALUE(scale), OPENCL_MATRIX(fine_matrix), OPENCL_MATRIX(coarse_matrix)};

	(void)fine;
	opencl_run_rows(OPENCL_COARSEN, grid_rows(coarse), arguments, COUNT(arguments));
}
