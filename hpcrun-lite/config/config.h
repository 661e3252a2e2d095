/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the launcher tells the run-time library, as one environment variable, and what the library makes of it: a constant struct.
 * One variable, so that the exec hooks have exactly two entries to take out and put back: this one and LD_PRELOAD.
 *
 *     HPCTOOLKIT_LITE=1;dir=/abs/dir;lib=/abs/libhpcrun-lite.so;trace=1;python=1;delay=0;say=1;rank=-1;size=-1;job=;pid=4711;execpid=4711;seq=0;
 *         start=<mono ns>;depth=8192;nodes=16777216;bytes=0;gpubytes=1073741824;event=NAME,KIND,UNIT,PERFTYPE,PERFCONFIG,PERIOD,ASRATE,CPUSOURCE;event=...;
 *         gpu=NAME,OPTIONS,PRELOAD;gpu=...
 *
 * (on one line). The first field is the protocol version. Bytes '%', ';', ',' and those below 0x20 or above 0x7e are written
 * %XX inside values. Unknown keys are skipped. config_encode is for the launcher and the exec hooks; config_decode allocates
 * nothing and is called once at start-up. LD_PRELOAD: the launcher puts `library` in front of what was there; what the
 * program shall see is LD_PRELOAD without that entry (unset when nothing is left).
 * Test: tests/unit/test_config.c.
 */
#ifndef HPCRUN_LITE_CONFIG_CONFIG_H
#define HPCRUN_LITE_CONFIG_CONFIG_H

#include "common/format/measurement.h"
#include "hpcrun-lite/source/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_VARIABLE "HPCTOOLKIT_LITE"
#define CONFIG_LIBRARY "libhpcrun-lite.so" /* file name of the preloaded library, in <prefix>/lib/hpctoolkit-lite/ */
#define CONFIG_MODULE_HEAD "libhpcrun-lite-" /* then a back end's name and ".so": its module, beside the library */
#define CONFIG_VERSION "1"
#define CONFIG_MAX_BYTES 16384
#define CONFIG_MAX_DEPTH 8192u      /* default bound on the frames of a call path */
#define CONFIG_MAX_NODES 16777216u  /* default bound on the context nodes of a thread */
#define CONFIG_GPU_BYTES (UINT64_C(1) << 30) /* default bound on the records of GPU operations of a process */
#define CONFIG_MAX_GPUS 3u          /* GPU back ends of a run: the two highest bits of an operation's id tell which */

enum config_kind {
	CONFIG_CPUTIME = 1, /* CPU time of the thread */
	CONFIG_REALTIME = 2,
	CONFIG_PERF = 3,    /* perf_event_open(type, config): perf::PAGE-FAULTS and so on; period in counts */
	CONFIG_PAPI = 4     /* through the loadable module beside the library; `name` is PAPI's */
};

struct config_event {
	char name[64];        /* as it will be shown: "CPUTIME", "perf::PAGE-FAULTS" */
	uint32_t kind;        /* enum config_kind */
	uint32_t unit;        /* enum msr_unit */
	uint32_t perf_type;   /* CONFIG_PERF */
	uint64_t perf_config;
	uint64_t period;      /* in units: ns for CPUTIME and REALTIME, counts else */
	bool as_rate;         /* given as @fN: only for messages */
	uint32_t cpu_source;  /* CONFIG_CPUTIME: enum source_cpu */
};

/* A GPU back end that was asked for: "gpu=opencl,options". The back end gets its options as they stand. */
struct config_gpu {
	char name[16];        /* "opencl"; letters, digits and '-' */
	char options[112];    /* what stood behind the first comma; "" when nothing did */
	bool preload;         /* its module stands in LD_PRELOAD, directly behind `library` and in the same directory */
};

enum config_say { CONFIG_QUIET, CONFIG_NORMAL, CONFIG_VERBOSE };

struct config {
	char directory[4096];  /* absolute; exists */
	char library[4096];    /* absolute path of the preloaded library, as it stands in LD_PRELOAD */
	bool trace;
	bool python;           /* Python frames in call paths; the default */
	bool delay;            /* measurement is off until the program starts it */
	uint32_t say;          /* enum config_say */
	int32_t rank, n_ranks; /* -1: none known to the launcher; see config_find_rank */
	char job[128];         /* "" when there is none */
	uint32_t root_pid;     /* the process the launcher became; it prints the final report */
	uint32_t exec_pid;     /* pid that wrote this at its exec hook, else root_pid: equal to getpid() when we are an exec of it */
	uint32_t exec_seq;     /* sequence of the image that starts now, when exec_pid == getpid() */
	uint64_t process_start_ns; /* CLOCK_MONOTONIC of the first image of exec_pid; 0: not known */
	uint32_t max_depth;    /* bound on frames of a path */
	uint32_t max_nodes;    /* bound on context nodes of a thread */
	uint64_t max_bytes;    /* bound on the measurement file of a process; 0: none */
	uint32_t n_events;
	struct config_event event[MSR_MAX_METRICS];
	uint64_t gpu_bytes;    /* bound on the records of GPU operations of a process, beyond which they are summed up; 0: sum up from the start */
	uint32_t n_gpus;       /* events and GPUs together are at least one */
	struct config_gpu gpu[CONFIG_MAX_GPUS]; /* names differ */
};

/* The back end of that name among c->gpu; NULL when it was not asked for. Signal-safe. */
const struct config_gpu *config_find_gpu(const struct config *c, const char *name);

/*
 * What we put in front of LD_PRELOAD: the library, and behind it, separated by ':', the modules of back ends that are preloaded. Returns its length, also when it did not
 * fit (then `text` is cut); always NUL-terminated when n_bytes > 0. No allocation; signal-safe.
 */
size_t config_preload(const struct config *c, char *text, size_t n_bytes);

/* All zero, but rank and n_ranks -1, Python frames on and the bounds at their defaults. Signal-safe. */
void config_defaults(struct config *c);

/* Writes the value of CONFIG_VARIABLE, NUL-terminated; 0 when `n_bytes` is too small, else the length. No allocation; signal-safe. */
size_t config_encode(const struct config *c, char *text, size_t n_bytes);

/* False when it is damaged or of another version: the process then is not measured. No allocation; signal-safe. */
bool config_decode(const char *text, struct config *c);

/*
 * When c->rank is -1: takes rank and size from what MPI launchers and process managers leave in the environment (PMIx, PMI, Open MPI,
 * MPICH, Slurm, Flux, PALS). A batch step that is no parallel job (size 1 or rank without size of more than one task) has rank 0
 * only if its launcher says so. `env` is an environ array, not NULL. Signal-safe.
 */
void config_find_rank(struct config *c, char *const *env);

#endif
