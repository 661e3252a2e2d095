/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of the process, or its two files where the directory is on a file server: the one on
 * the node, which is mapped, and the one in the directory, which says where the data are. Private
 * to the store. Signal-safe. Test: tests/cli/storage/storage_local.sh.
 */
#ifndef HPCRUN_LITE_STORE_STORE_LOCAL_H
#define HPCRUN_LITE_STORE_STORE_LOCAL_H

#include "hpcrun-lite/store/store_state.h"

/*
 * Makes the file, and sets store.target. If no file can be made on the node, `file` is the one in
 * the directory. Returns false on failure and sets *cause to a constant string.
 */
bool store_make_file(struct space *file, const struct store_options *o, const char **cause);

/* Removes what store_make_file made. */
void store_unmake_file(struct space *file);

/* Takes the file in the directory instead of the one on the node, which holds nothing yet. */
bool store_leave_node(struct space *file);

/* From `offset` on, bytes go to the file in the directory. Returns false if they cannot. */
bool store_spill(uint64_t offset);

#endif
