/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes structure files, each binary in a process of its own: libdwarf may crash or loop on damaged input, and then the unit it was at is left out and the binary is tried
 * again, at last without DWARF. Test: tests/cli/struct_jobs.sh, tests/cli/struct_damage.sh.
 */
#ifndef HPCSTRUCT_LITE_DRIVER_JOBS_H
#define HPCSTRUCT_LITE_DRIVER_JOBS_H

#include "common/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum job_result {
	JOB_NOT_RUN,
	JOB_MADE,
	JOB_UP_TO_DATE,        /* the file was there, or came from the cache */
	JOB_SKIPPED,           /* a GPU code object in a form that is not looked into; said */
	JOB_CHANGED,           /* the binary is not the one that ran; said */
	JOB_FAILED             /* said */
};

struct job {
	const char *binary;    /* path to read */
	/* structure file to make, complete or not at all; NULL: its place in the cache */
	const char *out;
	/* The binary that is wanted: its build id, else its size and modification time. All 0: any. */
	const uint8_t *build_id;
	size_t build_id_bytes;
	uint64_t file_bytes, file_mtime_ns;
	const char *content_key; /* of a GPU code object: hash of its content, which is what its structure is known by; else NULL */
	enum job_result result;
};

struct jobs_options {
	const char *const *debug_dirs;
	unsigned n_at_once;    /* at least 1 */
	const char *cache_dir; /* NULL: none */
	bool force;            /* make the file even when it is up to date */
	bool no_loops;         /* do not look for loops */
	bool trust_cache;      /* look at the headers of its files alone */
};

/* Runs all jobs and sets their results. STATUS_IO (logged) when processes cannot be had. */
enum status jobs_run(struct job *jobs, size_t n, const struct jobs_options *options);

#endif
