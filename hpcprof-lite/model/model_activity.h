/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread did in a context: it worked, or it waited, and for what. The activity of a context
 * follows from the names of its call path and from its waits. Include model.h.
 */
#ifndef HPCPROF_MODEL_MODEL_ACTIVITY_H
#define HPCPROF_MODEL_MODEL_ACTIVITY_H

enum model_activity {
	MODEL_WORK,
	MODEL_OMP_BARRIER,   /* waits for the others of the team, also at the end of a region */
	MODEL_OMP_LOCK,      /* waits for a lock or critical section */
	MODEL_OMP_ORDERED,   /* waits for its turn in an ordered construct */
	MODEL_OMP_TASKWAIT,  /* waits for tasks */
	MODEL_OMP_OVERHEAD,  /* in the OpenMP runtime, but not waiting */
	MODEL_OMP_IDLE,      /* a worker outside of any region */
	MODEL_MPI_P2P,       /* in point-to-point calls of MPI, and their waits and tests */
	MODEL_MPI_COLLECTIVE,
	MODEL_MPI_ONE_SIDED,
	MODEL_MPI_IO,
	MODEL_MPI_OTHER,     /* set-up and other calls */
	/* in collective operations of PyTorch, until other ranks come; also their own threads */
	MODEL_TORCH_COLLECTIVE,
	MODEL_GPU_WAIT,      /* in a call that waits for a GPU */
	MODEL_BLOCKED_LOCK,  /* not running: a futex */
	MODEL_BLOCKED_THREAD, /* not running: a condition variable, semaphore or join */
	MODEL_BLOCKED_IO,    /* not running: file, socket, pipe, message queue, device, disk */
	MODEL_BLOCKED_POLL,
	MODEL_BLOCKED_SLEEP,
	MODEL_BLOCKED_OTHER, /* not running: a child, a signal, another system call */
	MODEL_NO_CPU,        /* not running: ready, but other threads had the processors */
	MODEL_N_ACTIVITIES
};

#endif
