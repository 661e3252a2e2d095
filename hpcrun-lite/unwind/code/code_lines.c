/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads code that may not be mapped; see code_lines.h. Must not fault or change errno. */
#include "hpcrun-lite/unwind/code/code_lines.h"

#include "common/safe/load.h"

#include <string.h>

/* Returns the line's bytes, read once per walk. NULL: unreadable. */
static const uint8_t *find_line(struct code *c, uint64_t at)
{
	const uint32_t n = c->n < CODE_LINES ? c->n : CODE_LINES;
	for (uint32_t i = 0; i < n; i++)
		if (c->at[i] == at)
			return c->bytes[i];
	const uint32_t i = c->n % CODE_LINES;
	c->n_guarded++;
	c->at[i] = 1; /* no valid line, in case the load fails */
	if (load_guarded(c->bytes[i], at, CODE_LINE_BYTES) != CODE_LINE_BYTES)
		return NULL;
	c->at[i] = at;
	c->n++;
	return c->bytes[i];
}

bool code_load(struct code *c, uint64_t address, void *dst, size_t n_bytes)
{
	uint8_t *to = dst;
	if (n_bytes > CODE_LINE_BYTES) {
		c->n_guarded++;
		return load_guarded(dst, address, n_bytes) == n_bytes;
	}
	while (n_bytes) {
		const size_t from = address % CODE_LINE_BYTES;
		const size_t n =
			n_bytes < CODE_LINE_BYTES - from ? n_bytes : CODE_LINE_BYTES - from;
		const uint8_t *line = find_line(c, address - from);
		if (!line)
			return false;
		memcpy(to, line + from, n);
		address += n;
		to += n;
		n_bytes -= n;
	}
	return true;
}
