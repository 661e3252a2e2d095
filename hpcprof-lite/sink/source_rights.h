/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who may read a source file, and so who may read its copy. A measurement can name any path: with
 * `#line 1 "/etc/shadow"` a user could make root copy /etc/shadow. Therefore a file is opened only
 * if the owners of all measurement files could open it. Its copy is unreadable for everyone who
 * cannot read the file. Tests: tests/cli/prof/prof_sources.sh, tests/unit/sink/test_sink_cctdb.c.
 */
#ifndef HPCPROF_SINK_SOURCE_RIGHTS_H
#define HPCPROF_SINK_SOURCE_RIGHTS_H

#include "common/base/vec.h"
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
	VEC(struct source_owner) list; /* without root, who may read everything, and ourselves */
};

/*
 * Finds the owners of the model's measurement files. False if memory is short. In all cases call
 * source_owners_free().
 */
bool source_owners_find(const struct model *m, struct source_owners *o);
void source_owners_free(struct source_owners *o);

/*
 * Opens a regular file for reading if all owners could. Returns -1 if not, or on any other failure;
 * does not log. *mode is the mode allowed for a copy: at most the file's own mode. Group and others
 * get only what the directories above the file let them reach. Never waits for a FIFO.
 */
int source_open(const struct source_owners *o, const char *path, struct stat *st, mode_t *mode);

#endif
