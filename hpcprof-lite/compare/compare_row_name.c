/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of rows for reports. Test: tests/unit/compare/test_compare.c. */
#include "hpcprof-lite/compare/compare_report.h"

#include "hpcprof-lite/compare/compare_names.h"
#include "hpcprof-lite/sink/text/text_print.h"

#include <stdio.h>
#include <string.h>

/* Code without a name gets the name of its module, so that modules differ. */
static void function_name(const struct compare *c, uint32_t function, char *to, size_t n_bytes)
{
	const struct compare_function *f = &c->functions.at[function];
	const char *name = compare_string(c, f->name), *module = compare_string(c, f->module);
	if (!compare_is_named_code(name) && module[0])
		snprintf(to, n_bytes, "%s [%s]", name, module);
	else
		snprintf(to, n_bytes, "%s", name);
}

static void node_name(const struct compare *c, uint32_t node, size_t columns, char *to,
		      size_t n_bytes)
{
	const struct compare_node *n = &c->nodes.at[node];
	uint32_t f = compare_function_of(c, node);
	if (f == MODEL_NONE) {
		snprintf(to, n_bytes, "%s",
			 n->kind == COMPARE_ENTRY ? compare_string(c, n->id) : "everything");
		return;
	}
	function_name(c, f, to, n_bytes);
	if (columns)
		text_shorten(to, columns);
}

/* Puts `name` and " > " in front of `to`. False if there is no room. */
static bool put_in_front(char *to, size_t n_bytes, size_t columns, const char *name)
{
	static const char between[] = " > ", before[] = ".. > ";
	size_t n_name = strlen(name), n = strlen(to), gap = n ? sizeof between - 1 : 0;
	if (n_name + gap + n + sizeof before > n_bytes ||
	    (columns && n && text_columns(name) + gap + text_columns(to) + sizeof before > columns))
		return false;
	memmove(to + n_name + gap, to, n + 1);
	memcpy(to, name, n_name);
	memcpy(to + n_name, between, gap);
	return true;
}

static void path_name(const struct compare *c, uint32_t node, size_t columns, char *to,
		      size_t n_bytes)
{
	enum { SHARE = 3 }; /* a name takes this part of the room, so that its callers fit */
	char name[TEXT_NAME];
	to[0] = 0;
	for (uint32_t at = node; at; at = c->nodes.at[at].parent) {
		if (c->nodes.at[at].kind == COMPARE_ENTRY && to[0])
			break; /* the entry says nothing new */
		node_name(c, at, columns / SHARE, name, sizeof name);
		if (put_in_front(to, n_bytes, columns, name)) {
			if (strcmp(name, "main") == 0)
				break; /* its callers are the same in every program */
			continue;
		}
		if (to[0])
			memmove(to + 5, to, strlen(to) + 1);
		else
			snprintf(to, n_bytes, "%s", name);
		if (at != node)
			memcpy(to, ".. > ", 5);
		break;
	}
	if (!to[0])
		snprintf(to, n_bytes, "everything");
}

void compare_row_name(const struct compare *c, enum compare_by by, uint32_t id, size_t columns,
		      char *to, size_t n_bytes)
{
	switch (by) {
	case COMPARE_BY_PATH: path_name(c, id, columns, to, n_bytes); break;
	case COMPARE_BY_RANK: snprintf(to, n_bytes, "rank %d", (int)c->ranks.at[id]); break;
	case COMPARE_BY_LINE: {
		const struct compare_line *l = &c->lines.at[id];
		snprintf(to, n_bytes, "%s:%u", compare_string(c, l->file), (unsigned)l->line);
		break;
	}
	default:
		function_name(c, id, to, n_bytes);
		if (columns)
			text_shorten(to, columns);
	}
}

void compare_row_place(const struct compare *c, enum compare_by by, uint32_t id, char *to,
		       size_t n_bytes)
{
	to[0] = 0;
	if (by == COMPARE_BY_LINE) {
		function_name(c, c->lines.at[id].function, to, n_bytes);
	} else if (by == COMPARE_BY_FUNCTION || by == COMPARE_BY_KERNEL) {
		const struct compare_function *f = &c->functions.at[id];
		if (f->line)
			snprintf(to, n_bytes, "%s:%u", compare_string(c, f->file),
				 (unsigned)f->line);
		else if (by == COMPARE_BY_FUNCTION)
			snprintf(to, n_bytes, "%s", compare_string(c, f->module));
	}
}
