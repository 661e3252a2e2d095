/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings that the program registered (nvtxDomainRegisterString). XLA registers several for each
 * instruction of a module, and pushes few of them. So a string becomes a name, with a record, when
 * a range first uses it. Texts stay in memory, at most NVTX_STRINGS_BYTES. Any thread may call
 * these functions, but not our handler; readers take no lock. Test: tests/cli/nvtx/nvtx_xla.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_NVTX_NVTX_STRINGS_H
#define HPCRUN_LITE_RUNTIME_NVTX_NVTX_STRINGS_H

#include "hpcrun-lite/runtime/nvtx/nvtx_names.h"

#define NVTX_STRINGS_MOST (1u << 17)
#define NVTX_STRINGS_BYTES (16u << 20)

struct nvtx_string {
	uint64_t hash;
	uint32_t domain;       /* id of a name */
	_Atomic uint32_t name; /* the id, without a category; 0: none yet */
	uint32_t n;
	char text[];           /* NUL-terminated */
};

/*
 * Returns the number of a string, from 1; equal strings have the same number. 0: there is no room.
 */
uint32_t nvtx_strings_add(uint32_t domain, const struct nvtx_text *text);
/* NULL: no string has this number. */
struct nvtx_string *nvtx_strings_get(uint32_t number);
/* In a forked child. */
void nvtx_strings_forked(void);

#endif
