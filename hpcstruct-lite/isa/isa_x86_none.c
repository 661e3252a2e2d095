/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for isa_x86.c where Zydis is not there: no machine is x86-64 then. Test: the
 * configuration --without-zydis. */
#include "hpcstruct-lite/isa/isa.h"

const struct isa isa_x86 = {.name = "x86-64"};
