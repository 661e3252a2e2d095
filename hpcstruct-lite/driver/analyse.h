/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the structure file of one binary: opens image and debug files, reads units in parallel, and
 * builds scopes. It runs in a process of its own (see jobs.h): if a damaged file crashes a library,
 * only this binary is lost. Tests: tests/cli/struct/struct_*.sh.
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

/*
 * Shared between the process that analyses and the process that waits for it. Says where each
 * worker is, and what to skip at the next attempt.
 */
struct analyse_progress {
	/* offset of the unit that a worker reads, or ANALYSE_NO_UNIT */
	_Atomic uint64_t unit[ANALYSE_MAX_WORKERS];
	_Atomic uint64_t n_done, n_units;
	/* tokens that the process took; without its first one */
	_Atomic uint32_t n_tokens;
	uint64_t skipped[ANALYSE_MAX_SKIPPED];      /* units to skip */
	uint32_t n_skipped;
	bool without_dwarf;                         /* use only symbols */
};

struct analyse_options {
	const char *const *debug_dirs; /* list that NULL ends */
	bool no_loops;                 /* do not search for loops */
	unsigned n_workers;            /* at least 1; each worker beyond the first needs a token */
	struct tokens *tokens;         /* NULL: no tokens are needed */
	struct analyse_progress *progress;
};

/* An opened binary with its debug files. */
struct analysis;

/*
 * Reads a binary that is open as `fd`, which is closed; -1: errno says why. Logs errors. On success
 * the caller owns *analysis. `options` is borrowed and must outlive it.
 */
enum status analyse_open(int fd, const char *path, const struct analyse_options *options,
			 struct analysis **analysis);
void analyse_close(struct analysis *a);
/* Returns the image of the binary itself. */
const struct image *analyse_image(const struct analysis *a);
/*
 * Returns a hash of everything that goes into the structure: binary, debug files, and version of
 * this tool. For the binary it uses `content_key`, the hash of its content. If `content_key` is
 * NULL (unknown), it uses build id, size and time, and without a build id the content.
 */
uint64_t analyse_fingerprint(const struct analysis *a, const char *content_key);
/* The number in the name of the file in the cache; see doc/formats/structure.md, "The key". */
uint64_t analyse_cache_number(const struct analysis *a, const char *content_key);
/*
 * Returns true if the binary has so much code that only functions with samples are analysed. The
 * rest would take seconds and hundreds of megabytes.
 */
bool analyse_is_big(const struct analysis *a);
/*
 * Reads symbols and debug information. With n > 0, only functions that hold one of `link_addrs`,
 * which must rise, get loops and are written, and only units with their code are read. May be
 * called again. Logs errors.
 */
enum status analyse_read(struct analysis *a, const uint64_t *link_addrs, size_t n);
/*
 * Writes the result of analyse_read() to `fd`. See analyse_fingerprint() for `content_key`. Logs
 * errors, with `out_path` as the name of the output.
 */
enum status analyse_write(struct analysis *a, const char *content_key, int fd,
	const char *out_path);

#endif
