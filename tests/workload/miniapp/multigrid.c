/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The multigrid hierarchy: coarse matrices and the V-cycle. See multigrid.h.
 */
#include "multigrid.h"

#include "kernels.h"
#include "memory.h"

#define JACOBI_WEIGHT 0.8
#define COARSEST_SWEEPS 24
#define CONDUCTANCE_SCALE 0.5

struct level {
	struct grid grid;
	struct matrix own;           /* unused on the finest level */
	const struct matrix *matrix; /* of this level */
	double *x, *x_next, *b, *r;  /* x and b unused on the finest level */
};

struct multigrid {
	int n_levels;
	struct level level[MULTIGRID_LEVELS];
};

static int can_be_halved(const struct grid *grid)
{
	return grid->nx % 2 == 0 && grid->ny % 2 == 0 && grid->nz % 2 == 0;
}

static struct grid halve(const struct grid *fine)
{
	return (struct grid){
		.nx = fine->nx / 2,
		.ny = fine->ny / 2,
		.nz = fine->nz / 2,
		.nz_global = fine->nz_global / 2,
		.z_first = fine->z_first / 2,
		.cell_m = fine->cell_m * 2,
	};
}

struct multigrid *multigrid_create(const struct grid *grid, const struct matrix *matrix)
{
	struct multigrid *mg = memory_get(1, sizeof *mg);

	mg->level[0].grid = *grid;
	mg->level[0].matrix = matrix;
	for (mg->n_levels = 1; mg->n_levels < MULTIGRID_LEVELS; mg->n_levels++) {
		struct level *coarse = &mg->level[mg->n_levels];
		const struct level *fine = coarse - 1;

		if (!can_be_halved(&fine->grid))
			break;
		coarse->grid = halve(&fine->grid);
		matrix_create(&coarse->own, &coarse->grid);
		coarse->matrix = &coarse->own;
		coarse->x = memory_get(grid_field_size(&coarse->grid), sizeof(double));
		coarse->b = memory_get(grid_field_size(&coarse->grid), sizeof(double));
	}
	for (int i = 0; i < mg->n_levels; i++) {
		mg->level[i].x_next = memory_get(grid_field_size(&mg->level[i].grid), sizeof(double));
		mg->level[i].r = memory_get(grid_field_size(&mg->level[i].grid), sizeof(double));
	}
	return mg;
}

void multigrid_destroy(struct multigrid *mg)
{
	for (int i = 0; i < mg->n_levels; i++) {
		matrix_destroy(&mg->level[i].own);
		free(mg->level[i].x);
		free(mg->level[i].x_next);
		free(mg->level[i].b);
		free(mg->level[i].r);
	}
	free(mg);
}

/* What a step by delta from a fine cell is on the coarse grid: 0 while it stays in the same coarse cell. odd_* tell which of
 * the eight children the cell is. */
static inline long coarse_step(const struct grid *fine, const struct grid *coarse, long delta, int odd_x, int odd_y, int odd_z)
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

static inline void add_to_column(struct matrix *matrix, size_t row, size_t column, double value)
{
	size_t k = matrix->row_start[row] + 1;

	while ((size_t)matrix->column[k] != column)
		k++;
	matrix->value[k] += value;
}

/* Adds one child's row to the row of its parent; returns the child's row sum, the part that does not conduct. */
static double gather_child(const struct level *fine, struct level *coarse, size_t child, size_t parent_row, int odd_x,
			   int odd_y, int odd_z)
{
	const struct matrix *from = fine->matrix;
	const size_t row = child - grid_plane(&fine->grid);
	const size_t parent = parent_row + grid_plane(&coarse->grid);
	double sum = 0;

	for (size_t k = from->row_start[row]; k < from->row_start[row + 1]; k++) {
		const long delta = (long)from->column[k] - (long)child;
		const long step = coarse_step(&fine->grid, &coarse->grid, delta, odd_x, odd_y, odd_z);

		sum += from->value[k];
		if (step)
			add_to_column(&coarse->own, parent_row, parent + (size_t)step, CONDUCTANCE_SCALE * from->value[k]);
	}
	return sum;
}

static void coarse_row(const struct level *fine, struct level *coarse, int x, int y, int z)
{
	struct matrix *to = &coarse->own;
	const size_t row = grid_cell(&coarse->grid, x, y, z) - grid_plane(&coarse->grid);
	double diagonal = 0;

	for (size_t k = to->row_start[row]; k < to->row_start[row + 1]; k++)
		to->value[k] = 0;
	for (int child = 0; child < 8; child++) {
		const int odd_x = child & 1, odd_y = child >> 1 & 1, odd_z = child >> 2;
		const size_t cell = grid_cell(&fine->grid, 2 * x + odd_x, 2 * y + odd_y, 2 * z + odd_z);

		diagonal += gather_child(fine, coarse, cell, row, odd_x, odd_y, odd_z);
	}
	for (size_t k = to->row_start[row] + 1; k < to->row_start[row + 1]; k++)
		diagonal -= to->value[k];
	to->value[to->row_start[row]] = diagonal;
}

void multigrid_update(struct multigrid *mg)
{
	for (int i = 1; i < mg->n_levels; i++) {
		const struct level *fine = &mg->level[i - 1];
		struct level *coarse = &mg->level[i];

#pragma omp for collapse(2) schedule(static)
		for (int z = 0; z < coarse->grid.nz; z++) {
			for (int y = 0; y < coarse->grid.ny; y++) {
				for (int x = 0; x < coarse->grid.nx; x++)
					coarse_row(fine, coarse, x, y, z);
			}
		}
	}
}

/* n pairs of sweeps; the result is in x. */
static void smooth(struct level *level, const double *b, double *x, int n)
{
	for (int i = 0; i < n; i++) {
		kernel_jacobi(&level->grid, level->matrix, JACOBI_WEIGHT, b, x, level->x_next);
		kernel_jacobi(&level->grid, level->matrix, JACOBI_WEIGHT, b, level->x_next, x);
	}
}

static void smooth_from_zero(struct level *level, const double *b, double *x, int n)
{
	kernel_jacobi(&level->grid, level->matrix, JACOBI_WEIGHT, b, NULL, level->x_next);
	kernel_jacobi(&level->grid, level->matrix, JACOBI_WEIGHT, b, level->x_next, x);
	smooth(level, b, x, n - 1);
}

static void v_cycle(struct multigrid *mg, int i, const double *b, double *x)
{
	struct level *fine = &mg->level[i], *coarse = fine + 1;

	if (i == mg->n_levels - 1) {
		smooth_from_zero(fine, b, x, COARSEST_SWEEPS / 2);
		return;
	}
	smooth_from_zero(fine, b, x, 1);
	kernel_residual(&fine->grid, fine->matrix, b, x, fine->r);
	kernel_restrict(&fine->grid, &coarse->grid, fine->r, coarse->b);
	v_cycle(mg, i + 1, coarse->b, coarse->x);
	kernel_prolong(&fine->grid, &coarse->grid, coarse->x, x);
	smooth(fine, b, x, 1);
}

void multigrid_apply(struct multigrid *mg, const double *r, double *z)
{
	v_cycle(mg, 0, r, z);
}
