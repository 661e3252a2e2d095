/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run of the mini-application: sets up a case, marches it through time, prints a line a step,
 * verifies the result.
 */
#ifndef MELT_SIMULATION_H
#define MELT_SIMULATION_H

struct simulation_options {
	int cells;               /* in each direction, over all ranks */
	int steps;
	double dt_s;
	int linear;              /* the linear case with a known solution instead of melting */
	const char *checkpoint;  /* prefix of the files, or NULL */
	int checkpoint_every;    /* steps */
	const char *restart;     /* prefix.step of the files to start from, or NULL */
};

/* Runs it. 0 when the result verified, 1 when not or when something failed (which was said on the
 * error output). Every rank returns the same verdict on the physics. Outside a team; the team is
 * made here. */
int simulation_run(const struct simulation_options *options);

#endif
