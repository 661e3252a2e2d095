/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the sink otf2; private to it and the only place, with its eight .c files, that knows libotf2. Tests: tests/unit/test_sink_otf2.c,
 * tests/cli/sink_otf2.sh.
 *
 * References: strings by the string table; regions, source code locations and calling contexts by struct otf2_tree; location groups are processes by their index
 * and behind them the GPU contexts that have queues; locations are profiles of the model by their index; interrupt generators are the sampled metrics, which come
 * first among all. All dense, so no mapping tables are needed.
 */
#ifndef HPCPROF_LITE_SINK_OTF2_OTF2_H
#define HPCPROF_LITE_SINK_OTF2_OTF2_H

#include "common/base/strtab.h"
#include "hpcprof-lite/sink/otf2/otf2_tree.h"
#include "hpcprof-lite/sink/progress.h"
#include "hpcprof-lite/sink/sink.h"

#include <otf2/otf2.h>

#include "hpcprof-lite/sink/sampling_facts.h"

#include <pthread.h>
#include <stdatomic.h>

/* Metric classes: one for each metric of the model, holding a total of one calling context; then the ledger of a thread, and that of a process as an
 * abstract class with an instance for each process; then, where there are GPUs, that of a GPU back end with an instance for each back end of each process. */
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
/* Of the first back end of a process; the others follow. */
static inline OTF2_MetricRef otf2_instance_gpu_ledger(const struct model *m, uint32_t process)
{
	OTF2_MetricRef instance = otf2_class_gpu_ledger(m) + 1;
	for (uint32_t i = 0; i < process; i++)
		instance += m->processes[i].n_gpu;
	return instance;
}

/* The account of PC sampling: a class with an instance for each process, where there was any. */
static inline OTF2_MetricRef otf2_class_gpu_sampling(const struct model *m)
{
	return otf2_instance_gpu_ledger(m, m->n_processes);
}
static inline OTF2_MetricRef otf2_instance_gpu_sampling(const struct model *m, uint32_t process)
{
	return otf2_class_gpu_sampling(m) + 1 + process;
}

/*
 * The location that records what is of a process as a whole: its first; the first of all for a process
 * without any, which was killed before it had a thread. *next is 0 for process 0 and kept from one
 * process to the next: profiles are in the order of their processes.
 */
static inline OTF2_LocationRef otf2_recorder(const struct model *m, uint32_t process, uint32_t *next)
{
	while (*next < m->n_profiles && m->profiles[*next].process < process)
		++*next;
	return *next < m->n_profiles && m->profiles[*next].process == process ? *next : 0;
}

/* The numbers of a ledger, in the order of the members of its classes. */
#define OTF2_LEDGER_MEMBERS (8 + MSR_N_LOSSES + MSR_N_PATH_ENDS - 1)
#define OTF2_GPU_LEDGER_MEMBERS (11 + 3 * (MSR_N_GPU_KINDS - 1) + MSR_N_GPU_LOSSES - 1)
struct otf2_ledger_member {
	char name[48];
	char description[128];
	uint64_t value;
};
void otf2_ledger_members(const struct model_ledger *l, struct otf2_ledger_member members[OTF2_LEDGER_MEMBERS]);
void otf2_gpu_ledger_members(const struct model_gpu_ledger *l, struct otf2_ledger_member members[OTF2_GPU_LEDGER_MEMBERS]);
void otf2_gpu_sampling_members(const struct model_gpu_sampling *s, struct otf2_ledger_member members[SAMPLING_FACTS]);

/* Attributes: of the metric events of totals the calling context they are of; the others are of GPU operations. */
enum {
	OTF2_ATTRIBUTE_CONTEXT,
	OTF2_ATTRIBUTE_GRID_X, OTF2_ATTRIBUTE_GRID_Y, OTF2_ATTRIBUTE_GRID_Z,
	OTF2_ATTRIBUTE_BLOCK_X, OTF2_ATTRIBUTE_BLOCK_Y, OTF2_ATTRIBUTE_BLOCK_Z,
	OTF2_ATTRIBUTE_CLUSTER_X, OTF2_ATTRIBUTE_CLUSTER_Y, OTF2_ATTRIBUTE_CLUSTER_Z,
	OTF2_ATTRIBUTE_GLOBAL_X, OTF2_ATTRIBUTE_GLOBAL_Y, OTF2_ATTRIBUTE_GLOBAL_Z,
	OTF2_ATTRIBUTE_REGISTERS, OTF2_ATTRIBUTE_STATIC_SHARED, OTF2_ATTRIBUTE_DYNAMIC_SHARED, OTF2_ATTRIBUTE_LOCAL,
	OTF2_ATTRIBUTE_BYTES, OTF2_ATTRIBUTE_DIRECTION, OTF2_ATTRIBUTE_ID, OTF2_ATTRIBUTE_GRAPH_NODE,
	OTF2_ATTRIBUTE_ENQUEUED, OTF2_ATTRIBUTE_QUEUED, OTF2_ATTRIBUTE_SUBMITTED, OTF2_ATTRIBUTE_LAUNCHER,
	OTF2_N_ATTRIBUTES
};
/* Names of directions of copies are the strings from here on, as events are written before the string table. */
enum { OTF2_STRING_DIRECTION = 1 };

#define OTF2_MAX_LOCKS 8 /* the library (3.0) makes one for an archive */
struct OTF2_LockObject { /* the library's name for what its users define */
	pthread_mutex_t mutex;
};

struct otf2_writer {
	const struct model *m;
	const struct sink_options *o;
	bool enter_leave;
	struct otf2_tree tree;
	OTF2_Archive *archive;
	uint64_t *n_events;      /* by location, known when its events are written */
	uint32_t *gpu_groups;    /* by GPU context: its location group, MODEL_NONE where it has no queue that did anything */
	struct progress progress;
	char *path;              /* of the archive's directory */
	atomic_bool failed;      /* and logged */
	struct spare *spares;    /* buffer memory of writers that are closed */
	pthread_mutex_t spares_lock;
	struct OTF2_LockObject locks[OTF2_MAX_LOCKS];
	unsigned n_locks;
};

/* Counts a failure of the library; the first is logged as "path: what: cause". False unless `error` is OTF2_SUCCESS. */
bool otf2_check(struct otf2_writer *w, OTF2_ErrorCode error, const char *what);
/* For the library, which would print by itself; arg: the writer. It knows the cause better than those of its functions that only return "invalid data". */
__attribute__((format(printf, 6, 0)))
OTF2_ErrorCode otf2_on_error(void *arg, const char *file, uint64_t line, const char *function, OTF2_ErrorCode error, const char *format, va_list va);

/* The state of one location whose events are being written. */
struct otf2_line {
	struct otf2_writer *w;
	OTF2_EvtWriter *out;
	uint32_t node;     /* of the last event, MODEL_NONE before the first */
	bool off;          /* measurement was off since the last event */
	uint64_t time_ns;  /* of the last event */
	unsigned worker;
};
/* Operations of a queue. */
void otf2_write_operations(struct otf2_line *l, uint32_t profile);
/* One metric event with the members of a ledger. */
void otf2_put_ledger(struct otf2_line *l, OTF2_MetricRef metric, const struct otf2_ledger_member *members, uint8_t n);
/* The ledgers of the back ends of a process, and its account of PC samples. */
void otf2_put_gpu_ledgers(struct otf2_line *l, uint32_t process);

/* Writes the events of all locations, several at a time, and closes them. */
void otf2_write_events(struct otf2_writer *w);
/* Writes all definitions; after the events. */
void otf2_write_definitions(struct otf2_writer *w);

/* ---- definitions ------------------------------------------------------------------------------------------- */

/* All functions that define run twice, first only to collect the strings. */
struct otf2_defs {
	struct otf2_writer *w;
	OTF2_GlobalDefWriter *out; /* NULL: collect strings */
	struct strtab strings;
	bool no_memory;
};
OTF2_StringRef otf2_string(struct otf2_defs *d, const char *s);
void otf2_check_def(struct otf2_defs *d, OTF2_ErrorCode error);
void otf2_tree_node(struct otf2_defs *d, uint32_t self, const char *name, const char *class, uint32_t parent, OTF2_SystemTreeDomain domain);
/* Properties of a location. */
void otf2_location_number(struct otf2_defs *d, uint32_t profile, const char *name, uint64_t number);
void otf2_location_text(struct otf2_defs *d, uint32_t profile, const char *name, const char *text);
void otf2_member(struct otf2_defs *d, uint32_t self, const char *name, const char *description, OTF2_MetricType type, OTF2_MetricMode mode, OTF2_Type value, const char *unit);
/* "MPI Rank 3", "Process 1234". */
void otf2_process_name(const struct model_process *p, char *name, size_t n_bytes);

/* What GPUs need besides; nothing where there are none. Strings that events name by number come first of all. */
void otf2_gpu_strings(struct otf2_defs *d);
void otf2_gpu_attributes(struct otf2_defs *d);
/* Devices below the nodes of their hosts (host_of by process), from `first` on, and contexts as location groups. */
void otf2_gpu_system(struct otf2_defs *d, const uint32_t *host_of, uint32_t first);
void otf2_gpu_location(struct otf2_defs *d, uint32_t profile);
void otf2_gpu_ledgers(struct otf2_defs *d);
/* The role of a placeholder's region. */
OTF2_RegionRole otf2_gpu_role(enum msr_gpu_kind kind);
/* Numbers the location groups of GPU contexts; false when memory is short. */
bool otf2_gpu_number_groups(struct otf2_writer *w);

#endif
