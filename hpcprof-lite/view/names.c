/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as outputs show them; see names.h. Test: tests/unit/sink/test_sink_names.c. */
#include "hpcprof-lite/view/names.h"

#include "common/safe/printable.h"

#include <stdlib.h>
#include <string.h>

char *names_clean(const char *s)
{
	static const char replacement[] = "\xef\xbf\xbd";
	enum { LONGEST = sizeof replacement - 1 }; /* in place of one byte */
	s = s ? s : "";
	char *clean = malloc(strlen(s) * LONGEST + 1), *to = clean;
	for (size_t n; clean && *s; s += n ? n : 1) {
		n = printable_utf8(s);
		memcpy(to, n ? s : replacement, n ? n : LONGEST);
		to += n ? n : LONGEST;
	}
	if (clean)
		*to = '\0';
	return clean;
}

uint32_t names_add(struct strtab *t, const char *s)
{
	const char *p = s ? s : "";
	size_t n = 1;
	for (; *p && n; p += n)
		n = printable_utf8(p);
	if (n)
		return strtab_add_z(t, s ? s : "");
	char *clean = names_clean(s);
	uint32_t id = clean ? strtab_add_z(t, clean) : STRTAB_FAILED;
	free(clean);
	return id;
}

const char *names_entry(const struct model_context *c)
{
	static const char *const partial[MSR_N_PATH_ENDS] = {
		[MSR_END_ROOT] = "partial call paths",
		[MSR_END_NO_CFI] = "partial call paths: no unwind information",
		[MSR_END_NO_MODULE] = "partial call paths: code outside every module",
		[MSR_END_UNREADABLE] = "partial call paths: unreadable stack",
		[MSR_END_BAD_CFI] = "partial call paths: damaged unwind information",
		[MSR_END_NO_PROGRESS] = "partial call paths: no progress",
		[MSR_END_TOO_DEEP] = "partial call paths: too deep",
		[MSR_END_THROWING] = "partial call paths: stack being rewritten by a throw",
		[MSR_END_GUESSED] = "partial call paths: root, by way of a guessed frame",
	};
	switch (c->entry) {
	case MODEL_ENTRY_MAIN: return "main thread";
	case MODEL_ENTRY_THREAD: return "application thread";
	case MODEL_ENTRY_GPU_NO_PATH: return "GPU operations without a call path";
	case MODEL_ENTRY_GPU_NO_LAUNCH: return "GPU operations without a known launch";
	case MODEL_ENTRY_OMP_IDLE: return "idle OpenMP threads: outside of any region";
	default:
		return c->end < MSR_N_PATH_ENDS ? partial[c->end]
						: "partial call paths: unknown cause";
	}
}

const char *names_function(const struct model *m, uint32_t function)
{
	const char *name = function < m->n_functions ? m->functions[function].name : NULL;
	return name && name[0] ? name : "<unknown function>";
}

const char *names_module(const struct model *m, uint32_t module)
{
	return module < m->n_modules ? m->modules[module].path : "<unknown module>";
}

char *names_metric(const struct model_metric *metric)
{
	static const char mark[] = "_ACUMU";
	char *own = names_clean(metric->name);
	if (!own || metric->kind != MODEL_METRIC_GPU_MEAN)
		return own;
	const size_t length = strlen(own), head = model_metric_stem(own, metric->unit);
	char *name = malloc(length + sizeof mark);
	if (name) {
		memcpy(name, own, head);
		memcpy(name + head, mark, sizeof mark - 1);
		memcpy(name + head + sizeof mark - 1, own + head, length - head + 1);
	}
	free(own);
	return name;
}
