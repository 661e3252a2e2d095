/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A geometric multigrid V-cycle as preconditioner for the heat equation. Each coarser grid has half
 * the cells in each direction; its matrix is the Galerkin product with piecewise constant transfer,
 * with the conductances halved, which is what makes constants enough for this operator (D. Braess,
 * Computing 55, 1995).
 */
#ifndef MELT_MULTIGRID_H
#define MELT_MULTIGRID_H

#include "grid.h"
#include "matrix.h"

enum { MULTIGRID_LEVELS = 4 };

struct multigrid;

/* Allocates the hierarchy below a grid; stops early where a grid cannot be halved. matrix is that
 * of the finest level and is borrowed. Outside a team. Never NULL: ends the program when memory is
 * short. */
struct multigrid *multigrid_create(const struct grid *grid, const struct matrix *matrix);
void multigrid_destroy(struct multigrid *mg);

/* (team) Recomputes the coarse matrices after the finest one changed. */
void multigrid_update(struct multigrid *mg);

/* (team) z = approximately A^-1 r, by one V-cycle; symmetric and positive, as conjugate gradients
 * need. */
void multigrid_apply(struct multigrid *mg, const double *r, double *z);

#endif
