/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From one binary to its structure file: image, debug files, units (in parallel), scopes. Runs in a process of its own, see jobs.h, so that what a damaged
 * file does to a library costs this binary alone. Tests: tests/cli/struct_*.sh.
 */
#ifndef HPCSTRUCT_LITE_DRIVER_ANALYSE_H
#define HPCSTRUCT_LITE_DRIVER_ANALYSE_H

#include "common/base/status.h"
#include "hpcstruct-lite/image/image.h"
#include "hpcstruct-lite/driver/tokens.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ANALYSE_MAX_WORKERS 256
#define ANALYSE_MAX_SKIPPED 16
#define ANALYSE_NO_UNIT UINT64_MAX

/* Shared between the process that analyses and the one that waits for it: where each worker is, and what to leave out next time. */
struct analyse_progress {
	_Atomic uint64_t unit[ANALYSE_MAX_WORKERS]; /* offset of the unit a worker reads, or ANALYSE_NO_UNIT */
	_Atomic uint64_t n_done, n_units;
	_Atomic uint32_t n_tokens;                  /* taken by the process beyond the one it was started with */
	uint64_t skipped[ANALYSE_MAX_SKIPPED];      /* units not to be read */
	uint32_t n_skipped;
	bool without_dwarf;                         /* use symbols alone */
};

struct analyse_options {
	const char *const *debug_dirs; /* ended by NULL */
	bool no_loops;                 /* do not look for loops */
	unsigned n_workers;            /* at least 1; those beyond the first also need a token */
	struct tokens *tokens;         /* NULL: no tokens are needed */
	struct analyse_progress *progress;
};

/* A binary with its debug files, opened. */
struct analysis;

/* Logs. On success *analysis is owned by the caller. Options are borrowed and outlive it. */
enum status analyse_open(const char *path, const struct analyse_options *options, struct analysis **analysis);
void analyse_close(struct analysis *a);
/* The binary itself. */
const struct image *analyse_image(const struct analysis *a);
/*
 * Of all that goes into the structure: binary, debug files, version of this tool. The binary counts by build id, size and time, or by the hash of its content, `content_key`, where that is
 * known (else NULL).
 */
uint64_t analyse_fingerprint(const struct analysis *a, const char *content_key);
/* Reads symbols and debug information. Logs. */
enum status analyse_read(struct analysis *a);
/* Writes what analyse_read() found to `fd`; content_key as above; `out_path` is the subject of messages about that. Logs. */
enum status analyse_write(struct analysis *a, const char *content_key, int fd, const char *out_path);

#endif
