/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens files inside a measurement directory or a cache, where a stranger may have put links. Does
 * not follow symbolic links. Refuses a file that the owner of the directory could not read, for
 * example a hard link to another user's file. Checks the open file, not its name. Test:
 * tests/cli/prof/prof_strangers.sh.
 */
#ifndef COMMON_RIGHTS_INSIDE_H
#define COMMON_RIGHTS_INSIDE_H

#include "common/base/mapfile.h"
#include "common/base/status.h"

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Opens a regular file for reading. The last `depth` names of the path (1 to 3) are inside a
 * directory DIR: 2 names for DIR/vdso/x. DIR itself may be a link. Returns -1 and sets errno: ELOOP
 * for a link, EPERM for a file that the owner of DIR could not read, EINVAL if the file is not a
 * regular one. Sets *st on success. Does not log and never waits for a FIFO.
 */
int inside_open(const char *path, unsigned depth, struct stat *st);

/* Returns the text for an errno value of inside_open(), for use in a message. */
const char *inside_cause(int cause);

/* Like mapfile_open(), for a file inside a directory. depth 0: for any file. */
enum status inside_map(const char *path, unsigned depth, struct mapfile *m);

/*
 * True if we may believe a structure file that belongs to user `uid`. The user must be ourselves,
 * root, or the owner of the binary that it describes, who could change the binary too. `binary` may
 * be NULL.
 */
bool inside_trusts(uid_t uid, const char *binary);

#endif
