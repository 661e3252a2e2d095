/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The synthetic program that gen_job() measures: three modules. The first has functions, inlined
 * calls and lines in its structure file, the second functions alone, the third has no structure.
 * Function f of the program is in module gen_program_module(f) and spans GEN_FUNCTION_BYTES from
 * gen_program_entry(f): 16 lines of 64 bytes each. In every fourth line, from the first on, the
 * second half of the bytes is an inlined call of one of eight small functions.
 */
#ifndef TESTS_GEN_GEN_PROGRAM_H
#define TESTS_GEN_GEN_PROGRAM_H

#include <stdint.h>

enum {
	GEN_N_MODULES = 3,
	GEN_BUILD_ID_BYTES = 20,
	GEN_FUNCTION_BYTES = 1024,
	GEN_LINES_OF_FUNCTION = 16,
	GEN_LINE_BYTES = GEN_FUNCTION_BYTES / GEN_LINES_OF_FUNCTION
};

const char *gen_program_path(unsigned module);
const uint8_t *gen_program_build_id(unsigned module);
unsigned gen_program_module(uint32_t function);
/* Link address in its module. */
uint64_t gen_program_entry(uint32_t function);
/* half 0: in the line itself; 1: in the inlined call where the line has one. */
uint64_t gen_program_address(uint32_t function, unsigned line, unsigned half);

/* Writes the structure files of the first two modules into directory/structs, for functions 0 ..
 * n_functions - 1. */
void gen_program_structures(const char *directory, uint32_t n_functions);

#endif
