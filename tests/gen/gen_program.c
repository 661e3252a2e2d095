/* SPDX-License-Identifier: BSD-3-Clause */
/* See gen_program.h. */
#include "tests/gen/gen_program.h"

#include <string.h>

static const char *const paths[GEN_N_MODULES] = {"/opt/synthetic/bin/synthetic", "/opt/synthetic/lib/libsolve.so.1", "/opt/synthetic/lib/libbare.so.2"};

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
	/* Of ten functions six are the program's own, three the library's, one in a library without structure. */
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
