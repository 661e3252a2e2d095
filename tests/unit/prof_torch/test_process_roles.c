/* SPDX-License-Identifier: BSD-3-Clause */
/* What the processes of Python programs are for (process_roles.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hpcprof-lite/attribute/describe/process_roles.h"

static const struct msr_python_code record;

/* A process with up to three functions (file, name) on its call paths. */
struct process {
	const char *command;
	uint32_t pid, parent;
	const char *code[6];
	const char *role; /* expected; NULL: none */
};

static const char loader[] = "/venv/site-packages/torch/utils/data/_utils/worker.py",
		  bootstrap[] = "/usr/lib/python3.11/multiprocessing/process.py",
		  pool[] = "/usr/lib/python3.11/multiprocessing/pool.py";

static const struct process processes[] = {
	{"python3 train.py", 10, 1, {"/x/train.py", "main"}, NULL},
	/* of two parents, in the order of their ids, not of the files */
	{"python3 train.py",
	 13,
	 10,
	 {"/x/train.py", "main", bootstrap, "BaseProcess._bootstrap", loader, "_worker_loop"},
	 "DataLoader worker 1"},
	{"python3 train.py",
	 12,
	 10,
	 {loader, "_worker_loop", bootstrap, "_bootstrap"},
	 "DataLoader worker 0"},
	{"python3 train.py",
	 21,
	 20,
	 {loader, "_worker_loop", bootstrap, "_bootstrap"},
	 "DataLoader worker 0"},
	/* a ThreadPool: threads of the program run the function of Pool's processes */
	{"python3 train.py", 22, 20, {"/x/train.py", "main", pool, "worker"}, NULL},
	{"python3 -c from multiprocessing.spawn import spawn_main; spawn_main(5, 7)",
	 14,
	 10,
	 {bootstrap, "BaseProcess._bootstrap"},
	 "worker process 0"},
	/* too short for a sample in its function */
	{"python3 -c from multiprocessing.spawn import spawn_main; spawn_main(5, 9)",
	 15,
	 10,
	 {NULL},
	 "worker process 1"},
	{"python3 -c from multiprocessing.resource_tracker import main;main(4)",
	 16,
	 10,
	 {NULL},
	 "resource tracker"},
	{"python3 -c from multiprocessing.forkserver import main; main(5, 6)",
	 17,
	 10,
	 {"/usr/lib/python3.11/multiprocessing/forkserver.py", "main"},
	 "fork server"},
	/* its child has its command */
	{"python3 -c from multiprocessing.forkserver import main; main(5, 6)",
	 18,
	 17,
	 {bootstrap, "BaseProcess._bootstrap", pool, "worker"},
	 "pool worker 0"},
	{"python3 /venv/bin/torchrun --nproc 2 train.py", 30, 1, {NULL}, "torchrun agent"},
	{"/usr/bin/python3 -m torch.distributed.run --nproc 2 train.py",
	 31,
	 1,
	 {NULL},
	 "torchrun agent"},
	{"python3 -m torch.distributed.launch --nproc 2 train.py", 32, 1, {NULL}, "torchrun agent"},
	{"python3 /v/bin/accelerate launch train.py", 33, 1, {NULL}, "accelerate launcher"},
	{"python3 /v/bin/deepspeed train.py", 34, 1, {NULL}, "DeepSpeed launcher"},
	{"python3 -u -m deepspeed.launcher.launch --world_info=e30= train.py",
	 35,
	 34,
	 {NULL},
	 "DeepSpeed launcher"},
	{"python3 /v/ray/_private/workers/default_worker.py --node=1", 40, 1, {NULL},
	 "Ray worker 0"},
	/* functions and programs with such names elsewhere */
	{"python3 worker.py", 50, 1, {"/home/me/worker.py", "_worker_loop", pool, "worker2"}, NULL},
	{"", 51, 1, {NULL}, NULL},
};
enum { N = sizeof processes / sizeof *processes };

static void add_code(struct load_file *f, const char *file, const char *name)
{
	struct load_python *code = vec_push(&f->python);
	assert_non_null(code);
	*code = (struct load_python){.record = file ? &record : NULL, .file = file, .name = name};
}

static void add_file(struct load_job *job, const struct process *p)
{
	struct load_file *f = vec_push(&job->files);
	assert_non_null(f);
	*f = (struct load_file){.command = (char *)p->command,
				.header = {.pid = p->pid, .parent_pid = p->parent}};
	add_code(f, NULL, NULL); /* id 0 */
	for (unsigned i = 0; i < 6 && p->code[i]; i += 2)
		add_code(f, p->code[i], p->code[i + 1]);
}

static void find(struct load_job *job, struct model_process *out, const struct process *in,
		 size_t n)
{
	struct model_private private_ = {.processes = out};
	struct model m = {.private_ = &private_};
	for (size_t i = 0; i < n; i++)
		add_file(job, &in[i]);
	assert_true(process_roles_find(&m, job));
	for (size_t i = 0; i < n; i++) {
		const char *role = out[i].role ? out[i].role : "none",
			   *expected = in[i].role ? in[i].role : "none";
		if (strcmp(role, expected) != 0)
			fail_msg("%u is %s, not %s", (unsigned)in[i].pid, role, expected);
	}
	for (size_t i = 0; i < job->files.n; i++)
		vec_free(&job->files.at[i].python);
	vec_free(&job->files);
	for (size_t i = 0; i < private_.owned.n; i++)
		free(private_.owned.at[i]);
	vec_free(&private_.owned);
}

static void roles(void **state)
{
	struct load_job job = {0};
	struct model_process out[N] = {{0}};
	(void)state;
	find(&job, out, processes, N);
}

static void no_process(void **state)
{
	struct load_job job = {0};
	struct model_process out[1] = {{0}};
	(void)state;
	find(&job, out, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roles),
		cmocka_unit_test(no_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
