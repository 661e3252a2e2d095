/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The truth of the tests: a counter of its own, written with mpi.h against the profiling interface
 * of MPI. It is linked into the program or preloaded. At MPI_Finalize each rank writes COUNT.<rank>
 * with lines "function calls sent received ns". Bytes are what the arguments say. With SLOW=N each
 * N-th test takes 200 us.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64 };

static struct row {
	const char *name;
	_Atomic unsigned long long calls, sent, received, ns;
} rows[MOST];

static unsigned long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

static struct row *row_of(const char *name)
{
	static int lock;
	while (__sync_lock_test_and_set(&lock, 1))
		;
	int i = 0;
	while (i < MOST - 1 && rows[i].name && strcmp(rows[i].name, name) != 0)
		i++;
	rows[i].name = name;
	__sync_lock_release(&lock);
	return &rows[i];
}

static void count(const char *name, unsigned long long start, long long sent, long long received)
{
	struct row *r = row_of(name);
	r->ns += now() - start;
	r->calls++;
	r->sent += (unsigned long long)sent;
	r->received += (unsigned long long)received;
}

static long long bytes(long long n, MPI_Datatype t)
{
	int size = 0;
	if (n > 0)
		PMPI_Type_size(t, &size);
	return n > 0 ? n * size : 0;
}

static int size_of(MPI_Comm c)
{
	int n = 0;
	PMPI_Comm_size(c, &n);
	return n;
}

static int rank_of(MPI_Comm c)
{
	int n = 0;
	PMPI_Comm_rank(c, &n);
	return n;
}

static long long sum(const int *n, MPI_Comm c)
{
	long long all = 0;
	for (int i = 0; i < size_of(c); i++)
		all += n[i];
	return all;
}

#define TO(peer) ((peer) != MPI_PROC_NULL)
/* The call, then what it moved. */
#define COUNTED(name, call, sent, received)                      \
	{                                                        \
		unsigned long long start_ = now();               \
		int result_ = P##call;                           \
		count(#name, start_, (sent), (received));        \
		return result_;                                  \
	}

#define SEND(name)                                                                     \
	int name(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c)    \
	COUNTED(name, name(b, n, t, to, tag, c), TO(to) ? bytes(n, t) : 0, 0)
#define ISEND(name)                                                                    \
	int name(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c,    \
		 MPI_Request *q)                                                       \
	COUNTED(name, name(b, n, t, to, tag, c, q), TO(to) ? bytes(n, t) : 0, 0)

int MPI_Init(int *argc, char ***argv)
COUNTED(MPI_Init, MPI_Init(argc, argv), 0, 0)
int MPI_Init_thread(int *argc, char ***argv, int r, int *p)
COUNTED(MPI_Init_thread, MPI_Init_thread(argc, argv, r, p), 0, 0)
SEND(MPI_Send)
SEND(MPI_Ssend)
SEND(MPI_Bsend)
SEND(MPI_Rsend)
ISEND(MPI_Isend)
ISEND(MPI_Issend)
int MPI_Recv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s)
COUNTED(MPI_Recv, MPI_Recv(b, n, t, from, tag, c, s), 0, TO(from) ? bytes(n, t) : 0)
int MPI_Irecv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *q)
COUNTED(MPI_Irecv, MPI_Irecv(b, n, t, from, tag, c, q), 0, TO(from) ? bytes(n, t) : 0)
int MPI_Sendrecv(const void *b, int n, MPI_Datatype t, int to, int tag, void *rb, int rn,
		 MPI_Datatype rt, int from, int rtag, MPI_Comm c, MPI_Status *s)
COUNTED(MPI_Sendrecv, MPI_Sendrecv(b, n, t, to, tag, rb, rn, rt, from, rtag, c, s),
	TO(to) ? bytes(n, t) : 0, TO(from) ? bytes(rn, rt) : 0)
int MPI_Probe(int from, int tag, MPI_Comm c, MPI_Status *s)
COUNTED(MPI_Probe, MPI_Probe(from, tag, c, s), 0, 0)
int MPI_Iprobe(int from, int tag, MPI_Comm c, int *f, MPI_Status *s)
COUNTED(MPI_Iprobe, MPI_Iprobe(from, tag, c, f, s), 0, 0)
int MPI_Wait(MPI_Request *q, MPI_Status *s)
COUNTED(MPI_Wait, MPI_Wait(q, s), 0, 0)
int MPI_Waitall(int n, MPI_Request *q, MPI_Status *s)
COUNTED(MPI_Waitall, MPI_Waitall(n, q, s), 0, 0)
static void be_slow(void)
{
	static _Atomic unsigned n, every = ~0u;
	if (every == ~0u)
		every = getenv("SLOW") ? (unsigned)atoi(getenv("SLOW")) : 0;
	if (every && ++n % every == 0)
		for (unsigned long long end = now() + 200000; now() < end;)
			;
}
int MPI_Test(MPI_Request *q, int *f, MPI_Status *s)
COUNTED(MPI_Test, MPI_Test(q, f, s), (be_slow(), 0), 0)
int MPI_Start(MPI_Request *q)
COUNTED(MPI_Start, MPI_Start(q), 0, 0)
int MPI_Barrier(MPI_Comm c)
COUNTED(MPI_Barrier, MPI_Barrier(c), 0, 0)
int MPI_Ibarrier(MPI_Comm c, MPI_Request *q)
COUNTED(MPI_Ibarrier, MPI_Ibarrier(c, q), 0, 0)
int MPI_Bcast(void *b, int n, MPI_Datatype t, int root, MPI_Comm c)
COUNTED(MPI_Bcast, MPI_Bcast(b, n, t, root, c), rank_of(c) == root ? bytes(n, t) : 0,
	rank_of(c) == root ? 0 : bytes(n, t))
int MPI_Reduce(const void *b, void *rb, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c)
COUNTED(MPI_Reduce, MPI_Reduce(b, rb, n, t, o, root, c), bytes(n, t),
	rank_of(c) == root ? bytes(n, t) : 0)
int MPI_Allreduce(const void *b, void *rb, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
COUNTED(MPI_Allreduce, MPI_Allreduce(b, rb, n, t, o, c), bytes(n, t), bytes(n, t))
int MPI_Iallreduce(const void *b, void *rb, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c,
		   MPI_Request *q)
COUNTED(MPI_Iallreduce, MPI_Iallreduce(b, rb, n, t, o, c, q), bytes(n, t), bytes(n, t))
int MPI_Scan(const void *b, void *rb, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
COUNTED(MPI_Scan, MPI_Scan(b, rb, n, t, o, c), bytes(n, t), bytes(n, t))
int MPI_Gather(const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root,
	       MPI_Comm c)
COUNTED(MPI_Gather, MPI_Gather(b, n, t, rb, rn, rt, root, c),
	b == MPI_IN_PLACE ? 0 : bytes(n, t),
	rank_of(c) == root ? bytes((long long)rn * size_of(c), rt) : 0)
int MPI_Gatherv(const void *b, int n, MPI_Datatype t, void *rb, const int *rn, const int *d,
		MPI_Datatype rt, int root, MPI_Comm c)
COUNTED(MPI_Gatherv, MPI_Gatherv(b, n, t, rb, rn, d, rt, root, c), bytes(n, t),
	rank_of(c) == root ? bytes(sum(rn, c), rt) : 0)
int MPI_Scatter(const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt, int root,
		MPI_Comm c)
COUNTED(MPI_Scatter, MPI_Scatter(b, n, t, rb, rn, rt, root, c),
	rank_of(c) == root ? bytes((long long)n * size_of(c), t) : 0, bytes(rn, rt))
int MPI_Allgather(const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt,
		  MPI_Comm c)
COUNTED(MPI_Allgather, MPI_Allgather(b, n, t, rb, rn, rt, c),
	b == MPI_IN_PLACE ? 0 : bytes(n, t), bytes((long long)rn * size_of(c), rt))
int MPI_Alltoall(const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt,
		 MPI_Comm c)
COUNTED(MPI_Alltoall, MPI_Alltoall(b, n, t, rb, rn, rt, c),
	bytes((long long)n * size_of(c), t), bytes((long long)rn * size_of(c), rt))
int MPI_Alltoallv(const void *b, const int *n, const int *d, MPI_Datatype t, void *rb,
		  const int *rn, const int *rd, MPI_Datatype rt, MPI_Comm c)
COUNTED(MPI_Alltoallv, MPI_Alltoallv(b, n, d, t, rb, rn, rd, rt, c), bytes(sum(n, c), t),
	bytes(sum(rn, c), rt))
int MPI_Reduce_scatter(const void *b, void *rb, const int *n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
COUNTED(MPI_Reduce_scatter, MPI_Reduce_scatter(b, rb, n, t, o, c), bytes(sum(n, c), t),
	bytes(n[rank_of(c)], t))
int MPI_Comm_split(MPI_Comm c, int color, int key, MPI_Comm *n)
COUNTED(MPI_Comm_split, MPI_Comm_split(c, color, key, n), 0, 0)
int MPI_Comm_dup(MPI_Comm c, MPI_Comm *n)
COUNTED(MPI_Comm_dup, MPI_Comm_dup(c, n), 0, 0)
int MPI_Comm_free(MPI_Comm *c)
COUNTED(MPI_Comm_free, MPI_Comm_free(c), 0, 0)
int MPI_Put(const void *b, int n, MPI_Datatype t, int to, MPI_Aint d, int tn, MPI_Datatype tt,
	    MPI_Win w)
COUNTED(MPI_Put, MPI_Put(b, n, t, to, d, tn, tt, w), bytes(n, t), 0)
int MPI_Get(void *b, int n, MPI_Datatype t, int to, MPI_Aint d, int tn, MPI_Datatype tt,
	    MPI_Win w)
COUNTED(MPI_Get, MPI_Get(b, n, t, to, d, tn, tt, w), 0, bytes(n, t))
int MPI_Win_create(void *b, MPI_Aint n, int d, MPI_Info i, MPI_Comm c, MPI_Win *w)
COUNTED(MPI_Win_create, MPI_Win_create(b, n, d, i, c, w), 0, 0)
int MPI_Win_fence(int a, MPI_Win w)
COUNTED(MPI_Win_fence, MPI_Win_fence(a, w), 0, 0)
int MPI_Win_lock(int k, int r, int a, MPI_Win w)
COUNTED(MPI_Win_lock, MPI_Win_lock(k, r, a, w), 0, 0)
int MPI_Win_unlock(int r, MPI_Win w)
COUNTED(MPI_Win_unlock, MPI_Win_unlock(r, w), 0, 0)
int MPI_Win_free(MPI_Win *w)
COUNTED(MPI_Win_free, MPI_Win_free(w), 0, 0)
int MPI_File_open(MPI_Comm c, const char *p, int a, MPI_Info i, MPI_File *f)
COUNTED(MPI_File_open, MPI_File_open(c, p, a, i, f), 0, 0)
int MPI_File_write_at(MPI_File f, MPI_Offset o, const void *b, int n, MPI_Datatype t,
		      MPI_Status *s)
COUNTED(MPI_File_write_at, MPI_File_write_at(f, o, b, n, t, s), bytes(n, t), 0)
int MPI_File_read_at_all(MPI_File f, MPI_Offset o, void *b, int n, MPI_Datatype t, MPI_Status *s)
COUNTED(MPI_File_read_at_all, MPI_File_read_at_all(f, o, b, n, t, s), 0, bytes(n, t))
int MPI_File_close(MPI_File *f)
COUNTED(MPI_File_close, MPI_File_close(f), 0, 0)

int MPI_Finalize(void)
{
	char path[4096];
	int rank = rank_of(MPI_COMM_WORLD);
	unsigned long long start = now();
	int result = PMPI_Finalize();
	count("MPI_Finalize", start, 0, 0);
	const char *to = getenv("COUNT");
	snprintf(path, sizeof path, "%s.%d", to ? to : "/dev/null", rank);
	FILE *f = to ? fopen(path, "w") : NULL;
	for (int i = 0; f && i < MOST && rows[i].name; i++)
		fprintf(f, "%s %llu %llu %llu %llu\n", rows[i].name, rows[i].calls, rows[i].sent,
			rows[i].received, rows[i].ns);
	if (f)
		fclose(f);
	return result;
}
