/* SPDX-License-Identifier: BSD-3-Clause */
/* Command line of gen_job(), for shell tests and benchmarks: gen_measurement [options] DIR. */
#include "common/base/log.h"
#include "common/base/options.h"
#include "tests/gen/gen.h"

#include <stdlib.h>

static const struct option_spec specs[] = {
	{'p', "processes", "N", "processes (1)",
	 OPTION_NUMBER(struct gen_job, n_processes, 1, UINT32_MAX)},
	{'t', "threads", "N", "threads of each process (1)",
	 OPTION_NUMBER(struct gen_job, n_threads, 1, UINT32_MAX)},
	{'n', "nodes", "N", "bound on context nodes of a thread (1000)",
	 OPTION_NUMBER(struct gen_job, n_nodes, 16, UINT32_MAX)},
	{'s', "samples", "N", "samples of each thread (1000)",
	 OPTION_NUMBER(struct gen_job, n_samples, 0, UINT32_MAX)},
	{'f', "functions", "N", "functions of the program (200)",
	 OPTION_NUMBER(struct gen_job, n_functions, 1, UINT32_MAX)},
	{'c', "common", "PERCENT", "of the tree of each thread, what all threads have (50)",
	 OPTION_NUMBER(struct gen_job, common_percent, 1, 100)},
	{'m', "metrics", "N", "metrics, 0 to 3 (1)",
	 OPTION_NUMBER(struct gen_job, n_metrics, 0, 3)},
	{'g', "gpu", "N", "GPU operations of each thread (0)",
	 OPTION_NUMBER(struct gen_job, n_gpu_ops, 0, UINT32_MAX)},
	{'e', "event", "NAME", "what was asked for (CPUTIME@f1000)",
	 OPTION_TEXT(struct gen_job, event)},
	{'S', "seed", "N", "seed of the random numbers (1)",
	 OPTION_NUMBER(struct gen_job, seed, 0, UINT32_MAX)},
	{'r', "ranks", NULL, "processes are MPI ranks", OPTION_FLAG(struct gen_job, ranks, true)},
	{'b', "structs", NULL, "with structure files", OPTION_FLAG(struct gen_job, structs, true)},
	{0, "no-trace", NULL, "no time lines", OPTION_FLAG(struct gen_job, no_trace, true)},
	{'l', "losses", NULL, "lose some samples, mark some frames, cut some paths",
	 OPTION_FLAG(struct gen_job, losses, true)},
	{'w', "waits", NULL, "let some paths end in waits, some start without a region",
	 OPTION_FLAG(struct gen_job, waits, true)},
	{'k', "killed", NULL, "end as by SIGKILL", OPTION_FLAG(struct gen_job, killed, true)},
	{0, NULL, NULL, NULL, OPTION_CALL(NULL)},
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
