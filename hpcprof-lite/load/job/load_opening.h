/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a list while they are opened. load_job.c opens them; load_ranks.c chooses which. */
#ifndef HPCPROF_LITE_LOAD_JOB_LOAD_OPENING_H
#define HPCPROF_LITE_LOAD_JOB_LOAD_OPENING_H

#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/load/job/load_list.h"

#include <stdatomic.h>

/* A path of the list: the file, and the processes inside of it. */
struct load_opened {
	bool is_done; /* it is open, or failed */
	struct load_file file;
	enum status result;
	VEC(struct load_file) inside; /* all are sound */
	size_t n_short;               /* number of files in it that hold nothing */
};

struct load_opening {
	const struct load_list *l;
	struct load_opened *opened; /* by path */
	size_t first, end;          /* range of paths to open now */
	bool stays, leaves_lines, leaves_values; /* as in struct load_file */
	atomic_size_t n_done;
};

/* Opens the paths first .. end - 1 that are not done. */
void load_opening_run(struct load_opening *o, unsigned n_workers);

#endif
