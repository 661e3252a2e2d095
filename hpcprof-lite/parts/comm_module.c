/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loadable module that calls MPI: messages between ranks, and nothing else. Test:
 * tests/cli/parts/parts_ranks.sh.
 */
#include "hpcprof-lite/parts/comm_module.h"

#include <ctype.h>
#include <mpi.h>
#include <stdbool.h>
#include <time.h>

enum { TAG = 1, MOST = 1 << 30 }; /* bytes of a message: MPI counts in int */

/* The first line or clause: "Open MPI v4.1.4", "MPICH Version: 4.0.2". */
static void name_library(char *name, size_t bytes)
{
	char all[MPI_MAX_LIBRARY_VERSION_STRING];
	int n;
	size_t at = 0;
	MPI_Get_library_version(all, &n);
	for (int i = 0; i < n && all[i] != ',' && all[i] != '\n' && at + 1 < bytes; i++) {
		const bool is_blank = isspace((unsigned char)all[i]);
		if (!is_blank || (at && name[at - 1] != ' '))
			name[at++] = is_blank ? ' ' : all[i];
	}
	name[at] = 0;
}

static void begin(struct comm *c, char *library, size_t bytes)
{
	int provided;
	/* only the main thread sends messages; our other threads work meanwhile */
	MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &c->part);
	MPI_Comm_size(MPI_COMM_WORLD, &c->n_parts);
	name_library(library, bytes);
}

static void end(void)
{
	MPI_Finalize();
}

/*
 * MPI itself would spin and take the processor from ranks that work. Each pause is an eighth longer
 * than the one before, so a message waits for at most an eighth of the time that it took to come.
 */
static void wait_for(MPI_Request *requests, int n)
{
	enum { TRIES = 50, SHORTEST_NS = 20000, LONGEST_NS = 8000000 };
	struct timespec pause = {.tv_nsec = SHORTEST_NS};
	MPI_Status statuses[2]; /* MPICH 4.0.2 has no way to ignore them without a warning */
	int done = 0;
	for (unsigned i = 0; MPI_Testall(n, requests, &done, statuses), !done; i++) {
		if (i < TRIES)
			continue;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < LONGEST_NS)
			pause.tv_nsec += pause.tv_nsec / 8;
	}
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void swap(void *own, int to, const void *out, size_t n_out, int from, void *in, size_t n_in)
{
	(void)own;
	for (size_t at = 0; at < n_out || at < n_in; at += MOST) {
		MPI_Request requests[2];
		int n = 0;
		if (to != COMM_NOBODY && at < n_out)
			MPI_Isend((const char *)out + at, (int)least(n_out - at, MOST), MPI_BYTE,
				  to, TAG, MPI_COMM_WORLD, &requests[n++]);
		if (from != COMM_NOBODY && at < n_in)
			MPI_Irecv((char *)in + at, (int)least(n_in - at, MOST), MPI_BYTE, from, TAG,
				  MPI_COMM_WORLD, &requests[n++]);
		wait_for(requests, n);
	}
}

__attribute__((visibility("default"))) const struct comm_module hpcprof_lite_mpi = {
	sizeof(struct comm_module), begin, end, {swap}};
