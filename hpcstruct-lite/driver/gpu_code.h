/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extracts GPU code from the fat binaries in host files: programs, libraries, objects and archives.
 * Test: tests/cli/struct/struct_fatbin.sh.
 */
#ifndef HPCSTRUCT_LITE_DRIVER_GPU_CODE_H
#define HPCSTRUCT_LITE_DRIVER_GPU_CODE_H

#include "common/base/status.h"
#include "common/base/vec.h"

#include <stddef.h>

/* Paths of the files written. Owned. */
struct gpu_code {
	VEC(char *) cubins;
};

/*
 * Writes each cubin of the fat binaries in `file` to <dir>/<name of
 * file>.<n>.sm_<architecture>.cubin, and logs what else it finds. Logs and skips entries that it
 * cannot unpack. Returns STATUS_NOT_FOUND (logged) if there is no cubin. The caller frees *code in
 * all cases.
 */
enum status gpu_code_extract(const char *file, const char *dir, struct gpu_code *code);
void gpu_code_free(struct gpu_code *code);

#endif
