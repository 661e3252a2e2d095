/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides who may read a file that a measurement names, and therefore its copy. A measurement can
 * name any path: with `#line 1 "/etc/shadow"` a user could make root copy /etc/shadow. Therefore a
 * file is opened only if the owners of the measurement could open it. Its copy is unreadable for
 * everyone who cannot read the file. Files inside a measurement directory: inside.h. Tests:
 * tests/cli/prof/prof_sources.sh, tests/unit/sink/test_sink_cctdb.c.
 */
#ifndef COMMON_RIGHTS_RIGHTS_H
#define COMMON_RIGHTS_RIGHTS_H

#include "common/base/vec.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct rights_owner {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* owned */
	int n_groups;
};

/* The owners of measurement files. Zero it first. */
struct rights {
	VEC(struct rights_owner) list; /* without root, who may read everything, and ourselves */
};

/* Adds an owner. False if memory is short. In all cases call rights_free(). */
bool rights_add(struct rights *o, uid_t uid);
void rights_free(struct rights *o);

/* True if the mode of a file lets this user read it, or if the user owns it and can change that. */
bool rights_may_read(uid_t uid, const struct stat *st);

/*
 * Opens a regular file for reading if all owners could open it. Returns -1 if not, or on any other
 * failure; does not log. *mode is the mode allowed for a copy: at most the file's own mode. Group
 * and others get only what the directories above the file let them reach. Never waits for a FIFO.
 */
int rights_open(const struct rights *o, const char *path, struct stat *st, mode_t *mode);

#endif
