/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that several parts of the sink json write. Test: tests/cli/sink/sink_json.sh. */
#include "hpcprof-lite/sink/json/json.h"

#include <string.h>

void json_id(struct json *j, const char *key, uint32_t id)
{
	if (id == MODEL_NONE)
		json_null(j, key);
	else
		json_u64(j, key, id);
}

/* A damaged file may have a time before the start. */
void json_time(struct json *j, const char *key, const struct model *m, uint64_t ns)
{
	if (ns)
		json_i64(j, key, (int64_t)(ns - m->start_ns));
	else
		json_null(j, key);
}

void json_counts(struct json *j, const char *key, const struct words_count *counts, size_t n)
{
	if (!n) {
		json_null(j, key);
		return;
	}
	json_begin(j, key, '{');
	for (size_t i = 0; i < n; i++) {
		bool is_first = i == 0 || strcmp(counts[i - 1].group, counts[i].group) != 0;
		bool is_last = i + 1 == n || strcmp(counts[i + 1].group, counts[i].group) != 0;
		if (is_first)
			json_begin(j, counts[i].group, '{');
		json_u64(j, counts[i].name, counts[i].n);
		if (is_last)
			json_end(j, '}');
	}
	json_end(j, '}');
}
