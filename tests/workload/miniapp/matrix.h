/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sparse matrix in compressed row storage over the cells of a grid. Row r belongs to the r-th
 * cell of the slab (no ghosts); a column is an index into a field (ghosts included), so that
 * columns of other ranks need no table. Every row has its diagonal entry first.
 */
#ifndef MELT_MATRIX_H
#define MELT_MATRIX_H

#include "grid.h"

struct matrix {
	size_t n_rows;
	size_t *row_start; /* n_rows + 1 */
	int *column;
	double *value;
};

/* Allocates a matrix with the pattern of the seven-point stencil of the grid; values are zero. Ends
 * the program when memory is short. matrix_destroy frees what is inside. */
void matrix_create(struct matrix *matrix, const struct grid *grid);
void matrix_destroy(struct matrix *matrix);

/* The product of one row with a field. */
static inline double matrix_row_dot(const struct matrix *matrix, size_t row, const double *field)
{
	const size_t end = matrix->row_start[row + 1];
	double sum = 0;

	for (size_t k = matrix->row_start[row]; k < end; k++)
		sum += matrix->value[k] * field[matrix->column[k]];
	return sum;
}

static inline double matrix_diagonal(const struct matrix *matrix, size_t row)
{
	return matrix->value[matrix->row_start[row]];
}

#endif
