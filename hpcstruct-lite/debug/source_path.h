/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the path of a source file from the strings of a line table. Test:
 * tests/cli/struct/struct_judge.sh.
 */
#ifndef HPCSTRUCT_DEBUG_SOURCE_PATH_H
#define HPCSTRUCT_DEBUG_SOURCE_PATH_H

#include "common/base/strtab.h"

/*
 * Joins compilation directory, directory and name. Each may be NULL. An absolute part replaces the
 * parts before it. Returns the path's id in `files`, DEBUG_NONE for an empty name, or STRTAB_FAILED
 * when out of memory.
 */
uint32_t source_path_add(struct strtab *files, const char *comp_dir, const char *dir,
	const char *name);

#endif
