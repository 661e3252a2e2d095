/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The multigrid hierarchy and the V-cycle; the coarse matrices are kernel_coarsen. See multigrid.h.
 */
#include "multigrid.h"

#include "kernels.h"
#include "memory.h"

#define JACOBI_WEIGHT 0.8
#define COARSEST_SWEEPS 24

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
		coarse->x = kernels_get(grid_field_size(&coarse->grid), sizeof(double));
		coarse->b = kernels_get(grid_field_size(&coarse->grid), sizeof(double));
	}
	for (int i = 0; i < mg->n_levels; i++) {
		mg->level[i].x_next =
			kernels_get(grid_field_size(&mg->level[i].grid), sizeof(double));
		mg->level[i].r = kernels_get(grid_field_size(&mg->level[i].grid), sizeof(double));
	}
	return mg;
}

void multigrid_destroy(struct multigrid *mg)
{
	for (int i = 0; i < mg->n_levels; i++) {
		matrix_destroy(&mg->level[i].own);
		kernels_free(mg->level[i].x);
		kernels_free(mg->level[i].x_next);
		kernels_free(mg->level[i].b);
		kernels_free(mg->level[i].r);
	}
	free(mg);
}

void multigrid_update(struct multigrid *mg)
{
	for (int i = 1; i < mg->n_levels; i++) {
		const struct level *fine = &mg->level[i - 1];
		struct level *coarse = &mg->level[i];

		kernel_coarsen(&fine->grid, fine->matrix, &coarse->grid, &coarse->own);
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
