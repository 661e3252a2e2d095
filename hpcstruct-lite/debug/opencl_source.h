/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenCL C source text -> the functions it defines, with the bytes and lines they take: for a GPU run time that gives a program's source and nothing else. A scanner of
 * tokens, not a parser: macros are not expanded, of #if/#else the first branch decides where braces stand, `#if 0` is left out. Memory is bounded by
 * the text, time is linear in it; safe on any bytes. Test: tests/unit/test_opencl_source.c, tests/fuzz/fuzz_source.c.
 */
#ifndef HPCSTRUCT_DEBUG_OPENCL_SOURCE_H
#define HPCSTRUCT_DEBUG_OPENCL_SOURCE_H

#include "hpcstruct-lite/debug/debug.h"
#include "hpcstruct-lite/image/image.h"

/* Offsets are bytes from the start of the text. */
struct source_function {
	uint32_t start, end;   /* from the first token of the definition to behind its last brace */
	uint32_t name, name_bytes;
	uint32_t file, line;   /* where the name stands */
};

/* The line that starts at an offset. */
struct source_line {
	uint32_t offset, file, line;
};

struct source_text {
	struct { struct source_function *at; size_t n, capacity; } functions; /* by rising end */
	struct { struct source_line *at; size_t n, capacity; } lines;         /* by rising offset; the first is at 0 */
	struct strtab files;   /* 0: the text itself, as `path` named it; others from #line */
};

/* Scans `n_bytes` of text, at most UINT32_MAX. False when memory is short; *text is to be freed in both cases. */
bool source_scan(const char *path, const uint8_t *bytes, size_t n_bytes, struct source_text *text);
void source_text_free(struct source_text *text);

/*
 * The same as a unit: link addresses are offsets in the text, rows cover the functions. `names` holds the strings of the definitions and outlives the unit. The file of the image is
 * known by its absolute path. STATUS_NO_MEMORY has not been logged.
 */
enum status source_read_unit(const struct image *image, struct debug_unit *unit, struct strtab *names);

#endif
