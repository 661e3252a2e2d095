/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units of metrics and their words, and what paths say; see model_metric.h and model.h. Test:
 * tests/unit/prof/test_model.c.
 */
#include "common/format/measurement.h"
#include "hpcprof-lite/model/model.h"

#include <stdio.h>
#include <string.h>

enum model_unit model_unit_of(unsigned recorded)
{
	switch (recorded) {
	case MSR_UNIT_NS: return MODEL_SECONDS;
	case MSR_UNIT_BYTES: return MODEL_BYTES;
	case MSR_UNIT_UJ: return MODEL_JOULES;
	default: return MODEL_COUNT;
	}
}

const char *model_unit_name(enum model_unit unit)
{
	static const char *const names[] = {
		[MODEL_COUNT] = "count",
		[MODEL_SECONDS] = "sec",
		[MODEL_BYTES] = "B",
		[MODEL_JOULES] = "J",
		[MODEL_PERCENT] = "%",
		[MODEL_SHARE] = "share",
		[MODEL_CYCLES] = "cycles",
		[MODEL_BYTES_PER_SECOND] = "B/s",
		[MODEL_BYTES_PER_CYCLE] = "B/cycle",
	};
	return names[unit];
}

double model_unit_scale(enum model_unit unit)
{
	return unit == MODEL_SECONDS ? 1e9 : unit == MODEL_JOULES ? 1e6 : 1;
}

size_t model_metric_stem(const char *name, enum model_unit unit)
{
	char end[16];
	const size_t n = strlen(name),
		     n_end = (size_t)snprintf(end, sizeof end, " (%s)", model_unit_name(unit));
	return n > n_end && strcmp(name + n - n_end, end) == 0 ? n - n_end : n;
}

const char *model_gpu_limit_name(enum model_gpu_limit limit)
{
	static const char *const names[MODEL_N_LIMITS] = {"threads", "blocks", "registers",
							  "shared memory"};
	return names[limit];
}

/* True for Python's own modules, as in "/lib/python3.12/", and for installed packages. */
static bool is_in_installation(const char *path)
{
	static const char lib[] = "/lib/python3";
	for (const char *at = path; (at = strstr(at, lib)); at++)
		if (at[sizeof lib - 1] == '/' || at[sizeof lib - 1] == '.')
			return true;
	return strstr(path, "/site-packages/") || strstr(path, "/dist-packages/");
}

bool model_is_python_library(const char *path)
{
	return path[0] == '<' || path[0] == '[' || is_in_installation(path);
}
