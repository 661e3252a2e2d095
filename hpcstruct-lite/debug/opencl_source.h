/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the functions that OpenCL C source text defines, with their bytes and lines. Some GPU run
 * times provide only the source of a program. This is a scanner of tokens, not a parser. It does
 * not expand macros, it uses the braces of the first branch of #if/#else, and it skips `#if 0`.
 * Memory is bounded by the text, and time is linear in it. Any bytes are safe. Tests:
 * tests/unit/struct/test_opencl_source.c, tests/fuzz/fuzz_source.c.
 */
#ifndef HPCSTRUCT_DEBUG_OPENCL_SOURCE_H
#define HPCSTRUCT_DEBUG_OPENCL_SOURCE_H

#include "hpcstruct-lite/debug/debug.h"
#include "hpcstruct-lite/image/image.h"

/* Offsets are bytes from the start of the text. */
struct source_function {
	/* from the first token of the definition; exclusive: after its last brace */
	uint32_t start, end;
	uint32_t name, name_bytes;
	uint32_t file, line;   /* place of the name */
};

/* The line that starts at an offset. */
struct source_line {
	uint32_t offset, file, line;
};

struct source_text {
	VEC(struct source_function) functions; /* sorted by end */
	/* sorted by offset; the first is at 0 */
	VEC(struct source_line) lines;
	struct strtab files;   /* 0: the text itself, named by `path`; others come from #line */
};

/*
 * Scans `n_bytes` of text, at most UINT32_MAX. Returns false when out of memory. The caller frees
 * *text in both cases.
 */
bool source_scan(const char *path, const uint8_t *bytes, size_t n_bytes, struct source_text *text);
void source_text_free(struct source_text *text);

/*
 * Scans the text into a unit: link addresses are offsets in the text, and rows cover the functions.
 * `names` owns the strings of the definitions and must outlive the unit. The unit names the image's
 * file by its absolute path. Does not log STATUS_NO_MEMORY.
 */
enum status source_read_unit(const struct image *image, struct debug_unit *unit,
	struct strtab *names);

#endif
