/* SPDX-License-Identifier: BSD-3-Clause */
/* See text_gpu.h. Test: tests/unit/sink/test_text_gpu.c. */
#include "hpcprof-lite/sink/text/text_gpu.h"

#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_style.h"
#include "hpcprof-lite/view/view_gpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *text_gpu_direction(enum msr_gpu_direction d)
{
	static const char *const names[MSR_N_GPU_DIRECTIONS] = {
		"unknown direction", "host to device",   "device to host", "on the device",
		"on the host",       "device to device", "mapped",         "unmapped",
		"migrated"};
	return (unsigned)d < MSR_N_GPU_DIRECTIONS ? names[d] : names[0];
}

/* "64", "16,16": without trailing dimensions of 1. */
static void put_sizes(char *to, size_t n_bytes, const uint64_t size[3])
{
	unsigned n = size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1;
	size_t at = strlen(to);
	for (unsigned i = 0; i < n && at < n_bytes; i++)
		at += (size_t)snprintf(to + at, n_bytes - at, i ? ",%" PRIu64 : "%" PRIu64,
				       size[i]);
}

void text_gpu_shape(char *to, size_t n_bytes, const struct model *m, uint32_t shape, bool more)
{
	to[0] = 0;
	if (shape >= m->n_gpu_shapes)
		return;
	const struct msr_gpu_shape *s = &m->gpu_shapes[shape];
	uint64_t grid[3], block[3];
	for (unsigned i = 0; i < 3; i++) {
		grid[i] = s->grid[i];
		block[i] = s->block[i];
	}
	if (!grid[0] && !s->global[0])
		return;
	put_sizes(to, n_bytes, grid[0] ? grid : s->global);
	if (grid[0]) {
		snprintf(to + strlen(to), n_bytes - strlen(to), " x ");
		if (block[0])
			put_sizes(to, n_bytes, block);
		else
			snprintf(to + strlen(to), n_bytes - strlen(to), "?");
	} else {
		snprintf(to + strlen(to), n_bytes - strlen(to), " items");
	}
	if (more)
		snprintf(to + strlen(to), n_bytes - strlen(to), " *");
}

void text_gpu_stalls(const struct model *m, uint32_t context, bool inclusive, char *to,
		     size_t n_bytes)
{
	struct view_gpu_stall top[2];
	unsigned n = view_gpu_stalls(m, context, inclusive ? MODEL_EXECUTION : MODEL_POINT, top);
	to[0] = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct model_metric *k = &m->metrics[top[i].metric];
		snprintf(to + strlen(to), n_bytes - strlen(to), "%s%s %.0f%%", i ? ", " : "",
			 k->role == MODEL_ROLE_ISSUED ? "issued" : k->reason,
			 100 * top[i].value / top[i].whole);
	}
	for (char *at = to; *at; at++)
		*at = *at == '_' ? ' ' : *at;
}

/* Cuts the end of the name and appends "..". */
static void cut(char *name, size_t room)
{
	size_t n = strlen(name);
	if (text_columns(name) <= room || n < 3)
		return;
	while (n > 2 && (text_columns(name) + 2 > room || ((unsigned char)name[n] & 0xc0) == 0x80))
		name[--n] = 0;
	strcpy(name + n, "..");
}

/* Where the function around a context was inlined: ", inlined at kernels.cu:39", or "". */
static void name_inlining(const struct model *m, uint32_t context, char *to, size_t n_bytes)
{
	char place[TEXT_FILE + 16];
	to[0] = 0;
	while (context != MODEL_NONE && m->contexts[context].kind != MODEL_CONTEXT_FUNCTION &&
	       m->contexts[context].kind != MODEL_CONTEXT_ENTRY)
		context = m->contexts[context].parent;
	if (context == MODEL_NONE || m->contexts[context].relation != MODEL_INLINED ||
	    m->contexts[context].parent == MODEL_NONE)
		return;
	text_place(place, sizeof place, m, &m->contexts[m->contexts[context].parent]);
	if (*place)
		snprintf(to, n_bytes, ", inlined at %s", place);
}

void text_gpu_line(const struct model *m, uint32_t context, size_t room, char *to, size_t n_bytes)
{
	const struct model_context *c = &m->contexts[context];
	char place[TEXT_FILE + 16] = "", function[TEXT_NAME] = "", inlining[TEXT_FILE + 32];
	if (c->function < m->n_functions)
		text_function_name(function, sizeof function, m, c->function);
	if (c->kind != MODEL_CONTEXT_LINE) {
		snprintf(to, n_bytes, "%s (no lines known)", *function ? function : "code");
		return;
	}
	text_place(place, sizeof place, m, c);
	name_inlining(m, context, inlining, sizeof inlining);
	size_t taken = text_columns(place) + text_columns(inlining) + 4;
	text_shorten(function, room > taken + 12 ? room - taken : 12);
	cut(function, room > taken + 12 ? room - taken : 12);
	snprintf(to, n_bytes, "%s%s%s%s", place, *function ? " in " : "", function, inlining);
}
