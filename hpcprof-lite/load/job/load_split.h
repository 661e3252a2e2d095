/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens the files of a job in several parts. Each part opens a row of consecutive files, and gets
 * outlines of the others (load_outline.h). All parts open a file that an outline cannot replace.
 * Then parts share the checks of cells and time lines. Every part calls these functions, in this
 * order. Test: tests/unit/prof_parts/test_parts.c.
 */
#ifndef HPCPROF_LITE_LOAD_JOB_LOAD_SPLIT_H
#define HPCPROF_LITE_LOAD_JOB_LOAD_SPLIT_H

#include "hpcprof-lite/load/job/load_opening.h"

/*
 * Gives all parts the list of part 0, in the order of load_list_sort(). `s`: the status of making
 * that list.
 */
enum status load_split_list(struct comm *c, enum status s, struct load_list *l);
/* Opens all files, each in one part or in all. `s`: this part's status so far. */
enum status load_split_open(struct load_opening *o, struct load_job *job, enum status s,
	unsigned n_workers);
/*
 * True if no part gets much more than the others. Only whole files can be shared out. weights: by
 * file; rows: the first file of each part, with an end entry.
 */
bool load_split_is_even(const struct comm *c, const uint64_t *weights, const uint64_t *rows);
/*
 * Ends the step of opening, with status `s`. Then each part checks the cells and time lines of its
 * share, consecutive files, and gets the results of the others.
 */
enum status load_share(struct load_job *job, enum status s, unsigned n_workers);

#endif
