/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two materials that the mini-application knows; their formulas are in physics.h.
 */
#ifndef MELT_MATERIAL_H
#define MELT_MATERIAL_H

#include "physics.h"

extern const struct material material_alloy;
extern const struct material material_linear;

#endif
