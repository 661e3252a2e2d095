/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the launcher passes the configuration to the run-time library: one environment variable,
 * which the library decodes into a constant struct. With one variable, the exec hooks have exactly
 * two entries to remove and restore: this one and LD_PRELOAD. It is one line:
 *
 *     HPCTOOLKIT_LITE=1;dir=/abs/dir;lib=/abs/libhpcrun-lite.so;trace=1;python=1;openmp=1;delay=0;
 *         say=1;rank=-1;size=-1;job=;pid=4711;execpid=4711;seq=0;start=<mono ns>;
 *         since=<real ns>;
 *         depth=8192;nodes=16777216;bytes=0;gpubytes=1073741824;
 *         local=/local/dir;leave=0;tool=/abs/hpcrun-lite;
 *         jobhost=<id>;jobid=<mono ns>;jobpid=4711;
 *         event=NAME,KIND,UNIT,PERFTYPE,PERFCONFIG,PERIOD,ASRATE,CPUSOURCE;event=...;
 *         gpu=NAME,OPTIONS,PRELOAD;gpu=...;mpi=1;nvtx=1;torch=1;check=1;
 *         attached=1
 *
 * The first field is the protocol version. In values, the bytes '%', ';', ',' and those below 0x20
 * or above 0x7e are written as %XX. Unknown keys are skipped. The launcher and the exec hooks call
 * config_encode. The run time calls config_decode once, at the start; it allocates nothing.
 *
 * The launcher puts `library` in front of the old value of LD_PRELOAD. The program must see
 * LD_PRELOAD without that entry, or unset if nothing is left. Test: tests/unit/run/test_config.c.
 */
#ifndef HPCRUN_LITE_CONFIG_CONFIG_H
#define HPCRUN_LITE_CONFIG_CONFIG_H

#include "common/format/measurement.h"
#include "hpcrun-lite/source/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_VARIABLE "HPCTOOLKIT_LITE"
#define CONFIG_LIBRARY "libhpcrun-lite.so" /* in <prefix>/lib/hpctoolkit-lite/ */
#define CONFIG_MODULE_HEAD "libhpcrun-lite-" /* + the name of a back end + ".so" is its module */
#define CONFIG_VERSION "1"
#define CONFIG_MAX_BYTES 16384
#define CONFIG_MAX_DEPTH 8192u      /* default limit on the frames of a call path */
#define CONFIG_MAX_NODES 16777216u  /* default limit on the context nodes of a thread */
/* Default limit on the records of GPU operations of a process. */
#define CONFIG_GPU_BYTES (UINT64_C(1) << 30)
#define CONFIG_MAX_GPUS 3u /* GPU back ends of a run; the two highest bits of an operation's id */

enum config_kind {
	CONFIG_CPUTIME = 1, /* CPU time of the thread */
	CONFIG_REALTIME = 2,
	/* perf_event_open(type, config), such as perf::PAGE-FAULTS; period in counts */
	CONFIG_PERF = 3,
	CONFIG_PAPI = 4,    /* through the loadable module beside the library; `name` is PAPI's */
	CONFIG_OFFCPU = 5,
	CONFIG_MEMORY = 6,  /* allocations, through a preloaded module; period in bytes */
	CONFIG_KIND_LAST = CONFIG_MEMORY
};

struct config_event {
	char name[64];        /* as shown to users: "CPUTIME", "perf::PAGE-FAULTS" */
	uint32_t kind;        /* enum config_kind */
	uint32_t unit;        /* enum msr_unit */
	uint32_t perf_type;   /* CONFIG_PERF */
	uint64_t perf_config;
	uint64_t period;      /* in units: ns for CPUTIME, REALTIME and OFFCPU, otherwise counts */
	bool as_rate;         /* given as @fN; only used in messages */
	uint32_t cpu_source;  /* CONFIG_CPUTIME: enum source_cpu */
};

/*
 * A GPU back end that the user asked for: "gpu=opencl,options". The back end gets its options
 * unchanged.
 */
struct config_gpu {
	char name[16];        /* "opencl"; letters, digits and '-' */
	char options[112];    /* the text after the first comma; "" if there is none */
	/* Its module is in LD_PRELOAD, right after `library` and in the same directory. */
	bool preload;
};

/*
 * The id if a process was spawned but only its launcher says so. The process that called is then
 * unknown, and the parent of the spawned process takes its place: it starts the processes of this
 * job on this host, and no others.
 */
#define CONFIG_JOB_UNKNOWN 1u
/*
 * Identifies a call of MPI_Comm_spawn and the job that it made: the process that called, and when,
 * in ns of CLOCK_MONOTONIC. All processes of the job have the same values, and no others have them.
 */
struct config_job {
	uint64_t host_id; /* as in the header of the measurement */
	uint64_t id;      /* 0: none; this process was not spawned */
	uint32_t pid;
};

/* hpcrun-lite CONFIG_COLLECT TARGET LOCAL [LEFT]: `tool`, see collect_process; not for users. */
#define CONFIG_COLLECT "--collect-process"

enum config_say { CONFIG_QUIET, CONFIG_NORMAL, CONFIG_VERBOSE };

struct config {
	char directory[4096];  /* absolute; exists */
	char cache[4096];      /* of structures, absolute; "": none, or no GPU is measured */
	char library[4096];    /* absolute path of the preloaded library, as in LD_PRELOAD */
	/*
	 * A directory of this node that holds the files until the process ends; "": none. It may
	 * not exist yet; its parent exists.
	 */
	char local[4096];
	uint64_t leave_bytes;  /* this much of the file system of `local` stays free */
	char tool[4096];       /* hpcrun-lite, which copies a file from there; "" without `local` */
	bool trace;
	bool python;           /* Python frames in call paths; the default */
	bool openmp;           /* parallel regions of OpenMP; the default */
	bool delay;            /* measurement is off until the program starts it */
	uint32_t say;          /* enum config_say */
	int32_t rank, n_ranks; /* -1: unknown to the launcher; see config_find_rank */
	char job[128];         /* "": none */
	struct config_job spawned; /* the job of this process */
	uint32_t root_pid; /* the process that the launcher became; it prints the final report */
	/*
	 * The pid of the process whose exec hook wrote this, else root_pid. If it equals getpid(),
	 * an exec of that process started this program.
	 */
	uint32_t exec_pid;
	/* sequence number of the program that starts now, if exec_pid == getpid() */
	uint32_t exec_seq;
	/* CLOCK_MONOTONIC of the first program of exec_pid; 0: unknown */
	uint64_t process_start_ns;
	uint64_t since_ns;     /* CLOCK_REALTIME when the launcher began; 0: unknown */
	uint64_t root_device, root_inode; /* the launcher's root directory; 0: unknown */
	uint32_t max_depth;    /* limit on the frames of a path */
	uint32_t max_nodes;    /* limit on the context nodes of a thread */
	uint64_t max_bytes;    /* limit on the size of a measurement file; 0: none */
	uint32_t n_events;
	struct config_event event[MSR_MAX_METRICS];
	/*
	 * Limit on the records of GPU operations of a process. After that they are summed up. 0:
	 * sum up from the start.
	 */
	uint64_t gpu_bytes;
	uint32_t n_gpus;                        /* an event, a GPU, `mpi` or `nvtx` must be set */
	struct config_gpu gpu[CONFIG_MAX_GPUS]; /* names are unique */
	bool mpi;              /* calls of MPI, through a preloaded module */
	bool check;            /* for tests: walk a remembered path again and compare */
	bool nvtx;             /* ranges of NVTX, which itself loads our library */
	bool torch;            /* PyTorch: names of modules, backward below the forward line */
	/*
	 * The process was running already: nothing of what it starts is measured, and measurement
	 * may end before it does.
	 */
	bool attached;
};

/* Finds a back end by name; NULL if the user did not ask for it. Signal-safe. */
const struct config_gpu *config_find_gpu(const struct config *c, const char *name);

/*
 * Makes the value of LD_PRELOAD: the library and the preloaded modules of back ends, separated by
 * ':', and then `others`, the old value (NULL: none). If AddressSanitizer's run time comes first in
 * the old value, it stays first, because otherwise it ends the program. Returns the length of the
 * whole text, even if `text` was too short and is cut. NUL-terminated if n_bytes > 0. No
 * allocation; signal-safe.
 */
size_t config_preload(const struct config *c, const char *others, char *text, size_t n_bytes);

/*
 * Sets everything to zero, except rank and n_ranks (-1), Python frames and OpenMP (on) and the
 * limits (defaults). Signal-safe.
 */
void config_defaults(struct config *c);

/*
 * Writes the value of CONFIG_VARIABLE, NUL-terminated. Returns its length, or 0 if `n_bytes` is too
 * small. No allocation; signal-safe.
 */
size_t config_encode(const struct config *c, char *text, size_t n_bytes);

/*
 * Returns false if the text is damaged or of another version; the process is then not measured. No
 * allocation; signal-safe.
 */
bool config_decode(const char *text, struct config *c);

/*
 * If c->rank is -1, finds rank and size, and whether the process was spawned, in the environment
 * that MPI launchers and process managers provide (PMIx, PMI, Open MPI, MPICH, Slurm, Flux, PALS).
 * A batch step that is not a parallel job (size 1, or a rank of several tasks without size) has
 * rank 0 only if its launcher says so. `env` is an array like environ, not NULL. Signal-safe.
 */
void config_find_rank(struct config *c, char *const *env);

#endif
