/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which MPI rank this process is, from what launchers leave in the environment. Must not allocate. Test: tests/unit/test_config.c.
 */
#include "hpcrun-lite/runtime/config.h"

#include <string.h>

static const char *find(char *const *env, const char *name)
{
	size_t n = strlen(name);
	for (; *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* A decimal number from 0 to 999,999,999, else -1. */
static int32_t number(const char *s)
{
	int32_t v = 0;
	if (!s || !*s || strlen(s) > 9)
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		v = v * 10 + (*s - '0');
	}
	return v;
}

/* In the order in which they are believed: the innermost launcher first. A batch system's variables come last, for they also stand
 * in the environment of what a job script starts by other means. */
static const struct {
	const char *rank, *size;
} launchers[] = {
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
	{"PMI_RANK", "PMI_SIZE"},
	{"PMIX_RANK", "PMIX_SIZE"},
	{"PALS_RANKID", "PALS_SIZE"},
	{"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
	{"SLURM_PROCID", "SLURM_NTASKS"},
};

void config_find_rank(struct config *c, char *const *env)
{
	/* A batch script itself is task 0 of a step of its own ("batch", SLURM_STEP_ID 4294967291 or no step at all): no rank. */
	bool slurm_task = find(env, "SLURM_STEP_ID") && !(find(env, "SLURM_STEP_ID")[0] == '4' && strlen(find(env, "SLURM_STEP_ID")) == 10);
	for (size_t i = 0; c->rank < 0 && i < sizeof launchers / sizeof *launchers; i++) {
		if (strncmp(launchers[i].rank, "SLURM", 5) == 0 && !slurm_task)
			continue;
		int32_t rank = number(find(env, launchers[i].rank));
		if (rank < 0)
			continue;
		c->rank = rank;
		c->n_ranks = number(find(env, launchers[i].size));
	}
	if (c->rank >= 0 && c->n_ranks < 0) /* PMIx has no variable for the size; Slurm knows it when it is the launcher */
		c->n_ranks = slurm_task ? number(find(env, "SLURM_STEP_NUM_TASKS")) : -1;
}
