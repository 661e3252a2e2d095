/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a measurement file with one context node in each of the given binaries, for tests of what
 *reads such directories.
 *
 *	make_run FILE [BINARY | BINARY=BUILD-ID | vdso=BUILD-ID | unused:BINARY | code:NAME |
 *		loaded:NAME | at:ADDRESS]...
 *
 * BINARY alone is recorded with its own build id, size and time; "=BUILD-ID" (hexadecimal) with
 *another; "unused:" without a node. "at:" adds a node at another address of the BINARY before it.
 *"code:" records a GPU code object with a function that ran, whose file is gpubins/NAME: 32
 *hexadecimal digits, its hash, and a suffix; "code:" alone one that was not kept. "loaded:" records
 *one without a function.
 */
#include "common/base/log.h"
#include "common/format/measurement_gpu.h"
#include "hpcstruct-lite/image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(64) uint8_t file[1 << 20];
static size_t n_bytes = MSR_HEADER_BYTES;

static void *add_extent(uint16_t kind, size_t used)
{
	struct msr_extent *e = (void *)(file + n_bytes);
	size_t length =
		(sizeof *e + used + MSR_EXTENT_ALIGN - 1) / MSR_EXTENT_ALIGN * MSR_EXTENT_ALIGN;
	e->magic = MSR_EXTENT_MAGIC;
	e->kind = kind;
	e->length = length;
	e->used = used;
	e->check = msr_extent_check(e);
	n_bytes += length;
	return e + 1;
}

static size_t parse_hex(const char *text, uint8_t *id)
{
	size_t n = 0;
	for (unsigned byte; n < MSR_BUILD_ID_MAX && sscanf(text + 2 * n, "%2x", &byte) == 1; n++)
		id[n] = (uint8_t)byte;
	return n;
}

static bool add_module(uint16_t id, const char *path, const char *build_id)
{
	struct msr_module m = {.id = id, .path_bytes = (uint32_t)strlen(path) + 1};
	bool is_vdso = strcmp(path, "vdso") == 0;
	if (is_vdso) {
		path = "[vdso]";
		m.path_bytes = (uint32_t)strlen(path) + 1;
		m.flags = MSR_MODULE_VDSO;
	} else {
		struct image *image;
		if (image_open(path, &image) != STATUS_OK)
			return false;
		m.build_id_bytes = (uint32_t)image->build_id_bytes;
		memcpy(m.build_id, image->build_id, image->build_id_bytes);
		m.file_bytes = image->file.n_bytes;
		m.file_mtime_ns = image->file.mtime_ns;
		image_close(image);
	}
	if (build_id)
		m.build_id_bytes = (uint32_t)parse_hex(build_id, m.build_id);
	m.bytes = (uint32_t)((sizeof m + m.path_bytes + 7) / 8 * 8);
	uint8_t *at = add_extent(MSR_MODULE, m.bytes);
	memcpy(at, &m, sizeof m);
	memcpy(at + sizeof m, path, m.path_bytes);
	return true;
}

static void add_node(uint16_t module, uint64_t link_addr)
{
	struct msr_node *node = add_extent(MSR_NODE, sizeof *node);
	node->addr = msr_addr_make(module, link_addr, false);
}

static void add_code(const char *name, bool has_run)
{
	static uint32_t id;
	struct msr_gpu_def_code c = {.head = {.type = MSR_GPU_DEF_CODE,
					      .name_bytes = (uint16_t)(strlen(name) + 1),
					      .id = ++id},
				     .kind = MSR_GPU_CODE_OTHER};
	unsigned long long hash[2] = {0};
	if (sscanf(name, "%16llx%16llx", &hash[0], &hash[1]) == 2)
		memcpy(c.hash, hash, sizeof hash);
	c.head.bytes = (uint32_t)((sizeof c + c.head.name_bytes + 7) / 8 * 8);
	struct msr_gpu_def_queue q = {.head = {.bytes = sizeof q + 8,
					       .type = MSR_GPU_DEF_QUEUE,
					       .name_bytes = 1,
					       .id = 1}};
	uint8_t *at = add_extent(MSR_GPU_DEFINITION, c.head.bytes + q.head.bytes);
	memcpy(at, &q, sizeof q); /* something to step over */
	memcpy(at + q.head.bytes, &c, sizeof c);
	memcpy(at + q.head.bytes + sizeof c, name, c.head.name_bytes);
	struct msr_gpu_def_function f = {.head = {.bytes = sizeof f + 8,
						  .type = MSR_GPU_DEF_FUNCTION,
						  .name_bytes = 1,
						  .id = id},
					 .code = id};
	if (has_run)
		memcpy(add_extent(MSR_GPU_DEFINITION, f.head.bytes), &f, sizeof f);
}

int main(int argc, char **argv)
{
	struct msr_header *h = (void *)file;
	memcpy(h->magic, MSR_MAGIC, sizeof h->magic);
	h->version_major = MSR_VERSION_MAJOR;
	h->header_bytes = MSR_HEADER_BYTES;
	uint16_t module = 0;
	if (argc < 2)
		return 2;
	for (int i = 2; i < argc; i++) {
		if (strncmp(argv[i], "code:", 5) == 0) {
			add_code(argv[i] + 5, true);
			continue;
		}
		if (strncmp(argv[i], "loaded:", 7) == 0) {
			add_code(argv[i] + 7, false);
			continue;
		}
		if (strncmp(argv[i], "at:", 3) == 0) {
			add_node(module, strtoull(argv[i] + 3, NULL, 16));
			continue;
		}
		bool unused = strncmp(argv[i], "unused:", 7) == 0;
		char *path = argv[i] + (unused ? 7 : 0), *build_id = strchr(path, '=');
		if (build_id)
			*build_id++ = '\0';
		module = (uint16_t)(i - 1);
		if (!add_module(module, path, build_id))
			return 1;
		if (!unused)
			add_node(module, 0x1000);
	}
	h->allocated = n_bytes;
	FILE *f = fopen(argv[1], "wb");
	return !f || fwrite(file, 1, n_bytes, f) != n_bytes || fclose(f) != 0;
}
