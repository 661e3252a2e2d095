/* SPDX-License-Identifier: BSD-3-Clause */
/* See gen_program.h. */
#include "tests/gen/gen_program.h"

#include "tests/gen/gen_structure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const paths[GEN_N_MODULES] = {"/opt/synthetic/bin/synthetic",
						 "/opt/synthetic/lib/libsolve.so.1",
						 "/opt/synthetic/lib/libbare.so.2"};

const char *gen_program_path(unsigned module)
{
	return paths[module];
}

const uint8_t *gen_program_build_id(unsigned module)
{
	static uint8_t ids[GEN_N_MODULES][GEN_BUILD_ID_BYTES];
	memset(ids[module], 0x11 * (int)(module + 1), GEN_BUILD_ID_BYTES);
	return ids[module];
}

unsigned gen_program_module(uint32_t function)
{
	/* Of ten functions six are the program's own, three the library's, one in a library without
	 * structure. */
	unsigned last = function % 10;
	return last < 6 ? 0 : last < 9 ? 1 : 2;
}

uint64_t gen_program_entry(uint32_t function)
{
	return UINT64_C(0x1000) + (uint64_t)function * GEN_FUNCTION_BYTES;
}

uint64_t gen_program_address(uint32_t function, unsigned line, unsigned half)
{
	return gen_program_entry(function) + line * GEN_LINE_BYTES + half * (GEN_LINE_BYTES / 2);
}

enum { N_SMALL = 8 }; /* functions that are always inlined */

static void add_function_with_lines(struct gen_structure *s, uint32_t f, const uint32_t files[2],
				    const uint32_t small[N_SMALL])
{
	char name[64];
	snprintf(name, sizeof name, f ? "synthetic::step_%u(double*, int)" : "main", f);
	uint32_t file = files[f % 2], line = f * 20 + 10;
	uint32_t function = gen_structure_function(s, gen_structure_definition(s, name, file, line),
						   gen_program_entry(f));
	for (unsigned l = 0; l < GEN_LINES_OF_FUNCTION; l++) {
		gen_structure_interval(s, gen_program_address(f, l, 0), function, file, line + l);
		if (l % 4 == 0) {
			uint64_t at = gen_program_address(f, l, 1);
			uint32_t body = gen_structure_inline(
				s, function, small[(f + l / 4) % N_SMALL], file, line + l, at);
			gen_structure_interval(s, at, body, files[1],
					       5 + (f + l / 4) % N_SMALL * 3);
		}
	}
	gen_structure_interval(s, gen_program_entry(f) + GEN_FUNCTION_BYTES, STRUCTURE_NONE,
			       STRUCTURE_NONE, 0);
}

static void write_program(const char *directory, uint32_t n_functions)
{
	struct gen_structure *s =
		gen_structure_new(paths[0], gen_program_build_id(0), GEN_BUILD_ID_BYTES);
	uint32_t files[2] = {gen_structure_file(s, "/src/synthetic/step.cc"),
			     gen_structure_file(s, "/src/synthetic/small.h")};
	uint32_t small[N_SMALL];
	char name[32];
	for (unsigned i = 0; i < N_SMALL; i++) {
		snprintf(name, sizeof name, "small_%u", i);
		small[i] = gen_structure_definition(s, name, files[1], 4 + i * 3);
	}
	for (uint32_t f = 0; f < n_functions; f++)
		if (gen_program_module(f) == 0)
			add_function_with_lines(s, f, files, small);
	free(gen_structure_close(s, directory));
}

static void write_library(const char *directory, uint32_t n_functions)
{
	struct gen_structure *s =
		gen_structure_new(paths[1], gen_program_build_id(1), GEN_BUILD_ID_BYTES);
	char name[32];
	for (uint32_t f = 0; f < n_functions; f++) {
		if (gen_program_module(f) != 1)
			continue;
		snprintf(name, sizeof name, "solve_%u", f);
		uint32_t function = gen_structure_function(
			s, gen_structure_definition(s, name, STRUCTURE_NONE, 0),
			gen_program_entry(f));
		gen_structure_interval(s, gen_program_entry(f), function, STRUCTURE_NONE, 0);
		gen_structure_interval(s, gen_program_entry(f) + GEN_FUNCTION_BYTES, STRUCTURE_NONE,
				       STRUCTURE_NONE, 0);
	}
	free(gen_structure_close(s, directory));
}

void gen_program_structures(const char *directory, uint32_t n_functions)
{
	write_program(directory, n_functions);
	write_library(directory, n_functions);
}
