/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the rank of this process in a parallel job from the variables that launchers set. Must not
 * allocate. Tests: tests/unit/run/test_config.c, tests/cli/parts/parts_ranks.sh.
 */
#include "common/safe/launcher.h"

#include <string.h>

/*
 * The innermost launcher comes first: srun may start torchrun, and a batch system may start mpirun.
 * A batch system's variables come last, because programs that a job script starts in another way
 * inherit them, too. RANK and WORLD_SIZE are common words, so we ask for more variables that
 * PyTorch's launchers set.
 */
static const struct launcher launchers[] = {
	/* PyTorch, torch/distributed/elastic/agent/server/local_elastic_agent.py, _start_workers().
	 * accelerate starts several processes through it, or by mpirun or DeepSpeed
	 * (src/accelerate/commands/launch.py, multi_gpu_launcher(), deepspeed_launcher(); 1.15).
	 * The run id is "none" unless the user gives one, and the port 29500. */
	{
		.name = "torchrun",
		.rank = "RANK",
		.size = "WORLD_SIZE",
		.needs = {"TORCHELASTIC_RUN_ID", "LOCAL_RANK"},
		.run = {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR",
			"MASTER_PORT"},
		.run_returns = true,
		.restarts = true,
		.has_no_mpi = true,
	},
	/* DeepSpeed, deepspeed/launcher/launch.py, main(). */
	{
		.name = "deepspeed",
		.rank = "RANK",
		.size = "WORLD_SIZE",
		.needs = {"CROSS_RANK", "CROSS_SIZE", "LOCAL_SIZE", "MASTER_PORT"},
		.run = {"MASTER_ADDR", "MASTER_PORT"},
		.run_returns = true,
		.has_no_mpi = true,
	},
	/* Open MPI, mpirun(1), "Exported environment variables"; 4.1.4 sets the names of the run.
	 * PMIX_NAMESPACE alone repeats when another mpirun gets the same process id; the port and
	 * the random key do not. Open MPI 5 is PRRTE with openpmix/src/mca/pmdl/ompi/pmdl_ompi.c,
	 * setup_fork(). */
	{
		.name = "Open MPI",
		.rank = "OMPI_COMM_WORLD_RANK",
		.size = "OMPI_COMM_WORLD_SIZE",
		.run = {"PMIX_NAMESPACE", "OMPI_MCA_orte_precondition_transports",
			"OMPI_MCA_orte_hnp_uri"},
	},
	/* MVAPICH2 2.3.7, src/pm/mpirun/mpispawn.c, setup_local_environment(). The id is the
	 * process id of mpirun_rsh. MPISPAWN_MPIRUN_HOST and _PORT differ between nodes: each
	 * mpispawn passes its own to the processes that it starts (spawn_mpispawn_tree()). */
	{
		.name = "MVAPICH2",
		.rank = "MV2_COMM_WORLD_RANK",
		.size = "MV2_COMM_WORLD_SIZE",
		.run = {"MPISPAWN_MPIRUN_ID"},
		.run_returns = true,
	},
	/* Later versions of MVAPICH renamed the variables, as programs that read them show. The
	 * mpispawn.c of 3.0 still sets those of the row above. */
	{.name = "MVAPICH", .rank = "MVP_COMM_WORLD_RANK", .size = "MVP_COMM_WORLD_SIZE"},
	/* PMI-1: MPICH's Hydra (seen with 4.0.2) and Intel MPI's; Slurm with --mpi=pmi2
	 * (src/plugins/mpi/pmi2/mpi_pmi2.c) and --mpi=cray_shasta; PALS. Hydra does not name the
	 * run. Its proxy sets PMI_SPAWNED, which MPICH's PMI-1 client reads. */
	{.name = "PMI", .rank = "PMI_RANK", .size = "PMI_SIZE", .spawned = "PMI_SPAWNED"},
	/* IBM's jsrun (LSF Job Step Manager), as HPCToolkit reads it (OSUtil). It is a PMIx server,
	 * whose namespace is the step of the LSF job. */
	{
		.name = "jsrun",
		.rank = "JSM_NAMESPACE_RANK",
		.size = "JSM_NAMESPACE_SIZE",
		.run = {"PMIX_NAMESPACE"},
	},
	/* PMIx servers: PRRTE's prun and prterun (src/mca/odls/base/odls_base_default_fns.c) and
	 * Slurm with --mpi=pmix call PMIx_server_setup_fork(), which sets rank and namespace, but
	 * no size (openpmix/src/server/pmix_server.c, setup_fork_body()). */
	{.name = "PMIx", .rank = "PMIX_RANK", .size = "PMIX_SIZE", .run = {"PMIX_NAMESPACE"}},
	/* Cray PALS. Slurm's src/plugins/mpi/cray_shasta/mpi_cray_shasta.c sets rank and id in its
	 * place. Programs that run under it read the size. */
	{.name = "PALS", .rank = "PALS_RANKID", .size = "PALS_SIZE", .run = {"PALS_APID"}},
	/* Flux, flux-core, src/shell/task.c. */
	{.name = "Flux", .rank = "FLUX_TASK_RANK", .size = "FLUX_JOB_SIZE", .run = {"FLUX_JOB_ID"}},
	/* Cray ALPS, as Slurm's src/plugins/task/cray_aries names them. */
	{.name = "ALPS", .rank = "ALPS_APP_PE", .size = NULL, .run = {"ALPS_APP_ID"}},
	/* Slurm, srun(1), "OUTPUT ENVIRONMENT VARIABLES"; src/common/env.c, setup_env(). The job
	 * step identifies the run: see job.c. */
	{
		.name = "Slurm",
		.rank = "SLURM_PROCID",
		.size = "SLURM_NTASKS",
		.needs = {"SLURM_STEP_ID"},
	},
};

const struct launcher *launcher_table(size_t *n)
{
	*n = sizeof launchers / sizeof *launchers;
	return launchers;
}

static const char *find(char *const *env, const char *name)
{
	size_t n = strlen(name);
	for (; *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* Returns a decimal number from 0 to 999,999,999, or -1. */
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

/*
 * A batch script is task 0 of its own step ("batch", SLURM_STEP_ID 4294967291), or has no step. It
 * has no rank.
 */
static bool is_slurm_task(char *const *env)
{
	const char *step = find(env, "SLURM_STEP_ID");
	return step && !(step[0] == '4' && strlen(step) == 10);
}

static bool is_believed(const struct launcher *l, char *const *env, int32_t rank,
			int32_t size)
{
	for (size_t i = 0; i < LAUNCHER_NAMES && l->needs[i]; i++)
		if (!find(env, l->needs[i]))
			return false;
	if (l->run_returns && (size < 0 || rank >= size))
		return false;
	return rank >= 0 && (strcmp(l->rank, "SLURM_PROCID") != 0 || is_slurm_task(env));
}

const struct launcher *launcher_find(char *const *env, int32_t *rank, int32_t *size)
{
	*rank = *size = -1;
	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
		const struct launcher *l = &launchers[i];
		int32_t r = number(find(env, l->rank)),
			n = l->size ? number(find(env, l->size)) : -1;
		if (!is_believed(l, env, r, n))
			continue;
		*rank = r;
		/* If there is no variable for the size, ask Slurm if it is the launcher. */
		*size = n < 0 && is_slurm_task(env) ? number(find(env, "SLURM_STEP_NUM_TASKS")) : n;
		return l;
	}
	return NULL;
}

bool launcher_spawned(const struct launcher *l, char *const *env)
{
	return l->spawned && find(env, l->spawned);
}
