/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pattern of the sparse matrix of a grid: each cell and its up to six neighbours. See matrix.h.
 */
#include "matrix.h"

#include "kernels.h"

static size_t append_if(const struct matrix *matrix, size_t k, int exists, size_t column)
{
	if (exists)
		matrix->column[k++] = (int)column;
	return k;
}

void matrix_create(struct matrix *matrix, const struct grid *grid)
{
	const size_t n = grid_rows(grid);
	const size_t plane = grid_plane(grid);
	size_t k = 0, row = 0;

	matrix->n_rows = n;
	matrix->row_start = kernels_get(n + 1, sizeof *matrix->row_start);
	matrix->column = kernels_get(7 * n, sizeof *matrix->column);
	matrix->value = kernels_get(7 * n, sizeof *matrix->value);
	for (int z = 0; z < grid->nz; z++) {
		const int global = grid->z_first + z;

		for (int y = 0; y < grid->ny; y++) {
			for (int x = 0; x < grid->nx; x++, row++) {
				const size_t cell = grid_cell(grid, x, y, z);

				matrix->row_start[row] = k;
				matrix->column[k++] = (int)cell;
				k = append_if(matrix, k, x > 0, cell - 1);
				k = append_if(matrix, k, x < grid->nx - 1, cell + 1);
				k = append_if(matrix, k, y > 0, cell - (size_t)grid->nx);
				k = append_if(matrix, k, y < grid->ny - 1, cell + (size_t)grid->nx);
				k = append_if(matrix, k, global > 0, cell - plane);
				k = append_if(matrix, k, global < grid->nz_global - 1,
					      cell + plane);
			}
		}
	}
	matrix->row_start[n] = k;
	kernels_from_host(matrix->row_start);
	kernels_from_host(matrix->column);
}

void matrix_destroy(struct matrix *matrix)
{
	kernels_free(matrix->row_start);
	kernels_free(matrix->column);
	kernels_free(matrix->value);
}
