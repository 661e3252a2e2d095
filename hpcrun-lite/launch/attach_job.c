/* SPDX-License-Identifier: BSD-3-Clause */
/* See attach_job.h. proc(5). Processes of others, whose environment we may not read, are left. */
#include "hpcrun-lite/launch/attach_job.h"

#include "common/base/log.h"
#include "common/safe/launcher.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENVIRONMENT_BYTES = 4 << 20, VARIABLES = 65536, GENERATIONS = 64 };
enum { CPU_FIELD = 11 }; /* utime and stime in proc(5) "stat", behind the parent's id */

struct found {
	struct attach_rank *rank;
	size_t n, room;
};

static size_t read_file(char *text, size_t n_bytes, pid_t pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	FILE *f = fopen(path, "re");
	const size_t n = f ? fread(text, 1, n_bytes - 1, f) : 0;
	text[n] = '\0';
	if (f)
		fclose(f);
	return n;
}

/* The parent, 0 if unknown; *cpu_ticks unless NULL. */
static pid_t parent_of(pid_t pid, uint64_t *cpu_ticks)
{
	char text[1024];
	int parent = 0, at = 0;
	unsigned long user, system;
	read_file(text, sizeof text, pid, "stat");
	const char *name_end = strrchr(text, ')');
	if (!name_end || sscanf(name_end, ") %*c %d%n", &parent, &at) != 1)
		return 0;
	const char *field = name_end + at;
	for (int i = 0; field && i < CPU_FIELD - 1; i++)
		field = strchr(field + 1, ' ');
	if (cpu_ticks && field && sscanf(field, "%lu %lu", &user, &system) == 2)
		*cpu_ticks = user + system;
	return parent;
}

static bool is_descendant(pid_t pid, pid_t of)
{
	for (int i = 0; pid > 1 && i < GENERATIONS; i++)
		if ((pid = parent_of(pid, NULL)) == of)
			return true;
	return false;
}

static char *const *environment_of(pid_t pid)
{
	static char text[ENVIRONMENT_BYTES];
	static char *variables[VARIABLES + 1];
	const size_t n_bytes = read_file(text, sizeof text, pid, "environ");
	size_t n = 0;
	for (char *at = text; at < text + n_bytes && n < VARIABLES; at += strlen(at) + 1)
		variables[n++] = at;
	variables[n] = NULL;
	return variables;
}

static const char *value_of(char *const *env, const char *name)
{
	const size_t n = strlen(name);
	for (; *env; env++)
		if (!strncmp(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return "";
}

static bool is_own(pid_t pid)
{
	char name[32];
	read_file(name, sizeof name, pid, "comm");
	return !strncmp(name, "hpcrun-lite", strlen("hpcrun-lite"));
}

static bool keep(struct found *f, const struct attach_rank *new)
{
	for (size_t i = 0; i < f->n; i++) {
		struct attach_rank *r = &f->rank[i];
		if (r->rank != new->rank || r->group != new->group)
			continue;
		if (new->cpu_ticks > r->cpu_ticks)
			*r = *new;
		return true;
	}
	if (f->n == f->room) {
		const size_t room = 2 * f->room + 64;
		struct attach_rank *more = realloc(f->rank, room * sizeof *more);
		if (!more)
			return false;
		f->rank = more;
		f->room = room;
	}
	f->rank[f->n++] = *new;
	return true;
}

/* By the id of a job (launcher 0), or by that of the launcher. */
static bool look_at(struct found *f, pid_t pid, const char *job, pid_t launcher)
{
	struct attach_rank r = {.pid = pid};
	int32_t size;
	char *const *env = environment_of(pid);
	const struct launcher *l = launcher_find(env, &r.rank, &size);
	const bool is_there = launcher ? is_descendant(pid, launcher)
				       : !strcmp(value_of(env, "SLURM_JOB_ID"), job);
	if (!l || r.rank < 0 || !is_there || is_own(pid))
		return true;
	r.group = 2 * strtoull(value_of(env, "SLURM_STEP_ID"), NULL, 10) + launcher_spawned(l, env);
	parent_of(pid, &r.cpu_ticks);
	return keep(f, &r);
}

static bool look_at_all(struct found *f, const char *job, pid_t launcher)
{
	bool done = true;
	DIR *d = opendir("/proc");
	for (struct dirent *e; d && done && (e = readdir(d));)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			done = look_at(f, atoi(e->d_name), job, launcher);
	if (d)
		closedir(d);
	return done;
}

static int by_rank(const void *a, const void *b)
{
	const struct attach_rank *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

enum status attach_job_find(const char *job, struct attach_rank **ranks, size_t *n)
{
	struct found f = {0};
	const pid_t launcher = atoi(job);
	bool done = look_at_all(&f, job, 0);
	if (done && !f.n && launcher > 0)
		done = look_at_all(&f, job, launcher);
	if (done && f.n) {
		qsort(f.rank, f.n, sizeof *f.rank, by_rank);
		*ranks = f.rank;
		*n = f.n;
		return STATUS_OK;
	}
	free(f.rank);
	if (!done)
		return STATUS_NO_MEMORY;
	log_error("--attach-job",
		  "%s is neither a job of Slurm with ranks of yours on this node, nor the process "
		  "id of a launcher (mpirun, srun) that has some",
		  job);
	return STATUS_UNSUPPORTED;
}
