/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The outline of a measurement file: what other parts of a job need of a file that one part reads.
 * It is a measurement file without call trees, cells, time lines and GPU operations, with the
 * numbers of its threads, so all records work as in the file. GPUs, their queues and code are in
 * it. Test: tests/unit/prof_parts/test_parts.c.
 */
#ifndef HPCPROF_LITE_LOAD_JOB_LOAD_OUTLINE_H
#define HPCPROF_LITE_LOAD_JOB_LOAD_OUTLINE_H

#include "hpcprof-lite/load/load_file.h"

/* Begins an outline in memory; its thread numbers and the file follow. */
struct load_outline {
	uint64_t n_bytes;    /* with this header */
	uint64_t file_bytes; /* of the file itself */
	uint64_t path;       /* number in the list */
	uint64_t kinds;      /* of extents, as in struct load_file */
	uint32_t owner;      /* user id */
	uint32_t n_threads;
};

struct load_outlines {
	VEC(uint8_t) bytes;
};

/*
 * True if an outline can stand for the file: it is sound and complete, holds no other process, and
 * nothing in it depends on addresses without module or on backward passes.
 */
bool load_outline_suffices(const struct load_file *f);
/* True if some record of the file is of a kind that parts do not share: then all open all files. */
bool load_outline_needs_all(const struct load_file *f);
/* Appends the outline of file number `path`. False if memory is short. */
bool load_outline_add(struct load_outlines *o, uint64_t path, const struct load_file *f);
/*
 * Makes *f, which the caller has zeroed and closes with load_file_close(), of an outline. Threads
 * have numbers and no records.
 */
enum status load_outline_read(const struct load_outline *o, const char *path, struct load_file *f);

#endif
