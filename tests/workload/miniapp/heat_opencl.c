/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heat equation on an OpenCL device; what runs there is heat.cl. See heat.h.
 */
#include "heat.h"

#include "opencl.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

void heat_properties(const struct heat_problem *problem, struct heat_state *state)
{
	const struct grid *grid = &state->grid;
	const int rows = (int)grid_rows(grid);
	const struct opencl_argument arguments[] = {
		OPENCL_VALUE(rows),
		OPENCL_VALUE(grid->nx),
		OPENCL_VALUE(grid->ny),
		OPENCL_VALUE(*problem->material),
		OPENCL_BUFFER(state->enthalpy),
		OPENCL_BUFFER(state->temperature),
		OPENCL_BUFFER(state->conduct),
		OPENCL_BUFFER(state->capacity),
		OPENCL_BUFFER(state->liquid),
	};

	opencl_run_rows(OPENCL_PROPERTIES, grid_rows(grid), arguments, COUNT(arguments));
}

void heat_assemble(const struct heat_problem *problem, struct heat_state *state,
		   struct matrix *matrix, double dt_s, double time_s)
{
	const struct grid *grid = &state->grid;
	const int rows = (int)grid_rows(grid);
	const struct opencl_argument arguments[] = {
		OPENCL_VALUE(rows),
		OPENCL_VALUE(grid->nx),
		OPENCL_VALUE(grid->ny),
		OPENCL_VALUE(grid->cell_m),
		OPENCL_VALUE(dt_s),
		OPENCL_VALUE(time_s),
		OPENCL_VALUE(problem->bottom),
		OPENCL_VALUE(problem->top),
		OPENCL_VALUE(problem->torch),
		OPENCL_BUFFER(matrix->row_start),
		OPENCL_BUFFER(matrix->column),
		OPENCL_BUFFER(matrix->value),
		OPENCL_BUFFER(state->enthalpy),
		OPENCL_BUFFER(state->enthalpy_old),
		OPENCL_BUFFER(state->temperature),
		OPENCL_BUFFER(state->conduct),
		OPENCL_BUFFER(state->capacity),
		OPENCL_BUFFER(state->rhs),
		OPENCL_BUFFER(state->solution),
	};

	opencl_run_rows(OPENCL_ASSEMBLE, grid_rows(grid), arguments, COUNT(arguments));
}

void heat_update(struct heat_state *state)
{
	const struct grid *grid = &state->grid;
	const int rows = (int)grid_rows(grid), plane = (int)grid_plane(grid);
	const struct opencl_argument arguments[] = {
		OPENCL_VALUE(rows),
		OPENCL_VALUE(plane),
		OPENCL_BUFFER(state->capacity),
		OPENCL_BUFFER(state->solution),
		OPENCL_BUFFER(state->temperature),
		OPENCL_BUFFER(state->enthalpy),
	};

	opencl_run_rows(OPENCL_UPDATE_ENTHALPY, grid_rows(grid), arguments, COUNT(arguments));
}

static double add_up(const struct grid *grid, const double *plane)
{
	double sum = 0;

	for (int z = 0; z < grid->nz; z++)
		sum += plane[z];
	return sum;
}

double heat_input(const struct heat_problem *problem, const struct heat_state *state, double time_s,
		  double *plane)
{
	const struct grid *grid = &state->grid;
	const struct opencl_argument arguments[] = {
		OPENCL_VALUE(grid->nx),         OPENCL_VALUE(grid->ny),
		OPENCL_VALUE(grid->cell_m),     OPENCL_VALUE(time_s),
		OPENCL_VALUE(problem->bottom),  OPENCL_VALUE(problem->top),
		OPENCL_VALUE(problem->torch),   OPENCL_BUFFER(state->conduct),
		OPENCL_BUFFER(state->solution), OPENCL_BUFFER(plane),
	};

	opencl_run_planes(OPENCL_HEAT_INTO_PLANES, grid, arguments, COUNT(arguments), plane);
	return add_up(grid, plane);
}

double heat_integral(const struct grid *grid, const double *field, double *plane)
{
	const int in_plane = (int)grid_plane(grid);
	const struct opencl_argument arguments[] = {OPENCL_VALUE(in_plane), OPENCL_BUFFER(field),
						    OPENCL_BUFFER(plane)};

	opencl_run_planes(OPENCL_SUM_PLANES, grid, arguments, COUNT(arguments), plane);
	return add_up(grid, plane) * grid_volume(grid);
}

double heat_maximum(const struct grid *grid, const double *field, double *plane)
{
	const int in_plane = (int)grid_plane(grid);
	const struct opencl_argument arguments[] = {OPENCL_VALUE(in_plane), OPENCL_BUFFER(field),
						    OPENCL_BUFFER(plane)};
	double maximum;

	opencl_run_planes(OPENCL_LARGEST_IN_PLANES, grid, arguments, COUNT(arguments), plane);
	maximum = plane[0];
	for (int z = 1; z < grid->nz; z++)
		maximum = fmax(maximum, plane[z]);
	return maximum;
}
