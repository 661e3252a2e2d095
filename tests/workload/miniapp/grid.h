/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mesh of the mini-application: a box of cubic cells, cut into slabs of whole z planes, one
 * slab for each rank. A field is an array over the slab's planes with one ghost plane below and one
 * above; cells are stored x fastest. A sum over the mesh is formed plane by plane and then over the
 * planes in order, which makes every number independent of how many threads and ranks there are.
 */
#ifndef MELT_GRID_H
#define MELT_GRID_H

#include <stddef.h>

struct grid {
	int nx, ny;    /* cells in x and y */
	int nz;        /* planes of this rank */
	int nz_global; /* planes of all ranks */
	int z_first;   /* global number of this rank's first plane */
	double cell_m; /* edge of a cell, metres */
};

static inline size_t grid_plane(const struct grid *grid)
{
	return (size_t)grid->nx * (size_t)grid->ny;
}

/* Cells of this rank without ghosts: the rows of its matrix. */
static inline size_t grid_rows(const struct grid *grid)
{
	return grid_plane(grid) * (size_t)grid->nz;
}

/* Elements of a field, ghosts included. */
static inline size_t grid_field_size(const struct grid *grid)
{
	return grid_plane(grid) * (size_t)(grid->nz + 2);
}

/* Index in a field; z = -1 and z = nz are the ghost planes. */
static inline size_t grid_cell(const struct grid *grid, int x, int y, int z)
{
	return ((size_t)(z + 1) * (size_t)grid->ny + (size_t)y) * (size_t)grid->nx + (size_t)x;
}

static inline double grid_volume(const struct grid *grid)
{
	return grid->cell_m * grid->cell_m * grid->cell_m;
}

#endif
