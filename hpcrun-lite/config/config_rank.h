/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launchers of parallel programs and the environment variables that they set in each rank. One
 * table for the run time (which rank is this?) and for hpcrun-lite (which run does it belong to?).
 * No allocation; signal-safe. Tests: tests/unit/run/test_config.c, tests/unit/run/test_launch.c.
 */
#ifndef HPCRUN_LITE_CONFIG_CONFIG_RANK_H
#define HPCRUN_LITE_CONFIG_CONFIG_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_LAUNCHER_NAMES 5

struct config_launcher {
	const char *name;
	const char *rank;
	const char *size;   /* NULL: it does not set one */
	/* Variables that must exist, because `rank` alone may have another meaning. */
	const char *needs[CONFIG_LAUNCHER_NAMES];
	/* Variables that have the same value in all ranks of a run, on all nodes. */
	const char *run[CONFIG_LAUNCHER_NAMES];
	bool run_returns;   /* another run may have the same values */
	/* The process that starts the ranks starts them again if one fails. It lacks needs[0]. */
	bool restarts;
};

/* The table, `*n` long, in order of precedence. */
const struct config_launcher *config_launchers(size_t *n);

/* The launcher that set this environment, with its rank and size (-1: unknown). NULL: none. */
const struct config_launcher *config_find_launcher(char *const *env, int32_t *rank, int32_t *size);

#endif
