/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A database that several processes write together. Each writes the values and time lines of its
 * profiles, and the values of its contexts. A process that works alone writes all of them. Tests:
 * tests/unit/prof_parts/test_parts.c.
 */
#ifndef HPCPROF_LITE_SINK_CCTDB_CCTDB_SHARE_H
#define HPCPROF_LITE_SINK_CCTDB_CCTDB_SHARE_H

#include "hpcprof-lite/model/model.h"
#include "hpcprof-lite/sink/outfile.h"

/* What this process writes: [first, end). */
struct cctdb_part {
	uint32_t first, end;
};

struct cctdb_part cctdb_own_profiles(const struct model *m);
struct cctdb_part cctdb_own_contexts(const struct model *m);
/*
 * How many of `n` profiles a worker writes at a time: their data are small, so together they need
 * fewer writes. Each worker gets several turns. 0 workers: one for each processor.
 */
size_t cctdb_in_row(size_t n, unsigned n_workers);
/* True in the process that writes what exists only once. */
bool cctdb_is_first(const struct model *m);
/* Ends a step: returns STATUS_OK only if `s` is STATUS_OK in all processes. */
enum status cctdb_agree(const struct model *m, enum status s);
/* Offsets in a file. */
struct cctdb_place {
	uint64_t front; /* bytes before the profiles; set in the first process */
	uint64_t own;   /* bytes that this process's profiles take, from an aligned place on */
	/* results: where they begin, and where the last profile of all processes ends */
	uint64_t start, end;
};

enum { CCTDB_PLACE_ALIGN = 8 }; /* alignment of each profile in bytes */

/*
 * Finds where each process writes the data of its profiles, in the order of processes. Ends a step,
 * as cctdb_agree(m, s) does.
 */
enum status cctdb_find_place(const struct model *m, enum status s, struct cctdb_place *place);
/*
 * Before the call, each process has the records of its own profiles; after it, the first process
 * has all records. Call it after cctdb_agree().
 */
void cctdb_gather_profiles(const struct model *m, void *by_profile, size_t record_bytes);
/* Creates the file once, and opens it in all processes. Each ends a step. Failures are logged. */
enum status cctdb_create(const struct model *m, struct outfile *f, const char *directory,
			 const char *name);
enum status cctdb_close(const struct model *m, struct outfile *f);

#endif
