/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink json: profile.json, the whole model with its time lines, written piece by piece, and
 * advice about GPUs. Format: doc/formats/profile.schema.json. Tests:
 * tests/unit/sink/test_sink_json.c, tests/cli/sink/sink_json.sh.
 */
#include "hpcprof-lite/sink/json/json.h"

#include "common/base/log.h"
#include "hpcprof-lite/sink/json/json_sink.h"

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
	bool has_memory = json_put_records(&j, m) && json_put_advice(&j, m) &&
			  json_put_counters(&j, m);
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
