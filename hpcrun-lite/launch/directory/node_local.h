/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses a directory of this node for the measurement files while their processes run, if the
 * measurement directory is on a file server. Test: tests/cli/storage/storage_local.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_DIRECTORY_NODE_LOCAL_H
#define HPCRUN_LITE_LAUNCH_DIRECTORY_NODE_LOCAL_H

#include "common/base/status.h"
#include "hpcrun-lite/config/config.h"

#include <stdbool.h>
#include <stddef.h>

#define NODE_LOCAL_NONE "none" /* the value of --local for no directory on the node */

/*
 * Sets local, leave_bytes and tool of a config whose directory is known. `wanted` is NULL, or the
 * user's value of --local: NODE_LOCAL_NONE, or a directory in which to make ours even if the
 * measurement directory is not on a file server. Fails, with a message, only if that directory
 * cannot be used.
 */
enum status node_local_choose(const char *wanted, struct config *c);

/*
 * The directories in which ours may be, the preferred one first and `wanted` last. Entries may be
 * NULL.
 */
#define NODE_LOCAL_PLACES 4u
void node_local_places(const char *wanted, const char *places[NODE_LOCAL_PLACES]);

/*
 * What is special about measuring into this directory: "NFS: kept in /var/tmp while programs run",
 * or "" if it is on an ordinary disk. False: it is on the server that `text` names, and no
 * directory of this node can be used.
 */
bool node_local_describe(const char *directory, char *text, size_t n_bytes);

/* True if the open file is on a file server, which may number users in its own way. */
bool node_local_is_server(int fd);

/*
 * Gets the path of our directory in `place` for a measurement directory (absolute). Returns false
 * if it is too long.
 */
bool node_local_path(const char *place, const char *directory, char *path, size_t n_bytes);

#endif
