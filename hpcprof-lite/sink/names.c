/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as outputs show them; see names.h. Test: tests/unit/test_sink_names.c. */
#include "hpcprof-lite/sink/names.h"

#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 sequence at `s` (RFC 3629), 0 when there is none. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static uint32_t add_clean(struct strtab *t, const unsigned char *s)
{
	static const char replacement[] = "\xef\xbf\xbd";
	VEC(char) clean = {0};
	for (size_t n; *s; s += n ? n : 1) {
		n = utf8_length(s);
		size_t length = n ? n : sizeof replacement - 1;
		char *to = vec_extend(&clean, length);
		if (!to) {
			vec_free(&clean);
			return STRTAB_FAILED;
		}
		memcpy(to, n ? (const void *)s : replacement, length);
	}
	uint32_t id = strtab_add(t, clean.at, clean.n);
	vec_free(&clean);
	return id;
}

uint32_t names_add(struct strtab *t, const char *s)
{
	const unsigned char *p = (const unsigned char *)(s ? s : "");
	for (size_t n; *p; p += n)
		if (!(n = utf8_length(p)))
			return add_clean(t, (const unsigned char *)s);
	return strtab_add_z(t, s ? s : "");
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
	};
	switch (c->entry) {
	case MODEL_ENTRY_MAIN: return "main thread";
	case MODEL_ENTRY_THREAD: return "application thread";
	case MODEL_ENTRY_GPU_NO_PATH: return "GPU operations without a call path";
	case MODEL_ENTRY_GPU_NO_LAUNCH: return "GPU operations without a known launch";
	default: return partial[c->end < MSR_N_PATH_ENDS ? c->end : MSR_END_ROOT];
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
	if (metric->kind != MODEL_METRIC_GPU_MEAN)
		return strdup(metric->name);
	const char *unit = strstr(metric->name, " (");
	size_t length = strlen(metric->name), head = unit ? (size_t)(unit - metric->name) : length;
	char *name = malloc(length + sizeof mark);
	if (name) {
		memcpy(name, metric->name, head);
		memcpy(name + head, mark, sizeof mark - 1);
		memcpy(name + head + sizeof mark - 1, metric->name + head, length - head + 1);
	}
	return name;
}
