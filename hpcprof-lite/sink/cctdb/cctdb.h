/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the sink cctdb; private to it. Each cctdb_write_* function makes one file of the
 * database in o->directory. On failure it logs and leaves no file. Tests:
 * tests/unit/sink/test_sink_cctdb.c, tests/cli/sink/sink_cctdb.sh.
 *
 * The plan says which contexts of the model are in the files, and their ids there. The root is
 * HPCToolkit's global context 0.
 */
#ifndef HPCPROF_LITE_SINK_CCTDB_CCTDB_H
#define HPCPROF_LITE_SINK_CCTDB_CCTDB_H

#include "hpcprof-lite/sink/cctdb/cctdb_plan.h"
#include "hpcprof-lite/sink/sink.h"

/*
 * Source files that were copied below src/. By file id: the path relative to the database, or NULL
 * if the file was not copied.
 */
struct cctdb_sources {
	char **relative;
	uint32_t n;
};
enum status cctdb_copy_sources(const struct model *m, const struct sink_options *o,
	struct cctdb_sources *s);
void cctdb_sources_free(struct cctdb_sources *s);

enum status cctdb_write_meta(const struct cctdb_plan *p, const struct sink_options *o,
			     const struct cctdb_sources *s);
enum status cctdb_write_profile(const struct cctdb_plan *p, const struct sink_options *o);
enum status cctdb_write_cct(const struct cctdb_plan *p, const struct sink_options *o);
enum status cctdb_write_trace(const struct cctdb_plan *p, const struct sink_options *o);
/* Makes metrics/ and default.yaml in it. */
enum status cctdb_write_yaml(const struct cctdb_plan *p, const struct sink_options *o);

/*
 * Identifiers of a profile, as in HPCToolkit. Threads have NODE, RANK and THREAD; queues have NODE,
 * RANK, GPUDEVICE, GPUCONTEXT and GPUSTREAM. Readers distinguish profiles only by these, so they
 * must be unique. With several processes and no MPI ranks, RANK is the number of the process in the
 * model. If several processes share a node and a rank, their threads and GPU contexts are numbered
 * consecutively. Further lanes of a queue get stream numbers after the queues of the process.
 */
struct cctdb_identity {
	uint32_t node;    /* dense */
	uint64_t host_id;
	int64_t rank;     /* -1: none */
	bool is_queue;
	uint32_t thread;  /* of a thread */
	uint32_t device, context, stream; /* of a queue */
};
/*
 * Returns one for each profile of the model, owned by the caller. NULL if memory is short (logged).
 */
struct cctdb_identity *cctdb_identities(const struct model *m);

#endif
