/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenCL source text as an image: the text is one region of "code". We recognise it by the suffix
 * of the file, because text has no magic number. Also names the forms of GPU code that we cannot
 * read. Test: tests/cli/struct/struct_gpubins.sh.
 */
#include "hpcstruct-lite/image/image_source.h"

#include "common/base/log.h"

#include <string.h>

#define SOURCE_SUFFIX ".cl"

static bool source_recognises(const char *path, const uint8_t *bytes, size_t n_bytes)
{
	size_t n = strlen(path), suffix = strlen(SOURCE_SUFFIX);
	(void)bytes;
	return n_bytes > 0 && n > suffix && strcmp(path + n - suffix, SOURCE_SUFFIX) == 0;
}

static enum status source_load(struct image *image)
{
	if (image->file.n_bytes >= UINT32_MAX) {
		log_error(image->path, "more than 4 GiB of source text");
		return STATUS_UNSUPPORTED;
	}
	struct image_region *r = vec_push(&image->code);
	if (!r)
		return STATUS_NO_MEMORY;
	*r = (struct image_region){0, image->file.n_bytes, 0};
	return STATUS_OK;
}

const struct image_kind image_source = {"OpenCL source", true, source_recognises, source_load};

/* Returns true for text that starts with a directive of PTX, after blanks and line comments. */
static bool is_ptx(const uint8_t *bytes, size_t n_bytes)
{
	size_t i = 0;
	for (; i < n_bytes && (bytes[i] <= ' ' || bytes[i] == '/'); i++) {
		if (bytes[i] != '/')
			continue;
		const uint8_t *end = memchr(bytes + i, '\n', n_bytes - i);
		if (i + 1 >= n_bytes || bytes[i + 1] != '/' || !end)
			return false;
		i = (size_t)(end - bytes);
	}
	return n_bytes - i >= 8 && memcmp(bytes + i, ".version", 8) == 0;
}

bool image_is_foreign(const char *path, const uint8_t *bytes, size_t n_bytes, const char **form)
{
	static const struct { const char *mark; size_t n_bytes; const char *name; } forms[] = {
		{"\x03\x02\x23\x07", 4, "SPIR-V"},
		{"\x07\x23\x02\x03", 4, "SPIR-V"},
		{"BC\xc0\xde", 4, "LLVM bitcode"},
		{"poclbin", 7, "PoCL program binary"},
		{"CLRXBIN", 7, "CLRX program binary"},
	};
	*form = NULL;
	if (source_recognises(path, bytes, n_bytes) ||
	    (n_bytes >= 4 && memcmp(bytes, "\177ELF", 4) == 0))
		return false;
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		if (n_bytes >= forms[i].n_bytes &&
		    memcmp(bytes, forms[i].mark, forms[i].n_bytes) == 0)
			*form = forms[i].name;
	if (!*form && is_ptx(bytes, n_bytes))
		*form = "PTX text";
	return true;
}
