/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conjugate gradients, preconditioned with multigrid (M. Hestenes, E. Stiefel, 1952; the form with
 * a preconditioner as in Y. Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.1).
 */
#ifndef MELT_CG_H
#define MELT_CG_H

#include "grid.h"
#include "matrix.h"
#include "multigrid.h"

struct cg;

struct cg_result {
	int iterations;
	double residual; /* |b - A x| / |b| as the recurrence has it */
};

/* Work space for systems on this grid; outside a team. matrix and mg are borrowed. Never NULL. */
struct cg *cg_create(const struct grid *grid, const struct matrix *matrix, struct multigrid *mg);
void cg_destroy(struct cg *cg);

/* (team) Solves A x = b; x holds the first guess on entry. Stops at the tolerance or after
 * max_iterations; all threads get the same result. */
struct cg_result cg_solve(struct cg *cg, const double *b, double *x, double tolerance,
			  int max_iterations);

#endif
