/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields of the heat equation. See heat.h.
 */
#include "heat.h"

#include "kernels.h"

void heat_create(struct heat_state *state, const struct grid *grid)
{
	const size_t n = grid_field_size(grid);

	state->grid = *grid;
	state->enthalpy = kernels_get(n, sizeof(double));
	state->enthalpy_old = kernels_get(n, sizeof(double));
	state->temperature = kernels_get(n, sizeof(double));
	state->conduct = kernels_get(n, sizeof(double));
	state->capacity = kernels_get(n, sizeof(double));
	state->liquid = kernels_get(n, sizeof(double));
	state->rhs = kernels_get(n, sizeof(double));
	state->solution = kernels_get(n, sizeof(double));
}

void heat_destroy(struct heat_state *state)
{
	kernels_free(state->enthalpy);
	kernels_free(state->enthalpy_old);
	kernels_free(state->temperature);
	kernels_free(state->conduct);
	kernels_free(state->capacity);
	kernels_free(state->liquid);
	kernels_free(state->rhs);
	kernels_free(state->solution);
}
