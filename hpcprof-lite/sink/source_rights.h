/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who may read a source file, and so who may read its copy. A measurement names any path: a user
 * could have root copy /etc/shadow by `#line 1 "/etc/shadow"`. So a file is opened only when the
 * owners of all measurement files could open it, and its copy is for no one who could not.
 * Tests: tests/cli/prof_sources.sh, tests/unit/test_sink_cctdb.c.
 */
#ifndef HPCPROF_SINK_SOURCE_RIGHTS_H
#define HPCPROF_SINK_SOURCE_RIGHTS_H

#include "hpcprof-lite/model/model.h"

#include <sys/stat.h>
#include <sys/types.h>

struct source_owner {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* owned */
	int n_groups;
};

struct source_owners {
	struct source_owner *at; /* owned; without root, who may read all, and without ourselves */
	size_t n;
};

/* The owners of the model's measurement files. False when memory is short; release it all the same. */
bool source_owners_find(const struct model *m, struct source_owners *o);
void source_owners_free(struct source_owners *o);

/*
 * Opens a regular file for reading if all owners could; -1 if not, or for any other reason, not
 * logged. *mode is what a copy may have: never more than the file's own mode, and for group and
 * others only what the directories above the file let them reach. Never waits for a FIFO.
 */
int source_open(const struct source_owners *o, const char *path, struct stat *st, mode_t *mode);

#endif
