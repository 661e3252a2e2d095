/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identity of a parallel run; see job.h. Every variable used here has the same value in all ranks
 * of a run, on every node. Tests: tests/unit/run/test_launch.c, tests/cli/launch/launch_dir.sh.
 */
#include "hpcrun-lite/launch/directory/job.h"

#include "common/safe/launcher.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* Batch systems: the variable that names the job. */
static const char *const batch_variables[] = {
	"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "COBALT_JOBID",
	"OAR_JOB_ID",   "JOB_ID",    "PJM_JOBID",
};

/* Added to the identity if present: they distinguish two jobs with the same number. */
static const char *const batch_details[] = {
	"SLURM_CLUSTER_NAME", "SLURM_JOB_START_TIME", "SLURM_RESTART_COUNT",
	"LSB_JOBINDEX",       "PBS_ARRAY_INDEX",      "SGE_TASK_ID",
};

/* Programs that start ranks, as /proc/PID/comm shows them (15 characters). */
static const char *const launchers[] = {
	"hydra_pmi_proxy", "mpiexec.hydra", "mpiexec",         "mpirun",  "mpiexec.gforker",
	"mpispawn",        "pmi_proxy",     "hydra_bstrap_pr", "orterun", "orted",
	"prterun",         "prted",         "palsd",
};

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void append(char *text, size_t bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void append(char *text, size_t bytes, const char *format, ...)
{
	size_t n = strlen(text);
	va_list args;
	va_start(args, format);
	vsnprintf(text + n, bytes - n, format, args);
	va_end(args);
	for (; text[n]; n++)
		if ((unsigned char)text[n] < 0x20 || text[n] == 0x7f)
			text[n] = '?';
}

static const char *variable(char *const *environment, const char *name)
{
	size_t n = strlen(name);
	for (; *environment; environment++)
		if (!strncmp(*environment, name, n) && (*environment)[n] == '=')
			return *environment + n + 1;
	return NULL;
}

/* Appends " NAME=VALUE" for each of the variables that is set; returns how many were. */
static int append_variables(struct job *job, char *const *environment, const char *const *names,
			    size_t n)
{
	int found = 0;
	for (size_t i = 0; i < n; i++) {
		const char *value = names[i] ? variable(environment, names[i]) : NULL;
		if (!value || !*value)
			continue;
		append(job->identity, sizeof job->identity, " %s=%s", names[i], value);
		found++;
	}
	return found;
}

/*
 * Appends the variables that identify the run: those of the launcher that started this rank, and of
 * other launchers, because one may start the ranks of another. Returns how many of them are unique
 * to this run.
 */
static int append_run(
	struct job *job, char *const *environment, const struct launcher *launcher)
{
	size_t n;
	const struct launcher *all = launcher_table(&n);
	int found = 0;
	if (launcher->run_returns)
		append_variables(job, environment, launcher->run, LAUNCHER_NAMES);
	for (size_t i = 0; i < n; i++)
		if (!all[i].run_returns)
			found += append_variables(
				job, environment, all[i].run, LAUNCHER_NAMES);
	return launcher->run_returns ? 0 : found;
}

/*
 * Reads the parent, the start time in clock ticks since boot, and the name of a process. Returns
 * false if there is none, or if all of its threads have ended and its parent has not waited for it.
 */
static bool process_stat(long pid, long *parent, unsigned long long *start, char comm[32])
{
	char path[64], text[1024], state;
	int n_threads;
	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	char *open_paren = strchr(text, '('), *close_paren = strrchr(text, ')');
	if (!open_paren || !close_paren)
		return false;
	snprintf(comm, 32, "%.*s", (int)(close_paren - open_paren - 1), open_paren + 1);
	return sscanf(close_paren + 1,
		      " %c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d "
		      "%*d %llu",
		      &state, parent, &n_threads, start) == 4 &&
	       (state != 'Z' || n_threads > 1);
}

bool job_process_start(long pid, uint64_t *ticks)
{
	unsigned long long start;
	char comm[32];
	long parent;
	bool is_there = process_stat(pid, &parent, &start, comm);
	if (is_there)
		*ticks = start;
	return is_there;
}

static bool is_launcher(const char *comm)
{
	for (size_t i = 0; i < COUNT(launchers); i++)
		if (!strncmp(comm, launchers[i], 15))
			return true;
	return false;
}

/*
 * Appends the nearest ancestor that starts ranks, or else the parent: it is the same process for
 * all ranks of this node.
 */
static void append_launcher(struct job *job)
{
	char host[256] = "", comm[32];
	long pid = getppid(), found = pid;
	unsigned long long start = 0, found_start = 0;
	gethostname(host, sizeof host - 1);
	for (int i = 0; i < 64 && pid > 1; i++) {
		long at = pid;
		if (!process_stat(at, &pid, &start, comm))
			break;
		if (i == 0)
			found_start = start;
		if (is_launcher(comm)) {
			found = at;
			found_start = start;
			break;
		}
	}
	append(job->identity, sizeof job->identity, " started by %s:%ld:%llu", host, found,
	       found_start);
}

/* Processes that the launcher starts have this variable; its agent does not. */
static bool may_be_agent(long pid, const char *name)
{
	char path[64], *entry = NULL;
	size_t room = 0, n = strlen(name);
	snprintf(path, sizeof path, "/proc/%ld/environ", pid);
	FILE *f = fopen(path, "re");
	bool may = f;
	while (may && getdelim(&entry, &room, '\0', f) > 0)
		may = strncmp(entry, name, n) != 0 || entry[n] != '=';
	free(entry);
	if (f)
		fclose(f);
	return may;
}

/*
 * Names the parent if it may be torchrun's agent. Does not name a shell between the agent and this
 * process: the shell may start several runs, and each restart has a new shell.
 */
static void name_starter(struct job *job, const struct launcher *launcher)
{
	char host[64] = "";
	uint64_t start;
	gethostname(host, sizeof host - 1);
	if (may_be_agent(getppid(), launcher->needs[0]) && job_process_start(getppid(), &start))
		snprintf(job->starter, sizeof job->starter, "%s-%ld-%llu", host, (long)getppid(),
			 (unsigned long long)start);
}

static void append_unique(struct job *job)
{
	unsigned char key[16] = {0};
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (getrandom(key, sizeof key, GRND_NONBLOCK) != sizeof key)
		memset(key, 0, sizeof key);
	append(job->identity, sizeof job->identity, JOB_ALONE_MARK "%lld.%09ld pid %ld ",
		(long long)now.tv_sec, now.tv_nsec, (long)getpid());
	for (size_t i = 0; i < sizeof key; i++)
		append(job->identity, sizeof job->identity, "%02x", key[i]);
}

/* Returns the Slurm step if srun itself started its ranks, not another launcher inside the step. */
static const char *slurm_step(char *const *environment)
{
	const char *step = variable(environment, "SLURM_STEP_ID");
	const char *namespace = variable(environment, "PMIX_NAMESPACE");
	if (!step || variable(environment, "OMPI_COMM_WORLD_RANK") ||
	    variable(environment, "MPI_LOCALRANKID") ||
	    variable(environment, "MV2_COMM_WORLD_RANK") ||
	    (namespace && strncmp(namespace, "slurm", 5)))
		return NULL;
	return step;
}

static const char *batch_id(char *const *environment)
{
	for (size_t i = 0; i < COUNT(batch_variables); i++) {
		const char *id = variable(environment, batch_variables[i]);
		if (id && *id)
			return id;
	}
	return NULL;
}

/* The ids of Flux, PALS and ALPS identify the run; they are used if there is no batch system. */
static void name_job(struct job *job, char *const *environment, const char *batch, const char *step)
{
	const char *id = batch ? batch : variable(environment, "FLUX_JOB_ID");
	if (!id)
		id = variable(environment, "PALS_APID");
	if (!id)
		id = variable(environment, "ALPS_APP_ID");
	if (!id)
		return;
	/* Slurm's users know a job of an array by these two, as in %A_%a. */
	const char *array = variable(environment, "SLURM_ARRAY_JOB_ID");
	const char *task = variable(environment, "SLURM_ARRAY_TASK_ID");
	if (array && task)
		snprintf(job->name, sizeof job->name, "%s_%s", array, task);
	else
		snprintf(job->name, sizeof job->name, "%s", id);
	size_t n = strlen(job->name);
	snprintf(job->name + n, sizeof job->name - n, "%s%s", step ? "." : "", step ? step : "");
	for (char *c = job->name; *c; c++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-",
			    *c))
			*c = '_';
}

void job_find(char *const *environment, struct job *job)
{
	*job = (struct job){.scope = JOB_ALONE};
	const char *batch = batch_id(environment);
	int32_t rank, size;
	const struct launcher *launcher = launcher_find(environment, &rank, &size);
	const char *step = launcher ? slurm_step(environment) : NULL;
	job->rank = rank;
	job->n_ranks = size;
	name_job(job, environment, batch, step);
	append_variables(job, environment, batch_variables, COUNT(batch_variables));
	append_variables(job, environment, batch_details, COUNT(batch_details));
	if (!launcher) {
		append_unique(job);
		return;
	}
	job->scope = JOB_SHARED;
	if (launcher->restarts)
		name_starter(job, launcher);
	append(job->identity, sizeof job->identity, " size %d", job->n_ranks);
	int named = append_run(job, environment, launcher);
	if (step)
		append(job->identity, sizeof job->identity, " SLURM_STEP_ID=%s", step);
	if ((named || step) && !launcher->run_returns)
		return;
	job->scope = batch || launcher->run_returns ? JOB_CLAIMED : JOB_NODE;
	if (job->scope == JOB_CLAIMED)
		return;
	job->common_bytes = strlen(job->identity);
	append_launcher(job);
}
