/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU code taken out of host files: fat binaries in programs, libraries, objects and archives. Test: tests/cli/struct_fatbin.sh. */
#ifndef HPCSTRUCT_LITE_DRIVER_GPU_CODE_H
#define HPCSTRUCT_LITE_DRIVER_GPU_CODE_H

#include "common/base/status.h"

#include <stddef.h>

/* Files written; owned. */
struct gpu_code {
	struct { char **at; size_t n, capacity; } cubins;
};

/*
 * Writes each cubin of the fat binaries in `file` to <dir>/<name of file>.<n>.sm_<architecture>.cubin, and says what else is there. Entries that cannot be unpacked are said and left
 * out. Logs; STATUS_NOT_FOUND when there is no cubin. *code is to be freed in all cases.
 */
enum status gpu_code_extract(const char *file, const char *dir, struct gpu_code *code);
void gpu_code_free(struct gpu_code *code);

#endif
