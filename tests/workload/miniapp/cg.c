/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preconditioned conjugate gradients; every thread of the team runs the recurrence on the same
 * scalars. See cg.h.
 */
#include "cg.h"

#include "kernels.h"
#include "memory.h"

#include <math.h>

struct cg {
	const struct grid *grid;
	const struct matrix *matrix;
	struct multigrid *mg;
	double *r, *z, *p, *q; /* residual, preconditioned residual, direction, A times direction */
	double *plane;         /* for kernel_dot */
};

struct cg *cg_create(const struct grid *grid, const struct matrix *matrix, struct multigrid *mg)
{
	struct cg *cg = memory_get(1, sizeof *cg);
	const size_t n = grid_field_size(grid);

	cg->grid = grid;
	cg->matrix = matrix;
	cg->mg = mg;
	cg->r = kernels_get(n, sizeof(double));
	cg->z = kernels_get(n, sizeof(double));
	cg->p = kernels_get(n, sizeof(double));
	cg->q = kernels_get(n, sizeof(double));
	cg->plane = kernels_get((size_t)grid->nz_global, sizeof(double));
	return cg;
}

void cg_destroy(struct cg *cg)
{
	kernels_free(cg->r);
	kernels_free(cg->z);
	kernels_free(cg->p);
	kernels_free(cg->q);
	kernels_free(cg->plane);
	free(cg);
}

struct cg_result cg_solve(struct cg *cg, const double *b, double *x, double tolerance,
			  int max_iterations)
{
	const struct grid *grid = cg->grid;
	const double norm_b = sqrt(kernel_dot(grid, b, b, cg->plane));
	struct cg_result result = {.iterations = 0};
	double rz, rr;

	kernel_residual(grid, cg->matrix, b, x, cg->r);
	multigrid_apply(cg->mg, cg->r, cg->z);
	kernel_copy(grid, cg->z, cg->p);
	rz = kernel_dot(grid, cg->r, cg->z, cg->plane);
	rr = kernel_dot(grid, cg->r, cg->r, cg->plane);
	while (sqrt(rr) > tolerance * norm_b && result.iterations < max_iterations) {
		const double rz_before = rz;
		double step;

		kernel_multiply(grid, cg->matrix, cg->p, cg->q);
		step = rz / kernel_dot(grid, cg->p, cg->q, cg->plane);
		kernel_add_scaled(grid, step, cg->p, x);
		kernel_add_scaled(grid, -step, cg->q, cg->r);
		multigrid_apply(cg->mg, cg->r, cg->z);
		rz = kernel_dot(grid, cg->r, cg->z, cg->plane);
		rr = kernel_dot(grid, cg->r, cg->r, cg->plane);
		kernel_scale_add(grid, rz / rz_before, cg->z, cg->p);
		result.iterations++;
	}
	result.residual = norm_b > 0 ? sqrt(rr) / norm_b : 0;
	return result;
}
