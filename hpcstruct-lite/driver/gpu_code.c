/* SPDX-License-Identifier: BSD-3-Clause */
/* Extracts GPU code from host files; see gpu_code.h. */
#include "hpcstruct-lite/driver/gpu_code.h"

#include "common/base/log.h"
#include "common/base/mapfile.h"
#include "common/base/vec.h"
#include "hpcstruct-lite/driver/struct_cache.h"
#include "hpcstruct-lite/image/fatbin.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum status write_all(int fd, const char *path, const uint8_t *bytes, size_t n_bytes)
{
	while (n_bytes > 0) {
		ssize_t n = write(fd, bytes, n_bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			log_error(path, "%s", strerror(errno));
			return STATUS_IO;
		}
		bytes += n;
		n_bytes -= (size_t)n;
	}
	return STATUS_OK;
}

static enum status write_file(const char *path, const uint8_t *bytes, size_t n_bytes)
{
	struct cache_draft draft;
	enum status status = cache_draft_open(path, false, &draft);
	if (status != STATUS_OK)
		return status;
	status = write_all(draft.fd, path, bytes, n_bytes);
	if (status == STATUS_OK)
		return cache_draft_keep(&draft, path);
	cache_draft_drop(&draft);
	return status;
}

static void complain(const char *file, const struct fatbin_entry *e, enum fatbin_result why)
{
	const char *packing = e->packing == FATBIN_ZSTD ? "zstd" : "LZ4";
	unsigned long long at = (unsigned long long)e->offset;
	if (why == FATBIN_NO_UNPACKER)
		log_warn(file,
			 "GPU code at offset 0x%llx is packed with %s, which this program was "
			 "built without; left out",
			 at, packing);
	else
		log_warn(file, "GPU code at offset 0x%llx is damaged; left out", at);
}

/* Writes one entry. An entry that cannot be unpacked is not an error of the whole extraction. */
static enum status take(const char *file, const char *dir, const struct fatbin_entry *e,
			struct gpu_code *code)
{
	const char *slash = strrchr(file, '/');
	uint8_t *bytes = NULL;
	char path[PATH_MAX];
	enum fatbin_result result = fatbin_unpack(e, &bytes);
	if (result == FATBIN_NO_MEMORY) {
		log_error(file, "out of memory");
		return STATUS_NO_MEMORY;
	}
	if (result != FATBIN_OK) {
		complain(file, e, result);
		return STATUS_OK;
	}
	enum status status = STATUS_OK;
	if (snprintf(path, sizeof path, "%s/%s.%zu.sm_%u.cubin", dir, slash ? slash + 1 : file,
		     code->cubins.n + 1, e->architecture) >= (int)sizeof path) {
		log_error(dir, "the name of the directory is too long");
		status = STATUS_BAD_INPUT;
	}
	if (status == STATUS_OK)
		status = write_file(path, bytes, (size_t)e->full_bytes);
	free(bytes);
	if (status != STATUS_OK)
		return status;
	char *copy = strdup(path), **slot = copy ? vec_push(&code->cubins) : NULL;
	if (!slot) {
		free(copy);
		log_error(file, "out of memory");
		return STATUS_NO_MEMORY;
	}
	*slot = copy;
	return STATUS_OK;
}

enum status gpu_code_extract(const char *file, const char *dir, struct gpu_code *code)
{
	struct mapfile map;
	struct fatbin_search search = {0};
	struct fatbin_entry e;
	size_t n_ptx = 0, n_other = 0;
	*code = (struct gpu_code){.cubins = {0}};
	enum status status = mapfile_open(file, &map);
	if (status == STATUS_NOT_FOUND)
		log_error(file, "no such file");
	if (status != STATUS_OK)
		return status;
	while (status == STATUS_OK && fatbin_next(map.bytes, map.n_bytes, &search, &e)) {
		n_ptx += e.form == FATBIN_PTX;
		n_other += e.form == FATBIN_OTHER;
		if (e.form == FATBIN_CUBIN)
			status = take(file, dir, &e, code);
	}
	mapfile_close(&map);
	if (search.n_damaged > 0)
		log_warn(file, "%u fat binaries are damaged; used as far as they go",
			 search.n_damaged);
	if (n_ptx > 0)
		log_detail(file, "%zu texts of PTX are left out", n_ptx);
	if (n_other > 0)
		log_note(file,
			 "%zu pieces of GPU code in other forms than cubins and PTX are left out",
			 n_other);
	if (status == STATUS_OK && code->cubins.n == 0) {
		log_error(file, n_ptx ? "no compiled GPU code in it, PTX text alone"
				      : "no GPU code in it");
		return STATUS_NOT_FOUND;
	}
	return status;
}

void gpu_code_free(struct gpu_code *code)
{
	for (size_t i = 0; i < code->cubins.n; i++)
		free(code->cubins.at[i]);
	vec_free(&code->cubins);
}
