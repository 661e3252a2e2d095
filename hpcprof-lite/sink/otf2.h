/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the sink otf2; private to it and the only place, with its three .c files, that knows libotf2. Tests: tests/unit/test_sink_otf2.c,
 * tests/cli/sink_otf2.sh.
 *
 * References: strings by the string table; regions, source code locations and calling contexts by struct otf2_tree; location groups are processes and
 * locations profiles of the model, by their index; interrupt generators are the metrics. All dense, so no mapping tables are needed.
 */
#ifndef HPCPROF_SINK_OTF2_H
#define HPCPROF_SINK_OTF2_H

#include "common/base/strtab.h"
#include "hpcprof-lite/sink/otf2_tree.h"
#include "hpcprof-lite/sink/progress.h"
#include "hpcprof-lite/sink/sink.h"

#include <otf2/otf2.h>

#include <pthread.h>
#include <stdatomic.h>

/* Metric classes: one for each metric of the model, holding a total of one calling context; then the ledger of a thread, and that of a process as an
 * abstract class with an instance for each process. */
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

/* The numbers of a ledger, in the order of the members of its classes. */
#define OTF2_LEDGER_MEMBERS (6 + MSR_N_LOSSES + MSR_N_PATH_ENDS - 1)
struct otf2_ledger_member {
	char name[48];
	char description[128];
	uint64_t value;
};
void otf2_ledger_members(const struct model_ledger *l, struct otf2_ledger_member members[OTF2_LEDGER_MEMBERS]);

#define OTF2_ATTRIBUTE_CONTEXT 0 /* attribute of the metric events of totals: the calling context they are of */

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

/* Writes the events of all locations, several at a time, and closes them. */
void otf2_write_events(struct otf2_writer *w);
/* Writes all definitions; after the events. */
void otf2_write_definitions(struct otf2_writer *w);

#endif
