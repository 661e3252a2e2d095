/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the content of code objects in <run>/gpubins/<32 hex digits of its hash><suffix>, once for all processes of the run: written under a name of its own and renamed, so
 * that a file of the final name is whole at any time. Not signal-safe (it is slow); no malloc. Test: tests/unit/test_gpu_define.c.
 */
#ifndef HPCRUN_LITE_GPU_CONTENT_H
#define HPCRUN_LITE_GPU_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTENT_NAME_BYTES 48u

/* Sets `name` to the file's name in the directory; false when it could not be written (disk full, limit, rights), and nothing is left behind. */
bool content_save(const char *directory, const uint64_t hash[2], const char *suffix, const void *bytes, size_t n, char name[CONTENT_NAME_BYTES]);

#endif
