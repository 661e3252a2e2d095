/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of MPI of every kind, many times. What they did is known from mpi_count.c. Usage:
 * mpi_mix ROUNDS [threads]. Prints a checksum.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };
static int rank, size;

struct buffers {
	int out[MOST], in[MOST];
};

static void ring(struct buffers *b, MPI_Comm c, int n, int tag)
{
	MPI_Request q[2];
	MPI_Status status[2];
	int next = (rank + 1) % size, last = (rank + size - 1) % size;
	MPI_Irecv(b->in, n, MPI_INT, last, tag, c, &q[0]);
	MPI_Isend(b->out, n, MPI_INT, next, tag, c, &q[1]);
	MPI_Waitall(2, q, status);
	MPI_Sendrecv(b->out, n, MPI_INT, next, tag, b->in, n, MPI_INT, last, tag, c,
		     MPI_STATUS_IGNORE);
	/* the ends of a line: nothing goes to MPI_PROC_NULL */
	int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank ? rank - 1 : MPI_PROC_NULL;
	if (rank % 2) {
		MPI_Recv(b->in, n, MPI_INT, down, tag, c, MPI_STATUS_IGNORE);
		MPI_Ssend(b->out, n, MPI_INT, up, tag, c);
	} else {
		MPI_Send(b->out, n, MPI_INT, up, tag, c);
		MPI_Recv(b->in, n, MPI_INT, down, tag, c, MPI_STATUS_IGNORE);
	}
}

static void collective(struct buffers *b, MPI_Comm c, int round)
{
	int n = 1 + round % 32, counts[64], places[64], root = round % size, me, all;
	MPI_Request q;
	MPI_Comm_rank(c, &me);
	MPI_Comm_size(c, &all);
	for (int i = 0; i < all; i++) {
		counts[i] = 1 + (i + round) % 3;
		places[i] = 4 * i;
	}
	MPI_Barrier(c);
	MPI_Bcast(b->out, n, MPI_DOUBLE, root % all, c);
	MPI_Reduce(b->out, b->in, n, MPI_INT, MPI_SUM, root % all, c);
	MPI_Allreduce(b->out, b->in, n, MPI_INT, MPI_MAX, c);
	MPI_Allreduce(MPI_IN_PLACE, b->in, n, MPI_INT, MPI_MAX, c);
	MPI_Scan(b->out, b->in, n, MPI_INT, MPI_MAX, c);
	MPI_Gather(b->out, n, MPI_INT, b->in, n, MPI_INT, root % all, c);
	if (me == root % all)
		MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b->in, n, MPI_INT, me, c);
	else
		MPI_Gather(b->out, n, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root % all, c);
	MPI_Gatherv(b->out, counts[me], MPI_INT, b->in, counts, places, MPI_INT, root % all, c);
	MPI_Scatter(b->out, n, MPI_INT, b->in, n, MPI_INT, root % all, c);
	MPI_Allgather(b->out, n, MPI_INT, b->in, n, MPI_INT, c);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b->in, n, MPI_INT, c);
	MPI_Alltoall(b->out, n, MPI_INT, b->in, n, MPI_INT, c);
	int to[64], from[64];
	for (int i = 0; i < all; i++) {
		to[i] = (me + i) % 4;
		from[i] = (i + me) % 4;
	}
	MPI_Alltoallv(b->out, to, places, MPI_INT, b->in, from, places, MPI_INT, c);
	MPI_Reduce_scatter(b->out, b->in, counts, MPI_INT, MPI_SUM, c);
	MPI_Iallreduce(b->out, b->in, n, MPI_INT, MPI_MAX, c, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Ibarrier(c, &q);
	for (int done = 0; !done;)
		MPI_Test(&q, &done, MPI_STATUS_IGNORE);
}

static void one_sided(struct buffers *b, int round)
{
	MPI_Win w;
	int next = (rank + 1) % size;
	MPI_Win_create(b->in, sizeof b->in, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Win_fence(0, w);
	MPI_Put(b->out, 16 + round % 4, MPI_INT, next, 0, 16 + round % 4, MPI_INT, w);
	MPI_Win_fence(0, w);
	MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w);
	MPI_Get(b->out, 8, MPI_INT, next, 64, 8, MPI_INT, w);
	MPI_Win_unlock(next, w);
	MPI_Win_free(&w);
}

static void file(struct buffers *b, const char *path, int round)
{
	MPI_File f;
	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	MPI_File_write_at(f, rank * 4096, b->out, 100 + round % 10, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_read_at_all(f, 0, b->in, 50, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_close(&f);
}

static void persistent(struct buffers *b)
{
	MPI_Request q[2];
	MPI_Status status[2];
	MPI_Send_init(b->out, 10, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD, &q[0]);
	MPI_Recv_init(b->in, 10, MPI_INT, (rank + size - 1) % size, 9, MPI_COMM_WORLD, &q[1]);
	for (int i = 0; i < 3; i++) {
		MPI_Start(&q[1]);
		MPI_Start(&q[0]);
		MPI_Waitall(2, q, status);
	}
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
}

static int n_rounds;

/* Each thread has a communicator of its own. */
static void *thread(void *arg)
{
	MPI_Comm *c = arg;
	struct buffers *b = calloc(1, sizeof *b);
	for (int i = 0; i < n_rounds; i++) {
		ring(b, *c, 1 + i % 64, i);
		MPI_Allreduce(MPI_IN_PLACE, b->in, 4, MPI_INT, MPI_SUM, *c);
	}
	free(b);
	return NULL;
}

static void with_threads(void)
{
	pthread_t t[3];
	MPI_Comm c[3];
	for (int i = 0; i < 3; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &c[i]);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread, &c[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 3; i++)
		MPI_Comm_free(&c[i]);
}

int main(int argc, char **argv)
{
	struct buffers *b = calloc(1, sizeof *b);
	int threads = argc > 2 && strcmp(argv[2], "threads") == 0, level = 0;
	const char *path = getenv("MIX_FILE");
	n_rounds = argc > 1 ? atoi(argv[1]) : 10;
	if (threads)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < MOST; i++)
		b->out[i] = i + rank;
	for (int i = 0; i < n_rounds; i++) {
		MPI_Comm half;
		ring(b, MPI_COMM_WORLD, 1 << i % 11, i);
		collective(b, MPI_COMM_WORLD, i);
		MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
		collective(b, half, i);
		MPI_Comm_free(&half);
		if (i < 10)
			one_sided(b, i);
		if (i < 10 && path)
			file(b, path, i);
	}
	persistent(b);
	if (threads && level == MPI_THREAD_MULTIPLE)
		with_threads();
	long long sum = 0, all = 0;
	for (int i = 0; i < MOST; i++)
		sum += b->in[i];
	MPI_Allreduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("checksum %lld\n", all);
	free(b);
	return MPI_Finalize();
}
