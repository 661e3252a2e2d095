/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time loop of the mini-application. One parallel region spans the whole run, so that every
 * thread has the whole call path from here to its kernel. What is printed is the same for any
 * number of threads and ranks. See simulation.h.
 */
#include "simulation.h"

#include "cg.h"
#include "checkpoint.h"
#include "comm.h"
#include "heat.h"
#include "kernels.h"
#include "memory.h"
#include "multigrid.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define BOX_M 0.1
#define START_K 780.0
#define MODE_K 20.0 /* amplitude of the linear case */
#define NONLINEAR_ITERATIONS 2
#define TOLERANCE 1e-9
#define MAX_ITERATIONS 200
#define BALANCE_LIMIT 1e-7
#define MODE_LIMIT 1e-6
#define PI 3.14159265358979323846

struct simulation {
	const struct simulation_options *options;
	struct heat_problem problem;
	struct heat_state state;
	struct matrix matrix;
	struct multigrid *mg;
	struct cg *cg;
	struct checkpoint *checkpoint;
	double *plane;
	unsigned first_step;
	/* Written by one thread, read after a barrier. */
	double energy_start, heat_in, energy_end, worst_residual, mode_error;
};

static const struct heat_problem melting = {
	.material = &material_alloy,
	.bottom = {.film = 6000, .bath = 1350},
	.top = {.film = 25, .bath = 300},
	.torch = {.power = 9000, .radius = 0.012, .speed = 0.03},
};

static const struct heat_problem linear = {.material = &material_linear};

/* The slowest mode with a node in the middle of each direction; cell centres make it exact on the
 * grid. */
static double mode_shape(const struct grid *grid, int x, int y, int z)
{
	return cos(PI * (x + 0.5) / grid->nx) * cos(PI * (y + 0.5) / grid->ny) *
	       cos(PI * (grid->z_first + z + 0.5) / grid->nz_global);
}

/* By what one implicit step multiplies the mode: the eigenvalue of the discrete operator is
 * known. */
static double mode_decay(const struct grid *grid, const struct material *material, double dt_s)
{
	const double diffusivity =
		material->conduct_solid / (material->density * material->heat_solid);
	const double s_x = sin(PI / (2 * grid->nx)), s_y = sin(PI / (2 * grid->ny)),
		     s_z = sin(PI / (2 * grid->nz_global));
	const double eigenvalue =
		4 * (s_x * s_x + s_y * s_y + s_z * s_z) / (grid->cell_m * grid->cell_m);

	return 1 / (1 + dt_s * diffusivity * eigenvalue);
}

static void set_start(struct simulation *sim)
{
	const struct grid *grid = &sim->state.grid;

	for (int z = 0; z < grid->nz; z++) {
		for (int y = 0; y < grid->ny; y++) {
			for (int x = 0; x < grid->nx; x++) {
				double temperature = START_K;

				if (sim->options->linear)
					temperature += MODE_K * mode_shape(grid, x, y, z);
				sim->state.enthalpy[grid_cell(grid, x, y, z)] =
					material_enthalpy(sim->problem.material, temperature);
			}
		}
	}
}

static int read_restart(struct simulation *sim)
{
	const struct grid *grid = &sim->state.grid;
	char path[4096];

	if (snprintf(path, sizeof path, "%s.%d", sim->options->restart, comm_rank()) >=
	    (int)sizeof path)
		return -1;
	return checkpoint_read(path, grid_rows(grid),
			       sim->state.enthalpy + grid_cell(grid, 0, 0, 0), &sim->first_step);
}

static int set_up(struct simulation *sim, const struct simulation_options *options)
{
	const int n = options->cells;
	const struct grid grid = {
		.nx = n,
		.ny = n,
		.nz = n / comm_size(),
		.nz_global = n,
		.z_first = comm_rank() * (n / comm_size()),
		.cell_m = BOX_M / n,
	};

	if (n % comm_size() != 0) {
		fprintf(stderr, "melt: %d planes cannot be shared equally by %d ranks\n", n,
			comm_size());
		return -1;
	}
	sim->options = options;
	sim->problem = options->linear ? linear : melting;
	heat_create(&sim->state, &grid);
	matrix_create(&sim->matrix, &grid);
	sim->mg = multigrid_create(&sim->state.grid, &sim->matrix);
	sim->cg = cg_create(&sim->state.grid, &sim->matrix, sim->mg);
	sim->plane = kernels_get((size_t)n, sizeof(double));
	if (options->restart) {
		if (read_restart(sim) != 0)
			return -1;
	} else {
		set_start(sim);
	}
	kernels_from_host(sim->state.enthalpy);
	if (options->checkpoint) {
		sim->checkpoint =
			checkpoint_start(options->checkpoint, comm_rank(), grid_rows(&grid));
		if (!sim->checkpoint) {
			fprintf(stderr, "melt: cannot start the checkpoint thread\n");
			return -1;
		}
	}
	return 0;
}

static int tear_down(struct simulation *sim)
{
	int status = 0;

	if (sim->checkpoint)
		status = checkpoint_stop(sim->checkpoint);
	if (sim->cg) {
		cg_destroy(sim->cg);
		multigrid_destroy(sim->mg);
		matrix_destroy(&sim->matrix);
		heat_destroy(&sim->state);
	}
	kernels_free(sim->plane);
	return status;
}

/* (team) One implicit step; heat_in is the power of its last iteration. */
static struct cg_result advance(struct simulation *sim, double dt_s, double time_s, double *heat_in)
{
	struct heat_state *state = &sim->state;
	struct cg_result total = {.iterations = 0}, result;

	kernel_copy(&state->grid, state->enthalpy, state->enthalpy_old);
	for (int i = 0; i < NONLINEAR_ITERATIONS; i++) {
		heat_assemble(&sim->problem, state, &sim->matrix, dt_s, time_s);
		multigrid_update(sim->mg);
		result = cg_solve(sim->cg, state->rhs, state->solution, TOLERANCE, MAX_ITERATIONS);
		total.iterations += result.iterations;
		total.residual = fmax(total.residual, result.residual);
		*heat_in = heat_input(&sim->problem, state, time_s, sim->plane);
		heat_update(state);
		heat_properties(&sim->problem, state);
	}
	return total;
}

/* (team) */
static void report_step(struct simulation *sim, unsigned step, double time_s,
			const struct cg_result *result)
{
	struct heat_state *state = &sim->state;
	const double energy = heat_integral(&state->grid, state->enthalpy, sim->plane);
	const double liquid = heat_integral(&state->grid, state->liquid, sim->plane);
	const double hottest = heat_maximum(&state->grid, state->temperature, sim->plane);

#pragma omp master
	{
		sim->energy_end = energy;
		sim->worst_residual = fmax(sim->worst_residual, result->residual);
		if (comm_rank() == 0)
			printf("%5u %8.3f %4d %10.3e %12.6f %10.4f %10.3f\n", step, time_s,
			       result->iterations, result->residual, energy / 1e3, liquid * 1e6,
			       hottest);
	}
#pragma omp barrier
}

/* (team) The largest difference between the linear case and its known solution, as a share of the
 * first amplitude. */
static void compare_with_mode(struct simulation *sim)
{
	struct heat_state *state = &sim->state;
	const struct grid *grid = &state->grid;
	const double decay = mode_decay(grid, sim->problem.material, sim->options->dt_s);
	const double amplitude = MODE_K * pow(decay, sim->options->steps);
	double error;

#pragma omp master
	kernels_to_host(state->temperature);
#pragma omp barrier
#pragma omp for schedule(static)
	for (int z = 0; z < grid->nz; z++) {
		for (int y = 0; y < grid->ny; y++) {
			for (int x = 0; x < grid->nx; x++) {
				const size_t cell = grid_cell(grid, x, y, z);
				const double wanted =
					START_K + amplitude * mode_shape(grid, x, y, z);

				state->rhs[cell] = fabs(state->temperature[cell] - wanted) / MODE_K;
			}
		}
	}
#pragma omp master
	kernels_from_host(state->rhs);
#pragma omp barrier
	error = heat_maximum(grid, state->rhs, sim->plane);
#pragma omp master
	sim->mode_error = error;
#pragma omp barrier
}

/* (team) */
static void march(struct simulation *sim)
{
	const struct simulation_options *options = sim->options;
	struct heat_state *state = &sim->state;
	const unsigned last = sim->first_step + (unsigned)options->steps;
	double energy;

	heat_properties(&sim->problem, state);
	energy = heat_integral(&state->grid, state->enthalpy, sim->plane);
#pragma omp master
	sim->energy_start = energy;
	for (unsigned step = sim->first_step + 1; step <= last; step++) {
		const double time_s = step * options->dt_s;
		double heat_in;
		const struct cg_result result = advance(sim, options->dt_s, time_s, &heat_in);

#pragma omp master
		{
			sim->heat_in += heat_in * options->dt_s;
			if (sim->checkpoint && step % (unsigned)options->checkpoint_every == 0) {
				kernels_to_host(state->enthalpy);
				checkpoint_submit(sim->checkpoint, step,
						  state->enthalpy +
							  grid_cell(&state->grid, 0, 0, 0));
			}
		}
		report_step(sim, step, time_s, &result);
	}
	if (options->linear)
		compare_with_mode(sim);
}

/* FNV-1a over the bits of the plane sums of the enthalpy, which every rank has. */
static uint64_t checksum(const double *plane, int n)
{
	const unsigned char *p = (const unsigned char *)plane;
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < (size_t)n * sizeof *plane; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash;
}

static int verify(const struct simulation *sim)
{
	const double moved = fmax(fabs(sim->heat_in), 1e-6 * fabs(sim->energy_start));
	const double balance = fabs(sim->energy_end - sim->energy_start - sim->heat_in) / moved;
	int good = balance <= BALANCE_LIMIT && sim->worst_residual <= TOLERANCE;

	if (sim->options->linear)
		good = good && sim->mode_error <= MODE_LIMIT;
	if (comm_rank() != 0)
		return good;
	printf("worst residual %.1e of %.0e allowed\n", sim->worst_residual, TOLERANCE);
	printf("energy balance off by %.1e of %.0e allowed\n", balance, BALANCE_LIMIT);
	if (sim->options->linear)
		printf("difference from the known solution %.1e of %.0e allowed\n", sim->mode_error,
		       MODE_LIMIT);
	return good;
}

int simulation_run(const struct simulation_options *options)
{
	struct simulation sim = {.first_step = 0};
	int good = 0;

	kernels_start();
	if (set_up(&sim, options) == 0) {
		if (comm_rank() == 0)
			printf("melt: %d x %d x %d cells, %d steps of %g s\n"
			       " step   time s  its   residual    energy kJ molten cm3  hottest "
			       "K\n",
			       options->cells, options->cells, options->cells, options->steps,
			       options->dt_s);
#pragma omp parallel
		{
			march(&sim);
			heat_integral(&sim.state.grid, sim.state.enthalpy, sim.plane);
		}
		good = verify(&sim);
		if (comm_rank() == 0)
			printf("checksum %016llx\n%s\n",
			       (unsigned long long)checksum(sim.plane, options->cells),
			       good ? "verified" : "NOT VERIFIED");
	}
	if (tear_down(&sim) != 0)
		good = 0;
	kernels_stop();
	return good ? 0 : 1;
}
