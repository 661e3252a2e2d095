/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes valid measurement files from calls that say what was measured: an independent writer of
 * the format, for tests and benchmarks of the readers. Keeps a process in memory and writes it out
 * at once by gen_close(). Ends the program with a message when memory or disk are short: only tests
 * link it. Not for the measured process, which has its own writer (hpcrun-lite/store). Checked by
 * tests/unit/prof/test_load.c and by every test that reads what it writes.
 *
 *     struct gen *g = gen_open("DIR", &(struct gen_process){.host = "n1", .pid = 100, .rank = -1});
 *     uint16_t app = gen_module(g, "/bin/app", id, 20, MSR_MODULE_MAIN);
 *     uint32_t cpu = gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_PERF);
 *     uint32_t t = gen_thread(g, "app");
 *     uint32_t n = gen_child(g, t, gen_entry(g, t, MSR_ENTRY_MAIN), msr_addr_make(app, 0x1000,
 * false)); gen_sample(g, t, n, cpu, 5000000, 1000000); gen_close(g, MSR_EXIT_RETURN, 0);
 */
#ifndef TESTS_GEN_GEN_H
#define TESTS_GEN_GEN_H

#include "common/format/measurement.h"

struct gen;

struct gen_process {
	const char *host;        /* NULL: "node0" */
	uint32_t pid;
	int32_t rank;            /* -1: none; part of the file's name */
	int32_t n_ranks;
	uint32_t exec_seq;
	uint64_t start_mono_ns;  /* sample times are of this clock and not before it */
	uint64_t start_real_ns;
	bool no_trace;
	uint32_t
		extent_bytes; /* content of an extent of nodes, cells or trace records; 0: 64 KiB */
};

/* Makes `directory` when it is not there. The name of the file is the run time's:
 * [<rank>-]<host>-<pid>[.exec_seq].hpcrun */
struct gen *gen_open(const char *directory, const struct gen_process *p);
/* A record of the extents of kind INFO; "command" takes its arguments joined by blanks and stores
 * them joined by NUL. */
void gen_info(struct gen *g, const char *key, const char *value);
/* The process waited for a child; `status` as wait(2) gives it. */
void gen_wait(struct gen *g, uint32_t pid, int32_t status, uint64_t end_ns, uint64_t cpu_ns);
/* A record of parallel regions, which this thread forked. */
void gen_region(struct gen *g, uint32_t thread, const struct msr_omp_region *record);
/* Process `pid` went on as a program that cannot be measured. */
void gen_unmeasured(struct gen *g, uint32_t pid, uint32_t reason, const char *path,
	uint64_t start_ns, uint64_t cpu_before_ns);
/* The process spawned n processes of a program, in the call with this id. */
void gen_spawn(struct gen *g, uint64_t id, uint32_t n, uint32_t reason, const char *path);
/* What threads waited on; id from 1, unique in the process. */
void gen_wait_object(struct gen *g, uint32_t id, enum msr_wait_object_kind kind, msr_addr addr,
	const char *text);
/* A phase that the program marked. */
void gen_phase(struct gen *g, const struct msr_phase *record);
/* build_id may be NULL with 0 bytes. Returns the module id, from 1 up. */
uint16_t gen_module(struct gen *g, const char *path, const uint8_t *build_id,
		    uint32_t build_id_bytes, uint16_t flags);
uint32_t gen_metric(struct gen *g, const char *name, enum msr_unit unit, uint64_t period,
		    enum msr_source source);
/* Threads are numbered from 0. */
uint32_t gen_thread(struct gen *g, const char *name);

/* The entry node (enum msr_synthetic) of a thread; made when new. */
uint32_t gen_entry(struct gen *g, uint32_t thread, uint32_t synthetic);
/* The child of `parent` with this address; made when new. */
uint32_t gen_child(struct gen *g, uint32_t thread, uint32_t parent, msr_addr addr);
/* One sample, delivered and recorded: into the tree, and into the time line unless no_trace or
 * `time_ns` is 0. Times of a thread never decrease. */
void gen_sample(struct gen *g, uint32_t thread, uint32_t node, uint32_t metric, uint64_t time_ns,
		uint64_t weight);
/* n samples that weigh `weight` in all, without a time line. Counts of the thread wrap at 64
 * bits. */
void gen_weight(struct gen *g, uint32_t thread, uint32_t node, uint32_t metric, uint64_t n,
		uint64_t weight);
/* `n` samples that were delivered and lost (when the cause takes the sample), or `n` events of
 * another cause. */
void gen_loss(struct gen *g, uint32_t thread, enum msr_loss cause, uint64_t n);
void gen_process_loss(struct gen *g, enum msr_loss cause, uint64_t n);
/* Counts a sample as delivered and leaves it there, as a kill in the middle of a handler does. */
void gen_in_flight(struct gen *g, uint32_t thread);
/* The thread's own record, for what has no function here. */
struct msr_thread *gen_thread_record(struct gen *g, uint32_t thread);
struct msr_header *gen_header(struct gen *g);

/* Writes the file and frees g. exit_kind MSR_EXIT_NONE: as after SIGKILL, no end times. Returns the
 * path, owned by the caller (free). */
char *gen_close(struct gen *g, enum msr_exit_kind exit_kind, int32_t exit_code);

/*
 * A whole synthetic job, the same for the same parameters: `n_processes` x `n_threads`, each with
 * up to `n_nodes` context nodes of a program of `n_functions` functions, and `n_samples` samples.
 * Of each thread's tree `common_percent` is common to all threads. The program's modules are in
 * gen_program.h.
 */
struct gen_job {
	uint32_t n_processes, n_threads; /* threads of each process */
	uint32_t n_nodes;                /* bound on nodes of a thread, at least 16 */
	uint32_t n_samples;              /* of each thread */
	uint32_t n_metrics; /* 0 to 3: CPUTIME, REALTIME, PAPI_TOT_CYC; 0 with n_samples 0 alone */
	uint32_t n_gpu_ops;              /* GPU operations of each thread; see gen_gpu.h */
	uint32_t n_functions;            /* 0: 200 */
	const char *event;               /* as it was asked for; NULL: CPUTIME@f1000 */
	uint32_t common_percent;         /* 0: 50 */
	uint64_t seed;
	bool ranks;                      /* processes are ranks 0, 1, ... */
	bool structs;                    /* with structure files */
	bool no_trace;
	bool losses; /* some samples lost, some paths partial, some frames marked */
	/* some paths end in waits, some start outside of any parallel region; there are phases */
	bool waits;
	bool killed; /* every process ends as by SIGKILL with one sample in flight */
};
void gen_job(const char *directory, const struct gen_job *job);

#endif
