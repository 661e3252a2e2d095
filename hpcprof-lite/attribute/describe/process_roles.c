/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See process_roles.h. A worker runs a Python function that no other process runs. The function is
 * on its call paths, however the worker was started (fork, spawn, fork server). Helpers are known
 * by their commands. Test: tests/unit/prof_torch/test_process_roles.c.
 */
#include "hpcprof-lite/attribute/describe/process_roles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum role {
	ROLE_NONE,
	ROLE_LOADER,
	ROLE_POOL,
	ROLE_WORKER,
	ROLE_RAY,
	ROLE_TRACKER,
	ROLE_FORK_SERVER,
	ROLE_AGENT,
	ROLE_ACCELERATE,
	ROLE_DEEPSPEED,
	N_ROLES
};

static const struct {
	const char *name;
	bool has_number; /* one parent may have several */
} roles[N_ROLES] = {
	[ROLE_LOADER] = {"DataLoader worker", true},
	[ROLE_POOL] = {"pool worker", true},
	[ROLE_WORKER] = {"worker process", true},
	[ROLE_RAY] = {"Ray worker", true},
	[ROLE_TRACKER] = {"resource tracker", false},
	[ROLE_FORK_SERVER] = {"fork server", false},
	[ROLE_AGENT] = {"torchrun agent", false},
	[ROLE_ACCELERATE] = {"accelerate launcher", false},
	[ROLE_DEEPSPEED] = {"DeepSpeed launcher", false},
};

/* Every worker process of multiprocessing runs this function, however the process was started. */
static const char process_file[] = "/multiprocessing/process.py", bootstrap[] = "_bootstrap";

/* The functions of workers. Threads may run some of them, too: ThreadPool runs Pool's. */
static const struct {
	const char *file, *function;
	enum role role;
} functions[] = {
	{"/torch/utils/data/_utils/worker.py", "_worker_loop", ROLE_LOADER},
	{"/multiprocessing/pool.py", "worker", ROLE_POOL},
	{"/concurrent/futures/process.py", "_process_worker", ROLE_POOL},
	{"/joblib/externals/loky/process_executor.py", "_process_worker", ROLE_POOL},
	{process_file, bootstrap, ROLE_WORKER},
	{"/ray/_private/workers/default_worker.py", "<module>", ROLE_RAY},
};

/* Parts of commands that give a role. */
static const struct {
	const char *part;
	enum role role;
} commands[] = {
	{"from multiprocessing.resource_tracker import main", ROLE_TRACKER},
	{"from multiprocessing.forkserver import main", ROLE_FORK_SERVER},
	{"from multiprocessing.spawn import spawn_main", ROLE_WORKER},
	{"/ray/_private/workers/default_worker.py", ROLE_RAY},
	{" -m torch.distributed.run ", ROLE_AGENT},
	{" -m torch.distributed.launch ", ROLE_AGENT},
	{"/torch/distributed/run.py ", ROLE_AGENT},
	{"/bin/torchrun ", ROLE_AGENT},
	{"/bin/accelerate launch ", ROLE_ACCELERATE},
	{"/bin/accelerate-launch ", ROLE_ACCELERATE},
	{" -m accelerate.commands.launch ", ROLE_ACCELERATE},
	{"/bin/deepspeed ", ROLE_DEEPSPEED},
	/* the process of each node, which starts the ranks */
	{" -m deepspeed.launcher.launch ", ROLE_DEEPSPEED},
};

static bool ends(const char *text, const char *end)
{
	const size_t n = strlen(text), n_end = strlen(end);
	return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

/* "BaseProcess._bootstrap" is "_bootstrap" too. */
static bool is_named(const char *qualified, const char *name)
{
	const char *dot = strrchr(qualified, '.');
	return strcmp(dot ? dot + 1 : qualified, name) == 0;
}

static bool is_code(const struct load_python *code, const char *file, const char *function)
{
	return code->record && is_named(code->name, function) && ends(code->file, file);
}

static bool has_bootstrap(const struct load_file *f)
{
	for (size_t i = 1; i < f->python.n; i++)
		if (is_code(&f->python.at[i], process_file, bootstrap))
			return true;
	return false;
}

/*
 * If several functions match, the first in the table counts: a DataLoader's worker is also a worker
 * process.
 */
static enum role role_by_functions(const struct load_file *f)
{
	size_t best = sizeof functions / sizeof *functions;
	const bool is_worker = has_bootstrap(f);
	for (size_t i = 1; i < f->python.n; i++) {
		const struct load_python *code = &f->python.at[i];
		for (size_t k = 0; k < best; k++)
			if ((is_worker || functions[k].role == ROLE_RAY) &&
			    is_code(code, functions[k].file, functions[k].function))
				best = k;
	}
	return best < sizeof functions / sizeof *functions ? functions[best].role : ROLE_NONE;
}

static enum role role_by_command(const struct load_file *f)
{
	for (size_t i = 0; f->command && i < sizeof commands / sizeof *commands; i++)
		if (strstr(f->command, commands[i].part))
			return commands[i].role;
	return ROLE_NONE;
}

/*
 * A process with a role, and what its number depends on. Process ids rise in the order in which a
 * parent starts its workers; the workers may begin to run in another order.
 */
struct member {
	uint32_t process, parent, pid;
	uint8_t role;
	uint64_t host;
};

static int compare_members(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;
	const uint64_t ka[] = {a->role, a->host, a->parent, a->pid, a->process},
		       kb[] = {b->role, b->host, b->parent, b->pid, b->process};
	for (size_t i = 0; i < sizeof ka / sizeof *ka; i++)
		if (ka[i] != kb[i])
			return ka[i] < kb[i] ? -1 : 1;
	return 0;
}

static bool name_members(struct model *m, const struct member *at, size_t n)
{
	uint32_t number = 0;
	for (size_t i = 0; i < n; i++) {
		char *name = NULL;
		const bool is_next = i && at[i].role == at[i - 1].role &&
				     at[i].host == at[i - 1].host &&
				     at[i].parent == at[i - 1].parent;
		number = is_next ? number + 1 : 0;
		int length = roles[at[i].role].has_number
				     ? asprintf(&name, "%s %u", roles[at[i].role].name, number)
				     : asprintf(&name, "%s", roles[at[i].role].name);
		if (length < 0 || !model_own(m, name))
			return false;
		m->private_->processes[at[i].process].role = name;
	}
	return true;
}

bool process_roles_find(struct model *m, const struct load_job *job)
{
	struct member *members = calloc(job->files.n + 1, sizeof *members);
	size_t n = 0;
	for (uint32_t i = 0; members && i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		enum role role = role_by_functions(f);
		if (role == ROLE_NONE)
			role = role_by_command(f);
		if (role != ROLE_NONE)
			members[n++] = (struct member){.process = i,
						       .parent = f->header.parent_pid,
						       .pid = f->header.pid,
						       .role = (uint8_t)role,
						       .host = f->header.host_id};
	}
	if (n)
		qsort(members, n, sizeof *members, compare_members);
	const bool ok = members && name_members(m, members, n);
	free(members);
	return ok;
}
