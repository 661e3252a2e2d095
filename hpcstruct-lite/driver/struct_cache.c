/* SPDX-License-Identifier: BSD-3-Clause */
/* Structure files on disk; see struct_cache.h. */
#include "hpcstruct-lite/driver/struct_cache.h"

#include "common/base/log.h"
#include "common/base/mapfile.h"
#include "common/format/structure.h"
#include "common/format/structure_layout.h"
#include "common/rights/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads the header of an undamaged structure file. Logs nothing. */
static bool read_sound(const char *path, struct structure_header *h)
{
	struct mapfile file;
	struct stat st;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || access(path, R_OK) != 0 ||
	    inside_map(path, 1, &file) != STATUS_OK)
		return false;
	bool sound = file.n_bytes >= sizeof *h;
	if (sound) {
		memcpy(h, file.bytes, sizeof *h);
		sound = memcmp(h->magic, STRUCTURE_MAGIC, sizeof h->magic) == 0 &&
			h->version_major == STRUCTURE_VERSION_MAJOR &&
			h->file_bytes == file.n_bytes &&
			h->check == structure_check_file(file.bytes, file.n_bytes);
	}
	mapfile_close(&file);
	return sound;
}

bool cache_is_current(const char *path, uint64_t fingerprint)
{
	struct structure_header h;
	return read_sound(path, &h) && h.fingerprint == fingerprint;
}

bool cache_seems_current(const char *path, uint64_t fingerprint)
{
	struct structure_header h;
	struct stat st;
	int fd = inside_open(path, 1, &st);
	bool ok = fd >= 0
		&& read(fd, &h, sizeof h) == (ssize_t)sizeof h
		&& memcmp(h.magic, STRUCTURE_MAGIC, sizeof h.magic) == 0
		&& h.version_major == STRUCTURE_VERSION_MAJOR
		&& h.file_bytes == (uint64_t)st.st_size && h.fingerprint == fingerprint;
	if (fd >= 0)
		close(fd);
	return ok;
}

/* ---- files with some of the functions ---- */

struct partial {
	struct mapfile file;
	struct structure *structure;
};

static bool open_partial(const char *path, struct partial *p)
{
	struct structure_header h;
	if (!read_sound(path, &h) || !(h.flags & STRUCTURE_FLAG_PARTIAL) ||
	    inside_map(path, 1, &p->file) != STATUS_OK)
		return false;
	if (structure_open(path, p->file.bytes, p->file.n_bytes, &p->structure) == STATUS_OK)
		return true;
	mapfile_close(&p->file);
	return false;
}

static void close_partial(struct partial *p)
{
	structure_close(p->structure);
	mapfile_close(&p->file);
}

/* Reads only the header, because files with all functions are large. */
static bool has_all(const char *path)
{
	struct structure_header h;
	struct stat st;
	int fd = inside_open(path, 1, &st);
	bool all = fd >= 0 && read(fd, &h, sizeof h) == (ssize_t)sizeof h &&
		   !(h.flags & STRUCTURE_FLAG_PARTIAL);
	if (fd >= 0)
		close(fd);
	return all;
}

bool cache_covers(const char *path, const struct image *image, const uint64_t *link_addrs, size_t n)
{
	struct partial p;
	if (has_all(path))
		return true;
	if (n == 0 || !open_partial(path, &p))
		return false;
	size_t n_regions = structure_n_regions(p.structure), k = 0;
	bool covers = true;
	for (size_t i = 0; i < n && covers; i++) {
		uint64_t start = 0, end = 0;
		uint32_t position;
		if (image && !image_position(image, link_addrs[i], &position))
			continue;
		for (; k < n_regions; k++) {
			structure_get_region(p.structure, k, &start, &end);
			if (link_addrs[i] < end)
				break;
		}
		covers = k < n_regions && link_addrs[i] >= start;
	}
	close_partial(&p);
	return covers;
}

bool cache_add_entries(const char *path, uint64_t fingerprint, struct cache_entries *entries)
{
	struct partial p;
	bool ok = true;
	if (!open_partial(path, &p))
		return true;
	uint32_t n = structure_fingerprint(p.structure) == fingerprint
			     ? structure_n_scopes(p.structure)
			     : 0;
	for (uint32_t i = 0; i < n && ok; i++) {
		struct structure_scope s = structure_get_scope(p.structure, i);
		uint64_t *slot = s.kind == STRUCTURE_FUNCTION ? vec_push(entries) : NULL;
		ok = slot || s.kind != STRUCTURE_FUNCTION;
		if (slot)
			*slot = s.entry;
	}
	close_partial(&p);
	return ok;
}

bool cache_is_of(const char *path, const uint8_t *build_id, size_t build_id_bytes)
{
	struct structure_header h;
	return read_sound(path, &h) &&
		(!build_id ||
			(h.build_id_bytes == build_id_bytes &&
				memcmp(h.build_id, build_id, build_id_bytes) == 0));
}

/* Makes the directories that a path needs, with `mode` and the umask. */
static bool make_parents(const char *path, mode_t mode)
{
	char dir[PATH_MAX];
	if ((size_t)snprintf(dir, sizeof dir, "%s", path) >= sizeof dir) {
		errno = ENAMETOOLONG;
		return false;
	}
	for (char *slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		int cause = mkdir(dir, mode) == 0 ? 0 : errno;
		if (cause && cause != EEXIST && access(dir, F_OK) != 0) {
			errno = cause; /* "Permission denied" is more helpful than "No such file" */
			return false;
		}
		*slash = '/';
	}
	return true;
}

bool cache_make_private(const char *dir)
{
	char path[PATH_MAX];
	return snprintf(path, sizeof path, "%s/", dir) < (int)sizeof path &&
		make_parents(path, 0700);
}

/* Returns true if the path is not a regular file but a device, a FIFO or a link. */
static bool is_special(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static bool open_draft(const char *path, bool is_named, struct cache_draft *draft)
{
	draft->is_copied = is_special(path);
	draft->path[0] = '\0';
	if (draft->is_copied && !is_named) {
		errno = EEXIST;
		return false;
	}
	if (draft->is_copied) {
		draft->fd = memfd_create("structure", MFD_CLOEXEC);
		return draft->fd >= 0;
	}
	if (!make_parents(path, 0777))
		return false;
	if (snprintf(draft->path, sizeof draft->path, "%s.XXXXXX", path) >=
	    (int)sizeof draft->path) {
		errno = ENAMETOOLONG;
		return false;
	}
	draft->fd = mkostemp(draft->path, O_CLOEXEC);
	if (draft->fd < 0)
		return false;
	mode_t mask = umask(0);
	umask(mask);
	fchmod(draft->fd, 0666 & ~mask);
	return true;
}

enum status cache_draft_open(const char *path, bool is_named, struct cache_draft *draft)
{
	if (open_draft(path, is_named, draft))
		return STATUS_OK;
	log_error(path, "cannot be created: %s", strerror(errno));
	return STATUS_IO;
}

static bool write_all(int to, const char *bytes, size_t n_bytes)
{
	for (size_t done = 0; done < n_bytes;) {
		ssize_t n = write(to, bytes + done, n_bytes - done);
		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool copy_bytes(int from, int to)
{
	enum { AT_ONCE = 1 << 16 };
	char bytes[AT_ONCE];
	for (off_t at = 0;;) {
		ssize_t n = pread(from, bytes, sizeof bytes, at);
		if (n == 0)
			return true;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || !write_all(to, bytes, (size_t)n))
			return false;
		at += n;
	}
}

/* Writes into the existing file that `path` names or points to. */
static bool write_into(int from, const char *path)
{
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	bool ok = to >= 0 && copy_bytes(from, to);
	int cause = errno;
	if (to >= 0 && close(to) != 0 && ok) {
		cause = errno;
		ok = false;
	}
	errno = cause;
	return ok;
}

static bool keep_draft(struct cache_draft *draft, const char *path)
{
	if (draft->is_copied) {
		bool ok = write_into(draft->fd, path);
		int cause = errno;
		close(draft->fd);
		errno = cause;
		return ok;
	}
	if (close(draft->fd) == 0 && rename(draft->path, path) == 0)
		return true;
	int cause = errno;
	unlink(draft->path);
	errno = cause;
	return false;
}

enum status cache_draft_keep(struct cache_draft *draft, const char *path)
{
	if (keep_draft(draft, path))
		return STATUS_OK;
	log_error(path, "cannot be written: %s", strerror(errno));
	return STATUS_IO;
}

void cache_draft_drop(struct cache_draft *draft)
{
	close(draft->fd);
	if (!draft->is_copied)
		unlink(draft->path);
}

bool cache_copy(const char *from, const char *to, bool is_named, const char *binary, bool quiet)
{
	struct cache_draft draft;
	struct stat st;
	int fd = inside_open(from, 1, &st);
	bool ok = fd >= 0 && inside_trusts(st.st_uid, binary) && open_draft(to, is_named, &draft);
	if (ok && !copy_bytes(fd, draft.fd)) {
		cache_draft_drop(&draft);
		ok = false;
	} else if (ok) {
		ok = keep_draft(&draft, to);
	}
	if (!ok && !quiet)
		log_warn(to, "cannot be written: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}
