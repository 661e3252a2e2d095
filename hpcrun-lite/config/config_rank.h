/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launchers of parallel programs, and what they leave in the environment of a rank: one table, for
 * the run time (which rank is this?) and for hpcrun-lite (which run is it of?). No allocation;
 * signal-safe. Test: tests/unit/test_config.c, tests/unit/test_launch.c.
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
	const char *size;   /* NULL: it does not say */
	/* Variables without which `rank` is not believed: it may be anybody's. */
	const char *needs[CONFIG_LAUNCHER_NAMES];
	/* Variables with the same value in all ranks of a run, on all nodes. */
	const char *run[CONFIG_LAUNCHER_NAMES];
	bool run_returns;   /* another run may have the same values */
};

/* The table, `*n` long, in the order in which the launchers are believed. */
const struct config_launcher *config_launchers(size_t *n);

/* The launcher that this environment is of, with its rank and size (-1: not known). NULL: none. */
const struct config_launcher *config_find_launcher(char *const *env, int32_t *rank, int32_t *size);

#endif
