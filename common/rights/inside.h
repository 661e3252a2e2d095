/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens files inside a measurement directory or a cache, where a stranger may have put links: no
 * symbolic link is followed, and a file is refused that the owner of the directory could not read,
 * as a hard link to the file of another user. All is decided on the open file. Test:
 * tests/cli/prof/prof_strangers.sh.
 */
#ifndef COMMON_RIGHTS_INSIDE_H
#define COMMON_RIGHTS_INSIDE_H

#include "common/base/mapfile.h"
#include "common/base/status.h"

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Opens a regular file for reading whose last `depth` names (1 to 3) are inside: of DIR/vdso/x, 2
 * are inside of DIR. DIR itself may be a link. Returns -1 and sets errno: ELOOP for a link, EPERM
 * for a file that the owner of DIR could not read, EINVAL for what is no regular file. Sets *st on
 * success. Does not log and never waits for a FIFO.
 */
int inside_open(const char *path, unsigned depth, struct stat *st);

/* The same, for the text of errno in a message. */
const char *inside_cause(int cause);

/* As mapfile_open(), of a file inside. depth 0: of any file. */
enum status inside_map(const char *path, unsigned depth, struct mapfile *m);

/*
 * True if we may believe a structure that belongs to `uid`: it is ours or root's, or of whom could
 * change the binary that it describes, too. `binary` may be NULL.
 */
bool inside_trusts(uid_t uid, const char *binary);

#endif
