/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of the alloy and of the material of the linear case. See material.h.
 */
#include "material.h"

const struct material material_alloy = {
	.density = 2680,
	.heat_solid = 963,
	.heat_liquid = 1160,
	.latent = 389e3,
	.conduct_solid = 159,
	.conduct_liquid = 66,
	.solidus = 833,
	.liquidus = 888,
	.pure = 933,
	.partition = 0.13,
	.melts = 1,
};

const struct material material_linear = {
	.density = 2680,
	.heat_solid = 963,
	.heat_liquid = 963,
	.conduct_solid = 159,
	.conduct_liquid = 159,
	.solidus = 833,
	.liquidus = 888,
	.pure = 933,
	.partition = 0.13,
	.melts = 0,
};
