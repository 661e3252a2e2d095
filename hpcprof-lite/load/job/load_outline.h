/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The outline of a measurement file: what other parts of a job need from a file that one part
 * reads. It is a measurement file without call trees, cells, time lines and GPU operations. It
 * keeps the numbers of threads, so all its records work as in the file, and it has GPUs, their
 * queues and code. Test: tests/unit/prof_parts/test_parts.c.
 */
#ifndef HPCPROF_LITE_LOAD_JOB_LOAD_OUTLINE_H
#define HPCPROF_LITE_LOAD_JOB_LOAD_OUTLINE_H

#include "hpcprof-lite/load/load_file.h"

/* The header of an outline in memory. Thread numbers and the file follow it. */
struct load_outline {
	uint64_t n_bytes;    /* includes this header */
	uint64_t file_bytes; /* of the file itself */
	uint64_t path;       /* index in the list */
	uint64_t kinds;      /* of extents, as in struct load_file */
	uint32_t owner;      /* user id */
	uint32_t n_threads;
};

struct load_outlines {
	VEC(uint8_t) bytes;
};

/*
 * True if an outline can stand for the file: it is sound and complete, holds no other process, and
 * nothing in it depends on addresses outside modules or on backward passes.
 */
bool load_outline_suffices(const struct load_file *f);
/* True if the file has a kind of record that parts cannot share. Then all parts open all files. */
bool load_outline_needs_all(const struct load_file *f);
/* Appends the outline of file number `path`. False if memory is short. */
bool load_outline_add(struct load_outlines *o, uint64_t path, const struct load_file *f);
/*
 * Makes *f from an outline. The caller has zeroed *f and closes it with load_file_close(). Its
 * threads have numbers but no records.
 */
enum status load_outline_read(const struct load_outline *o, const char *path, struct load_file *f);

#endif
