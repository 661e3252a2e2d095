/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink cctdb: HPCToolkit's database format 4.0, for hpcviewer and Hatchet. Runs the writers of
 * the single files, and removes all files if one fails. Computes nothing. Tests:
 * tests/unit/sink/test_sink_cctdb.c, tests/cli/sink/sink_cctdb.sh, tests/judge/read_cctdb.py.
 */
#include "hpcprof-lite/sink/cctdb/cctdb.h"
#include "hpcprof-lite/sink/cctdb/cctdb_sink.h"

#include "common/base/log.h"
#include "hpcprof-lite/sink/cctdb/cctdb_share.h"
#include "hpcprof-lite/sink/cctdb/cctdb_statistics.h"
#include "hpcprof-lite/sink/outfile.h"

#include <stdlib.h>
#include <unistd.h>

/* True if something goes into trace.db. */
static bool has_traces(const struct model *m)
{
	bool has = m->has_traces;
	for (uint32_t i = 0; i < m->n_profiles && !has; i++)
		has = m->profiles[i].kind == MODEL_PROFILE_QUEUE && m->profiles[i].n_trace_records;
	return has;
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

/* What this process has put into the database. */
struct written {
	unsigned n_files;
	bool sources, yaml;
};

static enum status write_meta(const struct cctdb_plan *p, const struct sink_options *o,
			      struct written *w)
{
	struct cctdb_sources sources = {0};
	log_progress("sources and meta.db", 0, 0);
	enum status status = cctdb_copy_sources(p->m, o, &sources);
	w->sources = status == STATUS_OK;
	if (status == STATUS_OK)
		status = cctdb_write_meta(p, o, &sources);
	cctdb_sources_free(&sources);
	w->n_files += status == STATUS_OK;
	if (status == STATUS_OK)
		status = cctdb_write_yaml(p, o);
	w->yaml = status == STATUS_OK;
	log_progress(NULL, 0, 0);
	return status;
}

/* Writes all files, or removes them if one fails. */
static enum status write_files(const struct cctdb_plan *p, const struct sink_options *o)
{
	const struct model *m = p->m;
	struct written w = {0};
	enum status status = cctdb_is_first(m) ? write_meta(p, o, &w) : STATUS_OK;
	status = cctdb_agree(m, status);
	enum status (*const rest[])(const struct cctdb_plan *, const struct sink_options *) = {
		cctdb_write_profile, cctdb_write_cct, cctdb_write_trace};
	for (unsigned i = 0; i < 3 && status == STATUS_OK; i++) {
		if (i == 2 && !has_traces(m))
			break;
		status = rest[i](p, o);
		w.n_files += status == STATUS_OK;
	}
	if (status != STATUS_OK && cctdb_is_first(m))
		take_back(o->directory, w.n_files, w.yaml, w.sources);
	return status;
}

static enum status write_database(const struct model *m, const struct sink_options *o)
{
	struct cctdb_plan plan;
	if (m->n_metrics > CCTDB_MAX_METRICS || m->n_profiles == UINT32_MAX) {
		log_error(o->directory, "more metrics or profiles than the format has numbers for");
		return STATUS_UNSUPPORTED;
	}
	const bool has_plan = cctdb_plan_make(&plan, m);
	if (!has_plan)
		log_error(o->directory, "out of memory");
	enum status status = cctdb_agree(m, has_plan ? STATUS_OK : STATUS_NO_MEMORY);
	if (status == STATUS_OK)
		status = write_files(&plan, o);
	if (has_plan)
		cctdb_plan_free(&plan);
	return status;
}

const struct sink_ops sink_cctdb = {
	.name = "cctdb",
	.what = "database for hpcviewer and Hatchet",
	.makes_files = true,
	.is_shared = true,
	.write = write_database,
};
