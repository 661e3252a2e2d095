/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of the process. If the directory is on a file server there are two: the one on the node
 * is mapped, and the one in the directory says where the data are. Private to the store.
 * Signal-safe. Test: tests/cli/storage/storage_local.sh.
 */
#ifndef HPCRUN_LITE_STORE_STORE_LOCAL_H
#define HPCRUN_LITE_STORE_STORE_LOCAL_H

#include "hpcrun-lite/store/store_state.h"

/*
 * Makes the file, and sets store.target. If no file can be made on the node, `file` is the one in
 * the directory. Returns false on failure and sets *cause to a constant string.
 */
bool store_make_file(struct space *file, const struct store_options *o, const char **cause);

/* Removes the files that store_make_file made. */
void store_unmake_file(struct space *file);

/* Uses the file in the directory instead of the one on the node, which holds nothing yet. */
bool store_leave_node(struct space *file);

/* From now on, data from `offset` on go to the file in the directory. Returns false on failure. */
bool store_spill(uint64_t offset);

#endif
