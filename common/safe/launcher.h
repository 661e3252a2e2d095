/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launchers of parallel programs and the environment variables that they set in each rank. One
 * table for the run time (which rank is this?), for hpcrun-lite (which run does it belong to?) and
 * for hpcprof-lite (am I one of several?).
 * No allocation; signal-safe. Tests: tests/unit/run/test_config.c, tests/unit/run/test_launch.c.
 */
#ifndef COMMON_SAFE_LAUNCHER_H
#define COMMON_SAFE_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAUNCHER_NAMES 5

struct launcher {
	const char *name;
	const char *rank;
	const char *size;   /* NULL: it does not set one */
	/* Variables that must exist, because `rank` alone may have another meaning. */
	const char *needs[LAUNCHER_NAMES];
	/* Variables that have the same value in all ranks of a run, on all nodes. */
	const char *run[LAUNCHER_NAMES];
	/* Exists in the ranks of a job that another job's rank spawned; NULL: no such variable. */
	const char *spawned;
	bool run_returns;   /* another run may have the same values of these variables */
	/* The process that starts the ranks starts them again if one fails. It lacks needs[0]. */
	bool restarts;
	bool has_no_mpi;    /* it can start ranks that are not an MPI program */
};

/* The table, `*n` long, in order of precedence. */
const struct launcher *launcher_table(size_t *n);

/* The launcher that set this environment, with its rank and size (-1: unknown). NULL: none. */
const struct launcher *launcher_find(char *const *env, int32_t *rank, int32_t *size);

/* True if a rank of another job spawned this rank's job. False if the launcher does not say. */
bool launcher_spawned(const struct launcher *l, char *const *env);

#endif
