/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finite volumes for the heat equation with melting, for a team of OpenMP threads. See heat.h.
 * Functions called by the whole team share out rows of cells as the kernels do.
 */
#include "heat.h"

#include "comm.h"

#include <math.h>

/* --- properties ------------------------------------------------------------------------------- */

struct gradient {
	double x, y, z; /* change of the enthalpy across one cell */
};

static inline double half_difference(const double *field, size_t before, size_t after)
{
	return 0.5 * (field[after] - field[before]);
}

static inline struct gradient enthalpy_gradient(const struct heat_state *state, int x, int y, int z)
{
	const struct grid *grid = &state->grid;
	const size_t cell = grid_cell(grid, x, y, z);
	const size_t row = (size_t)grid->nx, plane = grid_plane(grid);
	const int z_global = grid->z_first + z;

	return (struct gradient){
		.x = half_difference(state->enthalpy, x > 0 ? cell - 1 : cell,
				     x < grid->nx - 1 ? cell + 1 : cell),
		.y = half_difference(state->enthalpy, y > 0 ? cell - row : cell,
				     y < grid->ny - 1 ? cell + row : cell),
		.z = half_difference(state->enthalpy, z_global > 0 ? cell - plane : cell,
				     z_global < grid->nz_global - 1 ? cell + plane : cell),
	};
}

/* A melting cell is not uniform: means over eight points of a linear reconstruction of the
 * enthalpy. */
static void average_over_points(const struct material *material, double enthalpy,
				const struct gradient *gradient, struct material_point *mean)
{
	double conduct = 0, liquid = 0, per_capacity = 0;

	for (int i = 0; i < 8; i++) {
		struct material_point point;
		const double dx = i & 1 ? 0.25 : -0.25, dy = i & 2 ? 0.25 : -0.25,
			     dz = i & 4 ? 0.25 : -0.25;

		material_state(material,
			       enthalpy + dx * gradient->x + dy * gradient->y + dz * gradient->z,
			       &point);
		conduct += point.conduct;
		liquid += point.liquid;
		per_capacity += 1 / point.capacity;
	}
	mean->conduct = conduct / 8;
	mean->liquid = liquid / 8;
	mean->capacity = 8 / per_capacity;
}

static void cell_properties(const struct heat_problem *problem, struct heat_state *state, int x,
			    int y, int z)
{
	const size_t cell = grid_cell(&state->grid, x, y, z);
	const double enthalpy = state->enthalpy[cell];
	struct material_point point;

	material_state(problem->material, enthalpy, &point);
	if (material_is_mushy(problem->material, enthalpy)) {
		const struct gradient gradient = enthalpy_gradient(state, x, y, z);

		average_over_points(problem->material, enthalpy, &gradient, &point);
	}
	state->temperature[cell] = point.temperature;
	state->conduct[cell] = point.conduct;
	state->capacity[cell] = point.capacity;
	state->liquid[cell] = point.liquid;
}

void heat_properties(const struct heat_problem *problem, struct heat_state *state)
{
	comm_exchange(&state->grid, state->enthalpy);
#pragma omp for collapse(2) schedule(runtime)
	for (int z = 0; z < state->grid.nz; z++) {
		for (int y = 0; y < state->grid.ny; y++) {
			for (int x = 0; x < state->grid.nx; x++)
				cell_properties(problem, state, x, y, z);
		}
	}
	comm_exchange(&state->grid, state->conduct);
}

/* --- the linear system ------------------------------------------------------------------------ */

static void assemble_row(struct heat_state *state, struct matrix *matrix, size_t row, double dt_s)
{
	const struct grid *grid = &state->grid;
	const size_t cell = row + grid_plane(grid);
	const double stored = grid_volume(grid) * state->capacity[cell] / dt_s;
	const size_t first = matrix->row_start[row];
	double diagonal = stored;

	for (size_t k = first + 1; k < matrix->row_start[row + 1]; k++) {
		const double other = state->conduct[matrix->column[k]];
		const double conductance =
			face_conductance(state->conduct[cell], other, grid->cell_m);

		matrix->value[k] = -conductance;
		diagonal += conductance;
	}
	matrix->value[first] = diagonal;
	state->rhs[cell] =
		stored * state->temperature[cell] +
		grid_volume(grid) * (state->enthalpy_old[cell] - state->enthalpy[cell]) / dt_s;
	state->solution[cell] = state->temperature[cell];
}

static void assemble_wall(struct heat_state *state, struct matrix *matrix, size_t row,
			  const struct wall *wall)
{
	const size_t cell = row + grid_plane(&state->grid);
	const double conductance = wall_conductance(wall, state->conduct[cell], state->grid.cell_m);

	matrix->value[matrix->row_start[row]] += conductance;
	state->rhs[cell] += conductance * wall->bath;
}

void heat_assemble(const struct heat_problem *problem, struct heat_state *state,
		   struct matrix *matrix, double dt_s, double time_s)
{
	const struct grid *grid = &state->grid;

#pragma omp for collapse(2) schedule(static)
	for (int z = 0; z < grid->nz; z++) {
		for (int y = 0; y < grid->ny; y++) {
			for (int x = 0; x < grid->nx; x++) {
				const size_t cell = grid_cell(grid, x, y, z);
				const size_t row = cell - grid_plane(grid);
				const int z_global = grid->z_first + z;

				assemble_row(state, matrix, row, dt_s);
				if (z_global == 0)
					assemble_wall(state, matrix, row, &problem->bottom);
				if (z_global == grid->nz_global - 1)
					assemble_wall(state, matrix, row, &problem->top);
				if (problem->torch.power > 0)
					state->rhs[cell] +=
						torch_heat(&problem->torch, grid->cell_m, grid->nx,
							   grid->ny, x, y, z_global, time_s);
			}
		}
	}
}

void heat_update(struct heat_state *state)
{
	const struct grid *grid = &state->grid;

#pragma omp for collapse(2) schedule(static)
	for (int z = 0; z < grid->nz; z++) {
		for (int y = 0; y < grid->ny; y++) {
			const size_t first = grid_cell(grid, 0, y, z);

			for (size_t i = first; i < first + (size_t)grid->nx; i++)
				state->enthalpy[i] += state->capacity[i] *
						      (state->solution[i] - state->temperature[i]);
		}
	}
}

/* --- sums over the mesh ----------------------------------------------------------------------- */

/* Adds up what the planes hold, in order; every thread gets the same. The barrier frees plane for
 * the next sum. */
static double sum_planes(const struct grid *grid, double *plane)
{
	double sum = 0;

	comm_gather_planes(grid, plane);
	for (int z = 0; z < grid->nz_global; z++)
		sum += plane[z];
#pragma omp barrier
	return sum;
}

static double wall_heat(const struct heat_state *state, size_t cell, const struct wall *wall)
{
	const double conductance = wall_conductance(wall, state->conduct[cell], state->grid.cell_m);

	return conductance * (wall->bath - state->solution[cell]);
}

double heat_input(const struct heat_problem *problem, const struct heat_state *state, double time_s,
		  double *plane)
{
	const struct grid *grid = &state->grid;

#pragma omp for schedule(static)
	for (int z = 0; z < grid->nz; z++) {
		const int z_global = grid->z_first + z;
		double sum = 0;

		for (int y = 0; y < grid->ny; y++) {
			for (int x = 0; x < grid->nx; x++) {
				const size_t cell = grid_cell(grid, x, y, z);

				if (z_global == 0)
					sum += wall_heat(state, cell, &problem->bottom);
				if (z_global == grid->nz_global - 1)
					sum += wall_heat(state, cell, &problem->top);
				if (problem->torch.power > 0)
					sum += torch_heat(&problem->torch, grid->cell_m, grid->nx,
							  grid->ny, x, y, z_global, time_s);
			}
		}
		plane[z_global] = sum;
	}
	return sum_planes(grid, plane);
}

double heat_integral(const struct grid *grid, const double *field, double *plane)
{
#pragma omp for schedule(static)
	for (int z = 0; z < grid->nz; z++) {
		const size_t first = grid_cell(grid, 0, 0, z);
		double sum = 0;

		for (size_t i = first; i < first + grid_plane(grid); i++)
			sum += field[i];
		plane[grid->z_first + z] = sum;
	}
	return sum_planes(grid, plane) * grid_volume(grid);
}

double heat_maximum(const struct grid *grid, const double *field, double *plane)
{
	double maximum;

#pragma omp for schedule(static)
	for (int z = 0; z < grid->nz; z++) {
		const size_t first = grid_cell(grid, 0, 0, z);

		plane[grid->z_first + z] = field[first];
		for (size_t i = first; i < first + grid_plane(grid); i++)
			plane[grid->z_first + z] = fmax(plane[grid->z_first + z], field[i]);
	}
	comm_gather_planes(grid, plane);
	maximum = plane[0];
	for (int z = 1; z < grid->nz_global; z++)
		maximum = fmax(maximum, plane[z]);
#pragma omp barrier
	return maximum;
}
