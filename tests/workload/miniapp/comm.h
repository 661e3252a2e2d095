/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks tell each other. One implementation is built into each program: comm_serial.c (one
 * rank) or comm_mpi.c. Functions marked (team) are called by every thread of the OpenMP team; one
 * thread does the work and the others have its result when the call returns.
 */
#ifndef MELT_COMM_H
#define MELT_COMM_H

#include "grid.h"

/* Before anything else, outside a team. Ends the program when the launcher's environment is
 * unusable. */
void comm_start(int *argc, char ***argv);

/* After everything else, outside a team; status is what the program will return. */
void comm_finish(int status);

int comm_rank(void);
int comm_size(void);

/* (team) Fills the ghost planes of a field from the neighbouring ranks. Ghosts at the two ends of
 * the box are left alone. */
void comm_exchange(const struct grid *grid, double *field);

/* (team) plane[0 .. nz_global) holds this rank's planes on entry and those of all ranks on
 * return. */
void comm_gather_planes(const struct grid *grid, double *plane);

#endif
