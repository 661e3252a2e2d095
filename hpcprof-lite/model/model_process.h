/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the model: processes, their threads and queues, and the ledger. Include model.h. */
#ifndef HPCPROF_MODEL_MODEL_PROCESS_H
#define HPCPROF_MODEL_MODEL_PROCESS_H

#include "common/format/measurement_gpu.h"
#include "hpcprof-lite/model/model_gpu.h"
#include "hpcprof-lite/model/model_metric.h"

#include <stddef.h>

struct model_ledger {
	/* the file was still being written: the ledger holds for the moment of reading */
	bool is_live;
	uint64_t delivered;        /* samples delivered to our runtime */
	uint64_t recorded;         /* samples that our runtime says it put in its tree */
	uint64_t in_tree;          /* samples that the reader counted in the tree */
	uint64_t losses[MSR_LOSS_ROOM];
	uint64_t path_ends[MSR_N_PATH_ENDS];
	uint64_t n_marked; /* call paths with a guessed frame, as our runtime counted them */
	/*
	 * The samples in the tree by their call path, counted by the reader. Their sum is in_tree.
	 */
	uint64_t n_complete; /* reached the root of the thread without a guessed frame */
	uint64_t n_guessed;              /* reached the root, with a guessed frame */
	/* did not reach the root, by cause; [MSR_END_ROOT]: cause unknown */
	uint64_t n_cut[MSR_N_PATH_ENDS];
	uint64_t n_trace_records;
	uint64_t bytes_damaged;    /* bytes of the file that were skipped */
	uint64_t bytes_file;
	uint64_t handler_ns;
	uint64_t n_frames;
	/*
	 * Times of threads whose end is known, if OFFCPU was measured; else 0. elapsed_ns is the
	 * time in which the threads were measured, on_ns their CPU time by their clocks and off_ns
	 * their time off the processor. gap_ns is the sum over threads of |on_ns + off_ns -
	 * elapsed_ns|.
	 */
	uint64_t elapsed_ns, on_ns, off_ns, gap_ns;
	/*
	 * CPU time by the clocks of processes whose end is known; else all are 0. The samples of a
	 * short thread give its CPU time only on average.
	 */
	uint64_t cpu_clock_ns;
	uint64_t cpu_sampled_ns;   /* in samples of CPUTIME; this and the next two: of threads */
	uint64_t cpu_after_ns;     /* after the last sample of a thread */
	uint64_t cpu_unseen_ns;    /* passed without samples, although some were due */
	uint64_t cpu_edges_ns;     /* of threads, before and after they were measured */
	uint64_t cpu_strange_ns;   /* of threads whose start was not seen */
	uint64_t cpu_off_ns;       /* while measurement was off */
};

struct model_process {
	const struct model_gpu_ledger *gpu; /* n_gpu, by back end */
	uint32_t n_gpu;
	struct model_gpu_sampling gpu_sampling;
	const char *path;          /* of the measurement file */
	uint32_t owner;            /* user id of the owner of the measurement file */
	const char *host;
	uint64_t host_id;
	uint32_t pid;
	int32_t rank;              /* -1: none; different from the ranks of other jobs */
	uint32_t spawned_job;      /* started by MPI_Comm_spawn, from 1; 0: not spawned */
	int32_t job_rank;          /* in its own job */
	const char *job;           /* of a batch system, with the step: "4711.0"; "": none */
	const char *role;          /* "DataLoader worker 0"; NULL: none is known */
	uint32_t exec_seq;
	bool is_launched;          /* hpcrun-lite became this process, which has no rank */
	const char *executable;
	const char *called;        /* the first argument: "sh" of /usr/bin/dash; "": unknown */
	const char *processors;    /* that it was allowed to use: "0-3,8-8"; "": unknown */
	double quota;              /* CPU quota of its cgroup, in processors; 0: unknown */
	uint64_t quota_id;         /* identifies the cgroup with that quota on its host */
	/*
	 * how long the cgroup had been throttled at the start and at the end; equal: unknown, or
	 * never
	 */
	uint64_t throttled_start_ns, throttled_end_ns;
	struct msr_usage usage;    /* of the kernel's account; all 0: unknown, as when killed */
	const char *command;       /* arguments joined by blanks */
	const char *command_line;  /* the same, quoted for a shell */
	bool is_live;              /* the process was still running when its file was read */
	bool is_attached;          /* it ran before, unmeasured: hpcrun-lite --attach */
	bool is_copied;            /* the file is a copy made while it ran: the end is missing */
	bool is_blank;             /* the process ended before it wrote what it measures */
	uint32_t exit_kind;        /* enum msr_exit_kind */
	int32_t exit_code;
	/* CLOCK_REALTIME since the epoch; end_ns of a killed process: its last record */
	uint64_t start_ns, end_ns;
	/* the part of that time without measurement; in a part of the run: a lower bound */
	uint64_t off_ns;
	/* in a part by time or function: how many of its threads matter at one time in the run */
	uint32_t part_threads;
	uint64_t n_starts, n_stops;/* how often the program started and stopped measurement */
	struct model_ledger ledger;/* the process's own: losses outside threads, damage */
	const char *const *notes;  /* messages of our runtime to the user */
	uint32_t n_notes;
	const char *const *events; /* what the user asked for: "CPUTIME@f1000", "gpu=opencl" */
	uint32_t n_events;
};

/* Processes of one program that could not be measured. */
struct model_unmeasured {
	const char *path;          /* path of the program */
	const char *why;           /* "static executable" */
	bool is_starter;           /* `path` is the program that started the unmeasured one */
	uint64_t n;                /* number of processes; is_starter: 0, because it is unknown */
	uint64_t n_unknown;        /* those whose CPU time is unknown and in no sum */
	/* CPU time of the other processes and of the children that they waited for */
	uint64_t cpu_ns;
};

enum model_profile_kind {
	MODEL_PROFILE_THREAD,      /* a CPU thread */
	/*
	 * A GPU queue (stream): a time line without values. Its operations count in the threads
	 * that asked for them. If the thread is unknown, they count in the first thread of the
	 * process.
	 */
	MODEL_PROFILE_QUEUE
};

/* Whether a thread counts in the account of time; see view_is_used_thread(). */
enum model_counts {
	MODEL_COUNTS_UNKNOWN, /* follows from its values */
	MODEL_COUNTS_NOT,     /* a part by time or function: the whole thread does not count */
	MODEL_COUNTS
};

/*
 * The sample source of the CPU time of a thread. struct msr_source_use explains the numbers. All
 * are 0 if unknown.
 */
struct model_source_use {
	uint64_t event_ns, event_samples, event_switches, timer_ns, timer_samples, n_changes;
};

struct model_profile {
	uint8_t kind;              /* enum model_profile_kind */
	uint8_t counts;            /* enum model_counts */
	uint32_t queue;            /* QUEUE: index into gpu_queues; others: MODEL_NONE */
	/*
	 * QUEUE: operations that overlap (out-of-order queues) are in further lanes. Each lane is a
	 * profile.
	 */
	uint32_t lane;
	uint32_t process;
	uint32_t thread; /* number in its process, 0 is the main thread; QUEUE: MODEL_NONE */
	uint32_t tid;
	const char *name;          /* may be "" */
	uint64_t start_ns, end_ns; /* CLOCK_REALTIME */
	uint64_t cpu_ns; /* from the thread's CPU clock while measurement was on; 0 if unknown */
	struct model_source_use source_use;
	const struct model_ledger *ledger; /* NULL: another part of the job has it */
	const struct model_value *values; /* sorted by context, then metric */
	size_t n_values;
	uint64_t n_trace_records;  /* QUEUE: operations in the lane */
};

#endif
