/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink cctdb: HPCToolkit's database format 4.0, for hpcviewer and Hatchet. Runs the writers of the single files and takes all back when one
 * fails. Computes nothing. Tests: tests/unit/test_sink_cctdb.c, tests/cli/sink_cctdb.sh, tests/judge/read_cctdb.py.
 */
#include "hpcprof-lite/sink/cctdb.h"

#include "common/base/log.h"
#include "hpcprof-lite/sink/outfile.h"

#include <stdlib.h>
#include <unistd.h>

const char *const cctdb_scope_names[MODEL_N_SCOPES] = {
	[MODEL_POINT] = "point",
	[MODEL_FUNCTION] = "function",
	[MODEL_LEX_AWARE] = "lex_aware",
	[MODEL_EXECUTION] = "execution",
};
const char *const cctdb_formulas[CCTDB_N_PARTIALS] = {
	[CCTDB_SUM] = "$$",
	[CCTDB_COUNT] = "1",
	[CCTDB_SUM_OF_SQUARES] = "($$^2)",
	[CCTDB_MIN] = "$$",
	[CCTDB_MAX] = "$$",
};
const char *const cctdb_combines[CCTDB_N_PARTIALS] = {
	[CCTDB_SUM] = "sum",
	[CCTDB_COUNT] = "sum",
	[CCTDB_SUM_OF_SQUARES] = "sum",
	[CCTDB_MIN] = "min",
	[CCTDB_MAX] = "max",
};

struct cctdb_identity *cctdb_identities(const struct model *m)
{
	struct cctdb_identity *ids = calloc(m->n_profiles ? m->n_profiles : 1, sizeof *ids);
	if (!ids) {
		log_error(NULL, "out of memory");
		return NULL;
	}
	bool has_ranks = false;
	for (uint32_t i = 0; i < m->n_processes; i++)
		has_ranks |= m->processes[i].rank >= 0;
	/* Profiles come sorted by rank and host: equal (rank, node) are neighbours. Nodes are few: a linear search over those seen. */
	uint32_t n_nodes = 0, thread = 0;
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_process *process = &m->processes[m->profiles[i].process];
		struct cctdb_identity *id = &ids[i], *last = i ? &ids[i - 1] : NULL;
		id->host_id = process->host_id;
		id->rank = has_ranks ? process->rank : m->n_processes > 1 ? (int64_t)m->profiles[i].process : -1;
		id->node = n_nodes;
		if (last && last->host_id == id->host_id)
			id->node = last->node;
		else
			for (uint32_t j = 0; j < i; j++)
				if (ids[j].host_id == id->host_id) {
					id->node = ids[j].node;
					break;
				}
		if (id->node == n_nodes)
			n_nodes++;
		bool same_group = last && last->rank == id->rank && last->node == id->node;
		bool same_process = last && m->profiles[i - 1].process == m->profiles[i].process;
		thread = !same_group ? 0 : same_process ? thread : last->thread + 1; /* number of the process's thread 0 */
		id->thread = thread + m->profiles[i].thread;
	}
	return ids;
}

static const char *const made[] = {"meta.db", "profile.db", "cct.db", "trace.db"};

static void take_back(const char *directory, unsigned n_files, bool yaml, bool sources)
{
	for (unsigned i = 0; i < n_files; i++) {
		char *path = outfile_path(directory, made[i]);
		if (path)
			unlink(path);
		free(path);
	}
	static const char *const below[] = {"metrics", "src"};
	const bool remove[] = {yaml, sources};
	for (unsigned i = 0; i < 2; i++) {
		char *path = remove[i] ? outfile_path(directory, below[i]) : NULL;
		if (path)
			outdir_remove(path);
		free(path);
	}
}

static enum status write_database(const struct model *m, const struct sink_options *o)
{
	if (m->n_metrics > CCTDB_MAX_METRICS || m->n_profiles == UINT32_MAX) {
		log_error(o->directory, "more metrics or profiles than the format has numbers for");
		return STATUS_UNSUPPORTED;
	}
	struct cctdb_sources sources = {0};
	enum status status = cctdb_copy_sources(m, o, &sources);
	bool have_sources = status == STATUS_OK, have_yaml = false;
	unsigned n_files = 0;
	if (status == STATUS_OK)
		status = cctdb_write_meta(m, o, &sources);
	cctdb_sources_free(&sources);
	n_files += status == STATUS_OK;
	if (status == STATUS_OK)
		status = cctdb_write_yaml(m, o);
	have_yaml = status == STATUS_OK;
	enum status (*const rest[])(const struct model *, const struct sink_options *) = {cctdb_write_profile, cctdb_write_cct, cctdb_write_trace};
	for (unsigned i = 0; i < 3 && status == STATUS_OK; i++) {
		if (i == 2 && !m->has_traces)
			break;
		status = rest[i](m, o);
		n_files += status == STATUS_OK;
	}
	if (status != STATUS_OK)
		take_back(o->directory, n_files, have_yaml, have_sources);
	return status;
}

const struct sink_ops sink_cctdb = {
	.name = "cctdb",
	.what = "database for hpcviewer and Hatchet (HPCToolkit's format 4.0)",
	.write = write_database,
};
