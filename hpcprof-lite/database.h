/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The database directory. It is built under another name beside its place and renamed when
 * complete, so that nothing half-written is left behind. It is removed on failure and on the
 * signals that end a program from the terminal or a batch system. Test: tests/cli/prof/prof_cli.sh.
 */
#ifndef HPCPROF_DATABASE_H
#define HPCPROF_DATABASE_H

#include "common/base/status.h"

#include <stdbool.h>

struct database {
	char *path;    /* where it will be; owned */
	char *base;    /* `path` without its number; NULL: the user chose the place; owned */
	char *partial; /* where it is built, readable only for us; NULL: not open; owned */
	bool is_private; /* set if it gets something that not everyone may read: keeps it private */
};

/* Checks at the start that a database can be made at `wanted`, as far as is known then. Logs. */
enum status database_check(const char *wanted);

/*
 * Chooses the place and makes the directory to build in. `wanted` NULL:
 * hpctoolkit-lite-<app>-database[-<job>] after the name of the measurement directory, or after
 * `title` if that directory has another kind of name; with a number if it exists. A wanted one must
 * not exist. Logs.
 */
enum status database_begin(struct database *d, const char *wanted, const char *measurements,
			   const char *title);
/*
 * Gives the directory its name, and the permissions that the umask allows, unless it is private. If
 * the user named no place and another run took d->path meanwhile, sets it to the next number. Logs.
 */
enum status database_commit(struct database *d);
/* Removes what database_commit() has not named, and frees. Always allowed. */
void database_end(struct database *d);

/*
 * Makes a directory of our own below $TMPDIR, or else /tmp. Call it only while no database is open.
 * database_end_scratch() removes it with its contents, as do the signals below. NULL if it cannot
 * be made; logs.
 */
const char *database_begin_scratch(void);
/* Always allowed. */
void database_end_scratch(void);

/*
 * Call once, before any other thread is made. From then on SIGINT, SIGTERM and SIGHUP remove an
 * open database and end the program as they would have done.
 */
void database_guard(void);
/*
 * From now on another process watches each open database and removes it if this one ends. Ranks of
 * mpirun need it: at a signal, mpirun kills them before they can remove anything. That process is a
 * copy of this one, so call it while this one is small.
 */
void database_watch(void);
/* Ends that process and waits for it. Does nothing if there is none. */
void database_end_watch(void);

#endif
