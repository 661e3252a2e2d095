/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the sink otf2; private to it. Only this header and its .c files use libotf2.
 * Tests: tests/unit/sink/test_sink_otf2.c, tests/cli/sink/sink_otf2.sh.
 *
 * References: strings are numbered by the string table. Regions, source code locations and calling
 * contexts are numbered by struct otf2_tree. Location groups are the processes by index, then the
 * GPU contexts with queues. Locations are the profiles of the model by index, then the tracks of
 * NVTX, then meters of energy. Interrupt generators are the sampled metrics, which come first among
 * all metrics. All are dense, so mapping tables are not needed.
 */
#ifndef HPCPROF_LITE_SINK_OTF2_OTF2_H
#define HPCPROF_LITE_SINK_OTF2_OTF2_H

#include "common/base/strtab.h"
#include "hpcprof-lite/sink/otf2/otf2_tree.h"
#include "hpcprof-lite/sink/progress.h"
#include "hpcprof-lite/sink/sink.h"

#include <otf2/otf2.h>

#include "hpcprof-lite/record/sampling_facts.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * Metric classes: first one for each metric of the model, with the total of one calling context.
 * Then the ledger of a thread. Then the ledger of a process, an abstract class with an instance for
 * each process. If there are GPUs, then the ledger of a GPU back end, with an instance for each
 * back end of each process, then the account of PC sampling, then the power of meters.
 */
static inline OTF2_MetricRef otf2_class_thread_ledger(const struct model *m)
{
	return m->n_metrics;
}
static inline OTF2_MetricRef otf2_class_process_ledger(const struct model *m)
{
	return m->n_metrics + 1;
}
static inline OTF2_MetricRef otf2_instance_process_ledger(const struct model *m, uint32_t process)
{
	return m->n_metrics + 2 + process;
}

static inline OTF2_MetricRef otf2_class_gpu_ledger(const struct model *m)
{
	return m->n_metrics + 2 + m->n_processes;
}
/* The instance of the first back end of a process; the others follow. */
static inline OTF2_MetricRef otf2_instance_gpu_ledger(const struct model *m, uint32_t process)
{
	OTF2_MetricRef instance = otf2_class_gpu_ledger(m) + 1;
	for (uint32_t i = 0; i < process; i++)
		instance += m->processes[i].n_gpu;
	return instance;
}

/* The account of PC sampling: if there was any, a class with an instance for each process. */
static inline OTF2_MetricRef otf2_class_gpu_sampling(const struct model *m)
{
	return otf2_instance_gpu_ledger(m, m->n_processes);
}
static inline OTF2_MetricRef otf2_instance_gpu_sampling(const struct model *m, uint32_t process)
{
	return otf2_class_gpu_sampling(m) + 1 + process;
}

/*
 * The location that records the data of a whole process: the first location of the process. A
 * process that was killed before it had a thread has no location; it uses the first of all. *next
 * is 0 for process 0. Keep it from one process to the next, because profiles are in the order of
 * their processes.
 */
static inline OTF2_LocationRef otf2_recorder(const struct model *m, uint32_t process,
	uint32_t *next)
{
	while (*next < m->n_profiles && m->profiles[*next].process < process)
		++*next;
	return *next < m->n_profiles && m->profiles[*next].process == process ? *next : 0;
}

/* The numbers of a ledger, in the order of the members of its classes. */
#define OTF2_LEDGER_MEMBERS (12 + MSR_N_LOSSES + MSR_N_PATH_ENDS - 1)
#define OTF2_GPU_LEDGER_MEMBERS (11 + 3 * (MSR_N_GPU_KINDS - 1) + MSR_N_GPU_LOSSES - 1)
struct otf2_ledger_member {
	char name[48];
	char description[128];
	uint64_t value;
};
void otf2_ledger_members(const struct model_ledger *l,
	struct otf2_ledger_member members[OTF2_LEDGER_MEMBERS]);
void otf2_gpu_ledger_members(const struct model_gpu_ledger *l,
	struct otf2_ledger_member members[OTF2_GPU_LEDGER_MEMBERS]);
void otf2_gpu_sampling_members(const struct model_gpu_sampling *s,
	struct otf2_ledger_member members[SAMPLING_FACTS]);

/*
 * Attributes. CONTEXT belongs to the metric events of totals and holds their calling context. The
 * others belong to GPU operations.
 */
enum {
	OTF2_ATTRIBUTE_CONTEXT,
	OTF2_ATTRIBUTE_GRID_X, OTF2_ATTRIBUTE_GRID_Y, OTF2_ATTRIBUTE_GRID_Z,
	OTF2_ATTRIBUTE_BLOCK_X, OTF2_ATTRIBUTE_BLOCK_Y, OTF2_ATTRIBUTE_BLOCK_Z,
	OTF2_ATTRIBUTE_CLUSTER_X, OTF2_ATTRIBUTE_CLUSTER_Y, OTF2_ATTRIBUTE_CLUSTER_Z,
	OTF2_ATTRIBUTE_GLOBAL_X, OTF2_ATTRIBUTE_GLOBAL_Y, OTF2_ATTRIBUTE_GLOBAL_Z,
	OTF2_ATTRIBUTE_REGISTERS, OTF2_ATTRIBUTE_STATIC_SHARED, OTF2_ATTRIBUTE_DYNAMIC_SHARED,
		OTF2_ATTRIBUTE_LOCAL,
	OTF2_ATTRIBUTE_BYTES, OTF2_ATTRIBUTE_DIRECTION, OTF2_ATTRIBUTE_ID,
		OTF2_ATTRIBUTE_GRAPH_NODE,
	OTF2_ATTRIBUTE_ENQUEUED, OTF2_ATTRIBUTE_QUEUED, OTF2_ATTRIBUTE_SUBMITTED,
		OTF2_ATTRIBUTE_LAUNCHER,
	OTF2_N_ATTRIBUTES
};
/*
 * The names of copy directions are the strings from this number on. Their numbers must be known
 * early, because events are written before the string table.
 */
enum { OTF2_STRING_DIRECTION = 1 };

#define OTF2_MAX_LOCKS 8 /* the library (3.0) makes one for each archive */
struct OTF2_LockObject { /* the library's name for a type that its users define */
	pthread_mutex_t mutex;
};

struct otf2_writer {
	const struct model *m;
	const struct sink_options *o;
	bool enter_leave;
	struct otf2_tree tree;
	OTF2_Archive *archive;
	uint64_t *n_events;      /* by location; known once its events are written */
	/* by GPU context: its location group; MODEL_NONE if none of its queues did anything */
	uint32_t *gpu_groups;
	struct progress progress;
	char *path;              /* directory of the archive */
	atomic_bool failed;      /* a failure was logged */
	/*
	 * A file could not be written. libotf2 3.0 then frees the buffer of the file, and to close
	 * the file it would write and free it again. So the archive is left open.
	 */
	atomic_bool is_unwritable;
	struct spare *spares;    /* buffer memory of closed writers */
	pthread_mutex_t spares_lock;
	struct OTF2_LockObject locks[OTF2_MAX_LOCKS];
	unsigned n_locks;
};

/*
 * Checks a result of the library. Logs the first failure as "path: what: cause". Returns true only
 * if `error` is OTF2_SUCCESS.
 */
bool otf2_check(struct otf2_writer *w, OTF2_ErrorCode error, const char *what);
/*
 * True once anything failed. Then no more events may be written: the library may have freed the
 * buffer of the file.
 */
static inline bool otf2_has_failed(struct otf2_writer *w)
{
	/* relaxed: what matters is the failure of the caller's own location */
	return atomic_load_explicit(&w->failed, memory_order_relaxed);
}
/*
 * Error callback, so that the library does not print by itself. arg: the writer. The library gives
 * it a more exact cause than its functions return, which may be only "invalid data".
 */
__attribute__((format(printf, 6, 0)))
OTF2_ErrorCode otf2_on_error(void *arg, const char *file, uint64_t line, const char *function,
	OTF2_ErrorCode error, const char *format, va_list va);

/* The state of a location while its events are written. */
struct otf2_line {
	struct otf2_writer *w;
	OTF2_EvtWriter *out;
	uint32_t node;     /* node of the last event; MODEL_NONE before the first */
	bool off;          /* measurement was off since the last event */
	uint64_t time_ns;  /* time of the last event */
	unsigned worker;
};
/* Writes the operations of a queue. */
void otf2_write_operations(struct otf2_line *l, uint32_t profile);
/* Writes one metric event with the members of a ledger. */
void otf2_put_ledger(struct otf2_line *l, OTF2_MetricRef metric,
	const struct otf2_ledger_member *members, uint8_t n);
/* Writes the ledgers of a process's back ends and its account of PC samples. */
void otf2_put_gpu_ledgers(struct otf2_line *l, uint32_t process);

/* Writes the ranges of a track of NVTX. */
void otf2_write_nvtx(struct otf2_line *l, uint32_t track);

/* Writes the events of all locations, several locations at a time, and closes them. */
void otf2_write_events(struct otf2_writer *w);
/* Writes all definitions. Call it after otf2_write_events(). */
void otf2_write_definitions(struct otf2_writer *w);

/* Writes the power of a meter of energy. */
void otf2_write_energy(struct otf2_line *l, uint32_t meter);

/* Profiles, then tracks of NVTX, then meters. */
static inline uint32_t otf2_n_locations(const struct model *m)
{
	return m->n_profiles + (m->nvtx ? m->nvtx->n_tracks : 0) + m->n_meters;
}

/* ---- definitions ---- */

/* Functions that make definitions run twice. The first run only collects the strings. */
struct otf2_defs {
	struct otf2_writer *w;
	OTF2_GlobalDefWriter *out; /* NULL: only collect strings */
	struct strtab strings;
	bool no_memory;
};
OTF2_StringRef otf2_string(struct otf2_defs *d, const char *s);
void otf2_check_def(struct otf2_defs *d, OTF2_ErrorCode error);
void otf2_tree_node(struct otf2_defs *d, uint32_t self, const char *name, const char *class,
	uint32_t parent, OTF2_SystemTreeDomain domain);
/* Properties of a location. */
void otf2_location_number(struct otf2_defs *d, uint32_t profile, const char *name, uint64_t number);
void otf2_location_text(struct otf2_defs *d, uint32_t profile, const char *name, const char *text);
void otf2_member(struct otf2_defs *d, uint32_t self, const char *name, const char *description,
	OTF2_MetricType type, OTF2_MetricMode mode, OTF2_Type value, const char *unit);
/* "MPI Rank 3" or "Process 1234". */
void otf2_process_name(const struct model_process *p, char *name, size_t n_bytes);

/*
 * Additional definitions for GPUs; they do nothing if there are none. Strings that events refer to
 * by number must come first.
 */
void otf2_gpu_strings(struct otf2_defs *d);
void otf2_gpu_attributes(struct otf2_defs *d);
/*
 * Devices from `first` on, below the nodes of their hosts (host_of, by process), and contexts as
 * location groups.
 */
void otf2_gpu_system(struct otf2_defs *d, const uint32_t *host_of, uint32_t first);
void otf2_gpu_location(struct otf2_defs *d, uint32_t profile);
void otf2_gpu_ledgers(struct otf2_defs *d);
/* The role of the region of a placeholder. */
OTF2_RegionRole otf2_gpu_role(enum msr_gpu_kind kind);
/* Definitions for NVTX; nothing without ranges. Regions follow those of the tree. */
void otf2_nvtx_clock(const struct model *m, uint64_t *first_ns, uint64_t *last_ns);
void otf2_nvtx_locations(struct otf2_defs *d);
void otf2_nvtx_regions(struct otf2_defs *d);
/* Definitions for meters of energy; nothing without them. */
void otf2_energy_clock(const struct model *m, uint64_t *first_ns, uint64_t *last_ns);
void otf2_energy_locations(struct otf2_defs *d);
void otf2_energy_metrics(struct otf2_defs *d);
/* Numbers the location groups of GPU contexts. False if memory is short. */
bool otf2_gpu_number_groups(struct otf2_writer *w);

#endif
