/* SPDX-License-Identifier: BSD-3-Clause */
/* Command line of gen_job(), for shell tests and benchmarks: gen_measurement [options] DIR. */
#include "common/base/log.h"
#include "common/base/options.h"
#include "tests/gen/gen.h"

#include <stdlib.h>

static enum status set_u32(uint32_t *to, const char *value, long long low)
{
	long long n;
	if (!options_number(value, low, UINT32_MAX, &n))
		return options_refuse("not a number I can take: %s", value);
	*to = (uint32_t)n;
	return STATUS_OK;
}

static enum status set_processes(void *arg, const char *v)
{
	return set_u32(&((struct gen_job *)arg)->n_processes, v, 1);
}
static enum status set_threads(void *arg, const char *v)
{
	return set_u32(&((struct gen_job *)arg)->n_threads, v, 1);
}
static enum status set_nodes(void *arg, const char *v)
{
	return set_u32(&((struct gen_job *)arg)->n_nodes, v, 16);
}
static enum status set_samples(void *arg, const char *v)
{
	return set_u32(&((struct gen_job *)arg)->n_samples, v, 0);
}
static enum status set_functions(void *arg, const char *v)
{
	return set_u32(&((struct gen_job *)arg)->n_functions, v, 1);
}
static enum status set_common(void *arg, const char *v)
{
	struct gen_job *job = arg;
	enum status s = set_u32(&job->common_percent, v, 1);
	return s || job->common_percent <= 100 ? s : options_refuse("at most 100 percent");
}
static enum status set_metrics(void *arg, const char *v)
{
	struct gen_job *job = arg;
	enum status s = set_u32(&job->n_metrics, v, 0);
	return s || job->n_metrics <= 3 ? s : options_refuse("at most 3 metrics");
}
static enum status set_event(void *arg, const char *v)
{
	((struct gen_job *)arg)->event = v;
	return STATUS_OK;
}
static enum status set_gpu(void *arg, const char *v)
{
	return set_u32(&((struct gen_job *)arg)->n_gpu_ops, v, 0);
}
static enum status set_seed(void *arg, const char *v)
{
	uint32_t seed = 0;
	enum status s = set_u32(&seed, v, 0);
	if (s == STATUS_OK)
		((struct gen_job *)arg)->seed = seed;
	return s;
}
static enum status set_ranks(void *arg, const char *v)
{
	(void)v;
	((struct gen_job *)arg)->ranks = true;
	return STATUS_OK;
}
static enum status set_structs(void *arg, const char *v)
{
	(void)v;
	((struct gen_job *)arg)->structs = true;
	return STATUS_OK;
}
static enum status set_no_trace(void *arg, const char *v)
{
	(void)v;
	((struct gen_job *)arg)->no_trace = true;
	return STATUS_OK;
}
static enum status set_losses(void *arg, const char *v)
{
	(void)v;
	((struct gen_job *)arg)->losses = true;
	return STATUS_OK;
}
static enum status set_waits(void *arg, const char *v)
{
	(void)v;
	((struct gen_job *)arg)->waits = true;
	return STATUS_OK;
}
static enum status set_killed(void *arg, const char *v)
{
	(void)v;
	((struct gen_job *)arg)->killed = true;
	return STATUS_OK;
}

static const struct option_spec specs[] = {
	{'p', "processes", "N", "processes (1)", set_processes},
	{'t', "threads", "N", "threads of each process (1)", set_threads},
	{'n', "nodes", "N", "bound on context nodes of a thread (1000)", set_nodes},
	{'s', "samples", "N", "samples of each thread (1000)", set_samples},
	{'f', "functions", "N", "functions of the program (200)", set_functions},
	{'c', "common", "PERCENT", "of the tree of each thread, what all threads have (50)",
	 set_common},
	{'m', "metrics", "N", "metrics, 0 to 3 (1)", set_metrics},
	{'g', "gpu", "N", "GPU operations of each thread (0)", set_gpu},
	{'e', "event", "NAME", "what was asked for (CPUTIME@f1000)", set_event},
	{'S', "seed", "N", "seed of the random numbers (1)", set_seed},
	{'r', "ranks", NULL, "processes are MPI ranks", set_ranks},
	{'b', "structs", NULL, "with structure files", set_structs},
	{0, "no-trace", NULL, "no time lines", set_no_trace},
	{'l', "losses", NULL, "lose some samples, mark some frames, cut some paths", set_losses},
	{'w', "waits", NULL, "let some paths end in waits, some start without a region", set_waits},
	{'k', "killed", NULL, "end as by SIGKILL", set_killed},
	{0, NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv)
{
	static const struct option_table table = {
		"gen_measurement",
		"gen_measurement [options] DIR",
		"Writes a synthetic measurement directory; the same options give the same bytes.",
		specs,
		NULL,
		NULL};
	struct gen_job job = {.n_processes = 1,
			      .n_threads = 1,
			      .n_nodes = 1000,
			      .n_samples = 1000,
			      .n_metrics = 1,
			      .seed = 1};
	int first, done = 0;
	log_set_program("gen_measurement");
	enum status s = options_parse(&table, argc, argv, 0, &job, &first, &done);
	if (s || done)
		return status_exit_code(s);
	if (argc - first != 1)
		return status_exit_code(options_refuse("one directory is needed"));
	gen_job(argv[first], &job);
	return 0;
}
