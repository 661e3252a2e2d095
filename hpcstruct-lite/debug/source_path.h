/* SPDX-License-Identifier: BSD-3-Clause */
/* From what a line table says to the path of a source file. Test: tests/cli/struct_judge.sh. */
#ifndef HPCSTRUCT_DEBUG_SOURCE_PATH_H
#define HPCSTRUCT_DEBUG_SOURCE_PATH_H

#include "common/base/strtab.h"

/*
 * Joins compilation directory, directory and name; each may be NULL, and one that is absolute makes those before it void. Returns the path's id in `files`; DEBUG_NONE for an empty
 * name; STRTAB_FAILED when memory is short.
 */
uint32_t source_path_add(struct strtab *files, const char *comp_dir, const char *dir, const char *name);

#endif
