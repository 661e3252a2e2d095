/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the sink cctdb; private to it. Each cctdb_write_* makes one file of the database in o->directory, logs what goes wrong and then leaves
 * no file of its own. Tests: tests/unit/test_sink_cctdb.c, tests/cli/sink_cctdb.sh.
 *
 * Context ids in all files are the ids of the model: the root is HPCToolkit's global context 0.
 */
#ifndef HPCPROF_LITE_SINK_CCTDB_CCTDB_H
#define HPCPROF_LITE_SINK_CCTDB_CCTDB_H

#include "hpcprof-lite/sink/sink.h"

/* Source files copied below src/: by file id the path relative to the database, or NULL where it was not copied. */
struct cctdb_sources {
	char **relative;
	uint32_t n;
};
enum status cctdb_copy_sources(const struct model *m, const struct sink_options *o, struct cctdb_sources *s);
void cctdb_sources_free(struct cctdb_sources *s);
/* `path` made relative to the root directory with "." and ".." taken out, below "src"; NULL when it is not absolute or memory is short. Owned by the caller. */
char *cctdb_source_path(const char *path);

enum status cctdb_write_meta(const struct model *m, const struct sink_options *o, const struct cctdb_sources *s);
enum status cctdb_write_profile(const struct model *m, const struct sink_options *o);
enum status cctdb_write_cct(const struct model *m, const struct sink_options *o);
enum status cctdb_write_trace(const struct model *m, const struct sink_options *o);
/* Makes metrics/ and default.yaml in it. */
enum status cctdb_write_yaml(const struct model *m, const struct sink_options *o);

/*
 * Identifiers of a profile: NODE, RANK and THREAD of a thread; NODE, RANK, GPUDEVICE, GPUCONTEXT and GPUSTREAM of a queue, as HPCToolkit has them. Readers tell profiles
 * apart by these alone, so they are made distinct: without MPI ranks and with several processes, RANK is the number of the process in the model; where several processes share a
 * node and a rank, their threads and GPU contexts are numbered through. Further lanes of a queue are numbered as streams behind the queues of the process.
 */
struct cctdb_identity {
	uint32_t node;    /* dense */
	uint64_t host_id;
	int64_t rank;     /* -1: none */
	bool is_queue;
	uint32_t thread;  /* of a thread */
	uint32_t device, context, stream; /* of a queue */
};
/* One for each profile of the model, owned by the caller; NULL (logged) when memory is short. */
struct cctdb_identity *cctdb_identities(const struct model *m);

#endif
