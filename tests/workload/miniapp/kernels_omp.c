/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels for a team of OpenMP threads: work-sharing loops inside the one parallel region of the program. Each thread gets
 * a contiguous piece of the rows of cells, the same in all kernels, so that it finds its data in its own cache.
 */
#include "kernels.h"

#include "comm.h"

/* x, y and z loops over the cells of a grid; the body is one row of cells in x. */
#define FOR_ROWS _Pragma("omp for collapse(2) schedule(static)")

static inline size_t row_number(const struct grid *grid, int y, int z)
{
	return ((size_t)z * (size_t)grid->ny + (size_t)y) * (size_t)grid->nx;
}

void kernel_copy(const struct grid *grid, const double *x, double *y)
{
	FOR_ROWS
	for (int iz = 0; iz < grid->nz; iz++) {
		for (int iy = 0; iy < grid->ny; iy++) {
			const size_t first = grid_cell(grid, 0, iy, iz);

			for (size_t i = first; i < first + (size_t)grid->nx; i++)
				y[i] = x[i];
		}
	}
}

void kernel_fill(const struct grid *grid, double value, double *x)
{
	const size_t n = grid_field_size(grid);

#pragma omp for schedule(static)
	for (size_t i = 0; i < n; i++)
		x[i] = value;
}

void kernel_add_scaled(const struct grid *grid, double a, const double *x, double *y)
{
	FOR_ROWS
	for (int iz = 0; iz < grid->nz; iz++) {
		for (int iy = 0; iy < grid->ny; iy++) {
			const size_t first = grid_cell(grid, 0, iy, iz);

			for (size_t i = first; i < first + (size_t)grid->nx; i++)
				y[i] += a * x[i];
		}
	}
}

void kernel_scale_add(const struct grid *grid, double a, const double *x, double *y)
{
	FOR_ROWS
	for (int iz = 0; iz < grid->nz; iz++) {
		for (int iy = 0; iy < grid->ny; iy++) {
			const size_t first = grid_cell(grid, 0, iy, iz);

			for (size_t i = first; i < first + (size_t)grid->nx; i++)
				y[i] = x[i] + a * y[i];
		}
	}
}

static double plane_dot(const struct grid *grid, int z, const double *x, const double *y)
{
	const size_t first = grid_cell(grid, 0, 0, z);
	const size_t end = first + grid_plane(grid);
	double sum = 0;

	for (size_t i = first; i < end; i++)
		sum += x[i] * y[i];
	return sum;
}

double kernel_dot(const struct grid *grid, const double *x, const double *y, double *plane)
{
	double sum = 0;

#pragma omp for schedule(static)
	for (int z = 0; z < grid->nz; z++)
		plane[grid->z_first + z] = plane_dot(grid, z, x, y);
	comm_gather_planes(grid, plane);
	for (int z = 0; z < grid->nz_global; z++)
		sum += plane[z];
	/* The next call writes to plane. */
#pragma omp barrier
	return sum;
}

void kernel_multiply(const struct grid *grid, const struct matrix *matrix, double *x, double *y)
{
	comm_exchange(grid, x);
	FOR_ROWS
	for (int iz = 0; iz < grid->nz; iz++) {
		for (int iy = 0; iy < grid->ny; iy++) {
			const size_t cell = grid_cell(grid, 0, iy, iz);
			const size_t row = row_number(grid, iy, iz);

			for (size_t i = 0; i < (size_t)grid->nx; i++)
				y[cell + i] = matrix_row_dot(matrix, row + i, x);
		}
	}
}

void kernel_residual(const struct grid *grid, const struct matrix *matrix, const double *b, double *x, double *r)
{
	comm_exchange(grid, x);
	FOR_ROWS
	for (int iz = 0; iz < grid->nz; iz++) {
		for (int iy = 0; iy < grid->ny; iy++) {
			const size_t cell = grid_cell(grid, 0, iy, iz);
			const size_t row = row_number(grid, iy, iz);

			for (size_t i = 0; i < (size_t)grid->nx; i++)
				r[cell + i] = b[cell + i] - matrix_row_dot(matrix, row + i, x);
		}
	}
}

static void jacobi_from_zero(const struct grid *grid, const struct matrix *matrix, double w, const double *b, double *x_new)
{
	FOR_ROWS
	for (int iz = 0; iz < grid->nz; iz++) {
		for (int iy = 0; iy < grid->ny; iy++) {
			const size_t cell = grid_cell(grid, 0, iy, iz);
			const size_t row = row_number(grid, iy, iz);

			for (size_t i = 0; i < (size_t)grid->nx; i++)
				x_new[cell + i] = w * b[cell + i] / matrix_diagonal(matrix, row + i);
		}
	}
}

void kernel_jacobi(const struct grid *grid, const struct matrix *matrix, double w, const double *b, double *x, double *x_new)
{
	if (!x) {
		jacobi_from_zero(grid, matrix, w, b, x_new);
		return;
	}
	comm_exchange(grid, x);
	FOR_ROWS
	for (int iz = 0; iz < grid->nz; iz++) {
		for (int iy = 0; iy < grid->ny; iy++) {
			const size_t cell = grid_cell(grid, 0, iy, iz);
			const size_t row = row_number(grid, iy, iz);

			for (size_t i = 0; i < (size_t)grid->nx; i++) {
				const double r = b[cell + i] - matrix_row_dot(matrix, row + i, x);

				x_new[cell + i] = x[cell + i] + w * r / matrix_diagonal(matrix, row + i);
			}
		}
	}
}

static inline double sum_of_children(const struct grid *fine, const double *x, int ix, int iy, int iz)
{
	const size_t row = (size_t)fine->nx;
	const size_t plane = grid_plane(fine);
	const double *child = x + grid_cell(fine, 2 * ix, 2 * iy, 2 * iz);

	return child[0] + child[1] + child[row] + child[row + 1] + child[plane] + child[plane + 1] +
	       child[plane + row] + child[plane + row + 1];
}

void kernel_restrict(const struct grid *fine, const struct grid *coarse, const double *x_fine, double *x_coarse)
{
	FOR_ROWS
	for (int iz = 0; iz < coarse->nz; iz++) {
		for (int iy = 0; iy < coarse->ny; iy++) {
			const size_t cell = grid_cell(coarse, 0, iy, iz);

			for (int ix = 0; ix < coarse->nx; ix++)
				x_coarse[cell + (size_t)ix] = sum_of_children(fine, x_fine, ix, iy, iz);
		}
	}
}

void kernel_prolong(const struct grid *fine, const struct grid *coarse, const double *x_coarse, double *x_fine)
{
	FOR_ROWS
	for (int iz = 0; iz < fine->nz; iz++) {
		for (int iy = 0; iy < fine->ny; iy++) {
			const double *parent = x_coarse + grid_cell(coarse, 0, iy / 2, iz / 2);
			double *child = x_fine + grid_cell(fine, 0, iy, iz);

			for (int ix = 0; ix < fine->nx; ix++)
				child[ix] += parent[ix / 2];
		}
	}
}
