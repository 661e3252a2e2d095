/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * melt, the mini-application that the demonstration measures: an aluminium block is heated from
 * below and by a moving torch and melts. Finite volumes, implicit steps, conjugate gradients with
 * multigrid, OpenMP threads, a thread that writes checkpoints, and in melt-mpi slabs over MPI
 * ranks. Cells that melt are dear and lie together at the bottom, so with the default schedule the
 * threads have unequal work; --schedule dynamic mends that. Its tests are tests/cli/e2e/miniapp.sh
 * and tests/cli/e2e/e2e_mpi.sh.
 */
#include "comm.h"
#include "simulation.h"

#include <getopt.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *file)
{
	fputs("usage: melt [options]\n"
	      "  --cells N            cells in each direction (64)\n"
	      "  --steps N            time steps (24)\n"
	      "  --dt SECONDS         length of a step (0.25)\n"
	      "  --threads N          threads of each rank (all processors)\n"
	      "  --schedule WHICH     static or dynamic: how melting cells are shared out "
	      "(static)\n"
	      "  --case WHICH         melting, or linear, which has a known solution (melting)\n"
	      "  --checkpoint PREFIX  write PREFIX.STEP.RANK\n"
	      "  --every N            a checkpoint each N steps (4)\n"
	      "  --restart PREFIX     start from PREFIX.RANK\n"
	      "  --help\n",
	      file);
}

static int positive(const char *text, const char *name)
{
	char *end;
	const long value = strtol(text, &end, 10);

	if (*text == 0 || *end != 0 || value < 1 || value > 4096) {
		fprintf(stderr, "melt: --%s: %s: not a number from 1 to 4096\n", name, text);
		exit(2);
	}
	return (int)value;
}

static double seconds(const char *text, const char *name)
{
	char *end;
	const double value = strtod(text, &end);

	if (*text == 0 || *end != 0 || !(value > 0 && value < 1e6)) {
		fprintf(stderr, "melt: --%s: %s: not a time\n", name, text);
		exit(2);
	}
	return value;
}

/* 1 when the text is the second word, 0 when it is the first. */
static int one_of(const char *text, const char *name, const char *first, const char *second)
{
	if (strcmp(text, second) == 0)
		return 1;
	if (strcmp(text, first) != 0) {
		fprintf(stderr, "melt: --%s: %s: neither %s nor %s\n", name, text, first, second);
		exit(2);
	}
	return 0;
}

static void parse(int argc, char **argv, struct simulation_options *options)
{
	static const struct option table[] = {
		{"cells", required_argument, NULL, 'n'},
		{"steps", required_argument, NULL, 's'},
		{"dt", required_argument, NULL, 'd'},
		{"threads", required_argument, NULL, 't'},
		{"schedule", required_argument, NULL, 'b'},
		{"case", required_argument, NULL, 'c'},
		{"checkpoint", required_argument, NULL, 'p'},
		{"every", required_argument, NULL, 'e'},
		{"restart", required_argument, NULL, 'r'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c, i = 0;

	while ((c = getopt_long(argc, argv, "", table, &i)) != -1) {
		switch (c) {
		case 'n': options->cells = positive(optarg, "cells"); break;
		case 's': options->steps = positive(optarg, "steps"); break;
		case 'd': options->dt_s = seconds(optarg, "dt"); break;
		case 't': omp_set_num_threads(positive(optarg, "threads")); break;
		case 'b':
			omp_set_schedule(one_of(optarg, "schedule", "static", "dynamic")
						 ? omp_sched_dynamic
						 : omp_sched_static,
					 0);
			break;
		case 'c': options->linear = one_of(optarg, "case", "melting", "linear"); break;
		case 'p': options->checkpoint = optarg; break;
		case 'e': options->checkpoint_every = positive(optarg, "every"); break;
		case 'r': options->restart = optarg; break;
		case 'h': usage(stdout); exit(0);
		default: usage(stderr); exit(2);
		}
	}
	if (optind != argc) {
		usage(stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct simulation_options options = {
		.cells = 64, .steps = 24, .dt_s = 0.25, .checkpoint_every = 4};
	int status;

	comm_start(&argc, &argv);
	omp_set_schedule(omp_sched_static, 0);
	parse(argc, argv, &options);
	status = simulation_run(&options);
	comm_finish(status);
	return status;
}
