/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurement files of directories. Test: tests/unit/prof/test_load.c. */
#ifndef HPCPROF_LITE_LOAD_JOB_LOAD_LIST_H
#define HPCPROF_LITE_LOAD_JOB_LOAD_LIST_H

#include "common/base/map.h"
#include "common/base/status.h"
#include "common/base/vec.h"

struct load_listed {
	char *path; /* owned */
	uint64_t n_bytes;
};

/* Zero-initialise, but for `skipped`. load_list_free() in all cases. */
struct load_list {
	VEC(struct load_listed) files;
	struct map seen; /* (device, inode) */
	const struct map *skipped; /* the same, of files to leave out; NULL: none */
};

/*
 * Lists every *.hpcrun file of the directories, each file once. Failures are logged:
 * STATUS_NOT_FOUND: a directory has none.
 */
enum status load_list_directories(char *const *directories, size_t n, struct load_list *l);
/* Sorts files by their names, which gives nearly the order of a job. */
void load_list_sort(struct load_list *l);
uint64_t load_list_n_bytes(const struct load_list *l);
void load_list_free(struct load_list *l);

#endif
