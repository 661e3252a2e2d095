/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares a binary on disk with the one that ran: by the GNU build id note (ELF specification,
 * "Note Section"; type NT_GNU_BUILD_ID), or without one by size, time and content. Declared in
 * structures.h. Test: tests/unit/prof/test_expand.c.
 */
#include "hpcprof-lite/load/structures.h"

#include "common/rights/inside.h"
#include "common/rights/rights.h"
#include "common/safe/content_hash.h"
#include "hpcprof-lite/load/load_file.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT_DEPTH = 2 }; /* path components below a measurement directory */

/* Looks for the note in [at, at + n). A note with impossible sizes ends the search. */
static const uint8_t *find_note(const uint8_t *at, uint64_t n, uint32_t *n_bytes)
{
	while (n >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr h;
		memcpy(&h, at, sizeof h);
		uint64_t name = ((uint64_t)h.n_namesz + 3) & ~UINT64_C(3),
			 text = ((uint64_t)h.n_descsz + 3) & ~UINT64_C(3);
		if (name > n - sizeof h || h.n_descsz > n - sizeof h - name)
			return NULL;
		const uint8_t *content = at + sizeof h + name;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    memcmp(at + sizeof h, "GNU", 4) == 0) {
			*n_bytes = h.n_descsz;
			return content;
		}
		uint64_t step = sizeof h + name + text;
		if (step >= n)
			return NULL;
		at += step;
		n -= step;
	}
	return NULL;
}

static const uint8_t *find_build_id(const struct mapfile *m, uint32_t *n_bytes)
{
	Elf64_Ehdr h;
	if (m->n_bytes < sizeof h)
		return NULL;
	memcpy(&h, m->bytes, sizeof h);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_phentsize != sizeof(Elf64_Phdr))
		return NULL;
	for (unsigned i = 0; i < h.e_phnum; i++) {
		Elf64_Phdr p;
		if (h.e_phoff > m->n_bytes || (i + 1) * sizeof p > m->n_bytes - h.e_phoff)
			return NULL;
		memcpy(&p, m->bytes + h.e_phoff + i * sizeof p, sizeof p);
		if (p.p_type != PT_NOTE || p.p_offset > m->n_bytes ||
		    p.p_filesz > m->n_bytes - p.p_offset)
			continue;
		const uint8_t *id = find_note(m->bytes + p.p_offset, p.p_filesz, n_bytes);
		if (id)
			return id;
	}
	return NULL;
}

static enum load_binary compare(const struct msr_module *m, const struct mapfile *f)
{
	uint32_t n_bytes = 0;
	bool same;
	if (m->build_id_bytes) {
		const uint8_t *id = find_build_id(f, &n_bytes);
		/* hpcrun-lite keeps only MSR_BUILD_ID_MAX bytes of a longer id */
		same = id &&
		       (n_bytes == m->build_id_bytes ||
			(n_bytes > MSR_BUILD_ID_MAX && m->build_id_bytes == MSR_BUILD_ID_MAX)) &&
		       memcmp(id, m->build_id, m->build_id_bytes) == 0;
	} else if (m->file_bytes) {
		const uint64_t content = msr_module_content(m);
		same = f->n_bytes == m->file_bytes &&
		       (!m->file_mtime_ns || f->mtime_ns == m->file_mtime_ns) &&
		       (!content || content_hash_bytes(f->bytes, f->n_bytes) == content);
	} else {
		return LOAD_BINARY_MISSING;
	}
	return same ? LOAD_BINARY_SAME : LOAD_BINARY_CHANGED;
}

/*
 * Opens a file that a measurement names. As root, opens only what the readers of the measurement
 * could open.
 */
static enum load_binary open_binary(const struct rights *readers, const char *path,
				    struct mapfile *f)
{
	struct stat st;
	mode_t mode;
	if (path[0] != '/' || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return LOAD_BINARY_MISSING;
	const bool asks = geteuid() == 0;
	const int fd = asks ? rights_open(readers, path, &st, &mode) : -1;
	if (asks && fd < 0)
		return LOAD_BINARY_PRIVATE;
	const enum status status = asks ? mapfile_take(fd, path, f) : mapfile_open(path, f);
	return status == STATUS_OK ? LOAD_BINARY_SAME : LOAD_BINARY_MISSING;
}

enum load_binary load_check_binary(const struct rights *readers, const struct msr_module *m,
				   const char *path)
{
	struct mapfile f = {0};
	enum load_binary result = open_binary(readers, path, &f);
	if (result == LOAD_BINARY_SAME) {
		result = compare(m, &f);
		mapfile_close(&f);
	}
	return result;
}

bool load_find_kept(const struct msr_module *m, const char *directory, char path[PATH_MAX])
{
	char name[MSR_KEPT_NAME_BYTES];
	return msr_kept_name(name, m->build_id, m->build_id_bytes, msr_module_content(m)) &&
	       snprintf(path, PATH_MAX, "%s/" MSR_KEPT_DIRECTORY "/%s", directory, name) <
		       PATH_MAX &&
	       access(path, R_OK) == 0;
}

static bool open_kept(const struct load_file *f, const struct msr_module *m,
		      struct mapfile *binary)
{
	char directory[PATH_MAX], kept[PATH_MAX];
	if (!f->path) /* read from memory */
		return false;
	const char *slash = strrchr(f->path, '/');
	const int n = !slash || slash == f->path ? 1 : (int)(slash - f->path);
	snprintf(directory, sizeof directory, "%.*s", n, slash ? f->path : ".");
	return load_find_kept(m, directory, kept) &&
	       inside_map(kept, KEPT_DEPTH, binary) == STATUS_OK;
}

bool load_open_binary(const struct load_file *f, const struct load_module *m,
		      struct mapfile *binary)
{
	struct rights readers = {0};
	const bool is_open = rights_add(&readers, f->map.owner) &&
			     open_binary(&readers, m->path, binary) == LOAD_BINARY_SAME,
		   is_same = is_open && compare(m->record, binary) == LOAD_BINARY_SAME;
	if (is_open && !is_same)
		mapfile_close(binary);
	rights_free(&readers);
	return is_same || open_kept(f, m->record, binary);
}

/* Opens a file of a measurement directory. */
static bool open_inside(const char *path, struct mapfile *binary, bool *is_private)
{
	struct stat st;
	const int fd = inside_open(path, KEPT_DEPTH, &st);
	if (fd < 0 || mapfile_take(fd, path, binary) != STATUS_OK)
		return false;
	*is_private = !(st.st_mode & S_IROTH);
	return true;
}

bool load_open_code(const struct rights *readers, const struct msr_module *m, const char *path,
		    char *const *directories, size_t n_directories, struct mapfile *binary,
		    bool *is_private)
{
	struct stat st;
	mode_t mode;
	char kept[PATH_MAX];
	if (m->flags & LOAD_MODULE_GPU)
		return path[0] == '/' && open_inside(path, binary, is_private);
	const int fd = path[0] == '/' ? rights_open(readers, path, &st, &mode) : -1;
	if (fd >= 0 && mapfile_take(fd, path, binary) == STATUS_OK) {
		*is_private = !(mode & S_IROTH);
		if (compare(m, binary) == LOAD_BINARY_SAME)
			return true;
		mapfile_close(binary);
	}
	for (size_t i = 0; i < n_directories; i++)
		if (load_find_kept(m, directories[i], kept) &&
		    open_inside(kept, binary, is_private))
			return true;
	return false;
}
