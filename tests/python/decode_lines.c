/* SPDX-License-Identifier: BSD-3-Clause */
/* Decodes line tables for tests/python/lines.py. Input, for each code object: "KIND FIRST-LINE
 * UNITS HEX"; output: a line with the line of each unit, 0 for none. */
#include "hpcprof-lite/load/python_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static size_t from_hex(const char *hex, uint8_t *bytes)
{
	size_t n = 0;
	for (unsigned byte; sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
		bytes[n] = (uint8_t)byte;
	return n;
}

int main(void)
{
	static uint8_t bytes[1 << 20];
	char *text = NULL;
	size_t room = 0;
	while (getline(&text, &room, stdin) > 0) {
		unsigned kind;
		uint32_t first, units, line;
		int at = 0;
		if (sscanf(text, "%u %" SCNu32 " %" SCNu32 " %n", &kind, &first, &units, &at) < 3 ||
		    room / 2 > sizeof bytes)
			return 1;
		size_t n = from_hex(text + at, bytes);
		for (uint32_t unit = 0; unit < units; unit++)
			printf("%" PRIu32 " ", python_line((enum msr_python_lines)kind, bytes, n,
							   first, unit, &line)
						       ? line
						       : 0);
		putchar('\n');
	}
	free(text);
	return 0;
}
