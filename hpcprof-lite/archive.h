/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An archive is a copy of a measurement directory with all that a report needs on another machine:
 * structures in structs/, sources in src/, and the GPU code that the run kept. hpcprof-lite reads
 * it like any measurement. Test: tests/cli/prof/prof_archive.sh.
 */
#ifndef HPCPROF_ARCHIVE_H
#define HPCPROF_ARCHIVE_H

#include "common/base/status.h"
#include "hpcprof-lite/load/structures.h"

#include <stdbool.h>
#include <stddef.h>

struct archive {
	const char *measurement;           /* the directory to copy */
	const char *path;                  /* the directory to make; must not exist */
	const struct load_structure *list; /* the structures of `m`, open */
	size_t n;
	const struct model *m;
	bool no_sources;
	char *const *source_dirs; /* as in struct sink_options */
	size_t n_source_dirs;
};

/* Makes the whole archive or leaves nothing. Logs failures, and which structures are missing. */
enum status archive_write(const struct archive *a);

#endif
