/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of a job, opened by several parts. Each opens a row of them, and gets outlines of the
 * others (load_outline.h). A file that no outline can stand for is opened by all. Then parts share
 * the checks of cells and time lines. Every part calls these functions, in this order. Test:
 * tests/unit/prof_parts/test_parts.c.
 */
#ifndef HPCPROF_LITE_LOAD_JOB_LOAD_SPLIT_H
#define HPCPROF_LITE_LOAD_JOB_LOAD_SPLIT_H

#include "hpcprof-lite/load/job/load_opening.h"

/* All parts get the list of part 0, in the order of load_list_sort(). `s`: whether it has one. */
enum status load_split_list(struct comm *c, enum status s, struct load_list *l);
/* Opens all files, each in one part or in all. `s`: whether this part is ready. */
enum status load_split_open(struct load_opening *o, struct load_job *job, enum status s,
	unsigned n_workers);
/*
 * Whole files are shared, so a part must not get much more than the others: true if none does.
 * weights: by file; rows: by part, and the end: its first file.
 */
bool load_split_is_even(const struct comm *c, const uint64_t *weights, const uint64_t *rows);
/*
 * Ends the step of opening, with `s`. Then each part checks cells and time lines of its share, a
 * row of files, and gets the results of the others.
 */
enum status load_share(struct load_job *job, enum status s, unsigned n_workers);

#endif
