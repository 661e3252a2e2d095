/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes structure files, each in a process of its own, because libdwarf may crash or loop on
 * damaged input. In that case we try again without the current unit, and finally without DWARF.
 * Tests: tests/cli/struct/struct_jobs.sh, tests/cli/struct/struct_damage.sh.
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
	JOB_UP_TO_DATE,        /* the file existed, or came from the cache */
	JOB_SKIPPED,           /* a GPU code object in an unsupported form; logged */
	JOB_CHANGED,           /* the binary differs from the one that ran; logged */
	JOB_FAILED             /* logged */
};

struct job {
	const char *binary;    /* path to read */
	const char *kept;      /* NULL, or the measurement's copy, in a folder of its directory */
	uint32_t module_flags; /* MSR_MODULE_*, if a measurement names the binary */
	/* how many names of the path are inside of a measurement directory; 0: it is elsewhere */
	unsigned depth;
	/* NULL, or the users who must be allowed to read a binary that is elsewhere */
	const struct rights *readers;
	/* structure file to make, complete or not at all; NULL: its place in the cache */
	const char *out;
	bool is_out_named; /* by the user; see cache_draft_open() */
	/*
	 * Identifies the expected binary: its build id, else its size, modification time and
	 * content (common/safe/content_hash.h; 0: unknown). All 0: any binary.
	 */
	const uint8_t *build_id;
	size_t build_id_bytes;
	uint64_t file_bytes, file_mtime_ns, content;
	/* hash of the content of a GPU code object, which identifies its structure; else NULL */
	const char *content_key;
	/* addresses with samples, in ascending order; n 0: all code. Only used for big binaries */
	const uint64_t *link_addrs;
	size_t n_link_addrs;
	bool has_beside; /* a structure of it is in the measurement, perhaps with other functions */
	enum job_result result;
};

struct jobs_options {
	const char *const *debug_dirs;
	unsigned n_at_once;    /* at least 1 */
	const char *cache_dir; /* NULL: none */
	bool force;            /* make the file even if it is up to date */
	bool no_loops;         /* do not search for loops */
	bool trust_cache;      /* check only the headers of cached files */
};

/*
 * Runs all jobs and sets their results. Logs and returns STATUS_IO if it cannot create processes.
 */
enum status jobs_run(struct job *jobs, size_t n, const struct jobs_options *options);

#endif
