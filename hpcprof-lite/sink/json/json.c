/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink json: profile.json, the whole model with its time lines, written piece by piece, and
 * advice about GPUs. Format: doc/formats/profile.schema.json. Tests:
 * tests/unit/sink/test_sink_json.c, tests/cli/sink/sink_json.sh.
 */
#include "config.h"

#include "hpcprof-lite/sink/json/json.h"

#include "common/base/log.h"
#include "hpcprof-lite/sink/json/json_sink.h"

#include <inttypes.h>
#include <stdio.h>

static void put_run(struct json *j, const struct model *m)
{
	char start[24];
	struct words_count counts[WORDS_COUNTS];
	snprintf(start, sizeof start, "%" PRIu64, m->start_ns);
	json_text(j, "format", "hpctoolkit-lite profile");
	json_u64(j, "version", 1);
	json_text(j, "generator", PACKAGE_NAME " " PACKAGE_VERSION);
	json_text(j, "title", m->title);
	if (m->part) {
		json_text(j, "part", m->part);
		json_begin(j, "part_notes", '[');
		for (uint32_t i = 0; i < m->n_part_notes; i++)
			json_text(j, NULL, m->part_notes[i]);
		json_end(j, ']');
	}
	json_text(j, "start_ns", start);
	json_time(j, "end_ns", m, m->end_ns);
	json_u64(j, "elapsed_ns", m->elapsed_ns);
	json_u64(j, "runs", m->n_runs);
	json_bool(j, "has_time_lines", m->has_traces);
	json_bool(j, "ledger_closes", m->ledger_closes);
	json_counts(j, "ledger", counts, words_ledger(&m->ledger, counts));
	json_begin(j, "unmeasured", '[');
	for (uint32_t i = 0; i < m->n_unmeasured; i++) {
		const struct model_unmeasured *u = &m->unmeasured[i];
		json_begin(j, NULL, '{');
		json_text(j, "path", u->path);
		json_text(j, "why", u->why);
		json_bool(j, "is_starter", u->is_starter);
		json_u64(j, "processes", u->n);
		json_u64(j, "processes_without_cpu_time", u->n_unknown);
		json_u64(j, "cpu_ns", u->cpu_ns);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static enum status write_json(const struct model *m, const struct sink_options *o)
{
	enum { BUFFER_BYTES = 1 << 20 };
	struct outfile file;
	struct json j = {.depth = 0};
	enum status status = outfile_create(&file, o->directory, "profile.json");
	if (status != STATUS_OK)
		return status;
	status = outstream_open(&j.out, &file, 0, BUFFER_BYTES);
	if (status != STATUS_OK) {
		outfile_abandon(&file);
		return status;
	}
	json_begin(&j, NULL, '{');
	put_run(&j, m);
	json_put_code(&j, m);
	json_put_gpu(&j, m);
	json_put_processes(&j, m);
	json_put_profiles(&j, m);
	json_put_nccl(&j, m);
	json_put_nvtx(&j, m);
	bool has_memory = json_put_advice(&j, m) && json_put_counters(&j, m);
	json_end(&j, '}');
	outstream_close(&j.out);
	if (has_memory)
		return outfile_close(&file);
	log_error(file.path, "out of memory");
	outfile_abandon(&file);
	return STATUS_NO_MEMORY;
}

const struct sink_ops sink_json = {
	.name = "json",
	.what = "everything as JSON, with a schema",
	.makes_files = true,
	.on_request = true,
	.write = write_json,
};
