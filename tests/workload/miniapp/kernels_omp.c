/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels for a team of OpenMP threads: work-sharing loops inside the one parallel region of
 * the program. Each thread gets a contiguous piece of the rows of cells, the same in all kernels,
 * so that it finds its data in its own cache.
 */
#include "kernels.h"

#include "comm.h"
#include "memory.h"

/* x, y and z loops over the cells of a grid; the body is one row of cells in x. */
#define FOR_ROWS _Pragma("omp for collapse(2) schedule(static)")

void kernels_start(void)
{
}

void kernels_stop(void)
{
}

void *kernels_get(size_t n, size_t size)
{
	return memory_get(n, size);
}

void kernels_free(void *p)
{
	free(p);
}

void kernels_to_host(void *p)
{
	(void)p;
}

void kernels_from_host(void *p)
{
	(void)p;
}

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

void kernel_residual(const struct grid *grid, const struct matrix *matrix, const double *b,
		     double *x, double *r)
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

static void jacobi_from_zero(const struct grid *grid, const struct matrix *matrix, double w,
			     const double *b, double *x_new)
{
	FOR_ROWS
	for (int iz = 0; iz < grid->nz; iz++) {
		for (int iy = 0; iy < grid->ny; iy++) {
			const size_t cell = grid_cell(grid, 0, iy, iz);
			const size_t row = row_number(grid, iy, iz);

			for (size_t i = 0; i < (size_t)grid->nx; i++)
				x_new[cell + i] =
					w * b[cell + i] / matrix_diagonal(matrix, row + i);
		}
	}
}

void kernel_jacobi(const struct grid *grid, const struct matrix *matrix, double w, const double *b,
		   double *x, double *x_new)
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

				x_new[cell + i] =
					x[cell + i] + w * r / matrix_diagonal(matrix, row + i);
			}
		}
	}
}

static inline double sum_of_children(const struct grid *fine, const double *x, int ix, int iy,
				     int iz)
{
	const size_t row = (size_t)fine->nx;
	const size_t plane = grid_plane(fine);
	const double *child = x + grid_cell(fine, 2 * ix, 2 * iy, 2 * iz);

	return child[0] + child[1] + child[row] + child[row + 1] + child[plane] + child[plane + 1] +
	       child[plane + row] + child[plane + row + 1];
}

void kernel_restrict(const struct grid *fine, const struct grid *coarse, const double *x_fine,
		     double *x_coarse)
{
	FOR_ROWS
	for (int iz = 0; iz < coarse->nz; iz++) {
		for (int iy = 0; iy < coarse->ny; iy++) {
			const size_t cell = grid_cell(coarse, 0, iy, iz);

			for (int ix = 0; ix < coarse->nx; ix++)
				x_coarse[cell + (size_t)ix] =
					sum_of_children(fine, x_fine, ix, iy, iz);
		}
	}
}

void kernel_prolong(const struct grid *fine, const struct grid *coarse, const double *x_coarse,
		    double *x_fine)
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

/* What a step by delta from a fine cell is on the coarse grid: 0 while it stays in the same coarse
 * cell. odd_* tell which of the eight children the cell is. */
static inline long coarse_step(const struct grid *fine, const struct grid *coarse, long delta,
			       int odd_x, int odd_y, int odd_z)
{
	const long row = fine->nx, plane = (long)grid_plane(fine);

	if (delta == (odd_x ? 1 : -1))
		return delta;
	if (delta == (odd_y ? row : -row))
		return delta > 0 ? coarse->nx : -coarse->nx;
	if (delta == (odd_z ? plane : -plane))
		return delta > 0 ? (long)grid_plane(coarse) : -(long)grid_plane(coarse);
	return 0;
}

static inline void add_to_column(const struct matrix *matrix, size_t row, size_t column,
				 double value)
{
	size_t k = matrix->row_start[row] + 1;

	while ((size_t)matrix->column[k] != column)
		k++;
	matrix->value[k] += value;
}

/* Adds one child's row to the row of its parent; returns the child's row sum, the part that does
 * not conduct. */
static double gather_child(const struct grid *fine, const struct matrix *from,
			   const struct grid *coarse, const struct matrix *to, size_t child,
			   size_t parent_row, int odd_x, int odd_y, int odd_z)
{
	const size_t row = child - grid_plane(fine);
	const size_t parent = parent_row + grid_plane(coarse);
	double sum = 0;

	for (size_t k = from->row_start[row]; k < from->row_start[row + 1]; k++) {
		const long delta = (long)from->column[k] - (long)child;
		const long step = coarse_step(fine, coarse, delta, odd_x, odd_y, odd_z);

		sum += from->value[k];
		if (step)
			add_to_column(to, parent_row, parent + (size_t)step,
				      KERNEL_CONDUCTANCE_SCALE * from->value[k]);
	}
	return sum;
}

static void coarse_row(const struct grid *fine, const struct matrix *from,
		       const struct grid *coarse, const struct matrix *to, int x, int y, int z)
{
	const size_t row = grid_cell(coarse, x, y, z) - grid_plane(coarse);
	double diagonal = 0;

	for (size_t k = to->row_start[row]; k < to->row_start[row + 1]; k++)
		to->value[k] = 0;
	for (int child = 0; child < 8; child++) {
		const int odd_x = child & 1, odd_y = child >> 1 & 1, odd_z = child >> 2;
		const size_t cell = grid_cell(fine, 2 * x + odd_x, 2 * y + odd_y, 2 * z + odd_z);

		diagonal += gather_child(fine, from, coarse, to, cell, row, odd_x, odd_y, odd_z);
	}
	for (size_t k = to->row_start[row] + 1; k < to->row_start[row + 1]; k++)
		diagonal -= to->value[k];
	to->value[to->row_start[row]] = diagonal;
}

void kernel_coarsen(const struct grid *fine, const struct matrix *fine_matrix,
		    const struct grid *coarse, const struct matrix *coarse_matrix)
{
	FOR_ROWS
	for (int z = 0; z < coarse->nz; z++) {
		for (int y = 0; y < coarse->ny; y++) {
			for (int x = 0; x < coarse->nx; x++)
				coarse_row(fine, fine_matrix, coarse, coarse_matrix, x, y, z);
		}
	}
}
