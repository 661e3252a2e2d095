/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replaces isa_x86.c if Zydis is missing. x86-64 code is then not decoded. Test: the configuration
 * --without-zydis.
 */
#include "hpcstruct-lite/isa/isa.h"

const struct isa isa_x86 = {.name = "x86-64"};
