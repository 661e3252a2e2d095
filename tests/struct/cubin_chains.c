/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints what a structure says of every instruction of a cubin, one line where that changes, in a
 *form that other readers' output can be brought into:
 *
 *	cubin_chains [-n | -i] STRUCTURE CUBIN
 *
 *	.text.kernel
 *	0x40 util.cuh:4 < inline.cu:21
 *
 * Offset in the section, then file and line, then the call sites of inlined calls from the
 *innermost on. -n adds the names of the functions. -i leaves out what nvdisasm does not say: a
 *change of the call sites alone, with the innermost place as it was. Files without their
 *directories.
 */
#include "common/base/log.h"
#include "common/base/mapfile.h"
#include "common/format/structure.h"
#include "hpcstruct-lite/image/image.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTRUCTION_BYTES = 16, LINE_BYTES = 8192 };

static bool with_names, innermost_decides;

static const char *base(const struct structure *s, uint32_t file)
{
	const char *path = structure_get_file(s, file), *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static size_t put(char *out, size_t n, const char *text)
{
	int k = snprintf(out + n, LINE_BYTES - n, "%s", text);
	return k < 0 || n + (size_t)k >= LINE_BYTES ? n : n + (size_t)k;
}

static size_t put_place(const struct structure *s, char *out, size_t n, uint32_t file,
			uint32_t line)
{
	char text[1200] = "?";
	if (file != STRUCTURE_NONE)
		snprintf(text, sizeof text, "%s:%u", base(s, file), line);
	return put(out, n, text);
}

static size_t put_name(const struct structure_scope *scope, char *out, size_t n)
{
	if (!with_names)
		return n;
	n = put(out, n, " ");
	return put(out, n, *scope->linkage_name ? scope->linkage_name : scope->name);
}

static void describe(const struct structure *s, uint64_t addr, char *out)
{
	struct structure_place p;
	if (!structure_lookup(s, addr, &p)) {
		put(out, 0, "?");
		return;
	}
	size_t n = put_place(s, out, 0, p.file, p.line);
	for (uint32_t id = p.scope; id != STRUCTURE_NONE;) {
		struct structure_scope scope = structure_get_scope(s, id);
		if (scope.kind != STRUCTURE_LOOP)
			n = put_name(&scope, out, n);
		if (scope.kind == STRUCTURE_INLINE) {
			n = put(out, n, " < ");
			n = put_place(s, out, n, scope.call_file, scope.call_line);
		}
		id = scope.parent;
	}
}

static void print_section(const struct structure *s, const struct image_section *section)
{
	char last[LINE_BYTES] = "", now[LINE_BYTES];
	printf("%s\n", section->name);
	for (uint64_t at = 0; at < section->n_bytes; at += INSTRUCTION_BYTES) {
		describe(s, section->link_addr + at, now);
		bool same = strcmp(now, last) == 0;
		if (innermost_decides)
			same = *last && strcspn(now, " ") == strcspn(last, " ") &&
			       strncmp(now, last, strcspn(now, " ")) == 0;
		if (!same)
			printf("0x%llx %s\n", (unsigned long long)at, now);
		memcpy(last, now, sizeof last);
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct image_section *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

int main(int argc, char **argv)
{
	struct mapfile file;
	struct structure *s;
	struct image *image;
	with_names = argc > 1 && strcmp(argv[1], "-n") == 0;
	innermost_decides = argc > 1 && strcmp(argv[1], "-i") == 0;
	int n_options = with_names + innermost_decides;
	argv += n_options;
	if (argc - n_options != 3 || mapfile_open(argv[1], &file) != STATUS_OK ||
	    structure_open(argv[1], file.bytes, file.n_bytes, &s) != STATUS_OK ||
	    image_open(argv[2], &image) != STATUS_OK)
		return 2;
	const struct image_section **sections = calloc(image->sections.n + 1, sizeof *sections);
	size_t n = 0;
	for (size_t i = 0; i < image->sections.n && sections; i++)
		if (image->sections.at[i].flags & SHF_EXECINSTR)
			sections[n++] = &image->sections.at[i];
	if (n > 1)
		qsort(sections, n, sizeof *sections, compare_names);
	for (size_t i = 0; i < n; i++)
		print_section(s, sections[i]);
	free(sections);
	image_close(image);
	structure_close(s);
	mapfile_close(&file);
	return 0;
}
