/* SPDX-License-Identifier: BSD-3-Clause */
/* Structure files on disk; see cache.h. */
#include "hpcstruct-lite/cache.h"

#include "common/base/log.h"
#include "common/base/mapfile.h"
#include "common/format/structure.h"
#include "common/format/structure_layout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

bool cache_is_current(const char *path, uint64_t fingerprint)
{
	struct mapfile file;
	if (access(path, R_OK) != 0 || mapfile_open(path, &file) != STATUS_OK)
		return false;
	struct structure_header h;
	bool current = file.n_bytes >= sizeof h;
	if (current) {
		memcpy(&h, file.bytes, sizeof h);
		current = memcmp(h.magic, STRUCTURE_MAGIC, sizeof h.magic) == 0 && h.version_major == STRUCTURE_VERSION_MAJOR &&
			h.fingerprint == fingerprint && h.file_bytes == file.n_bytes && h.check == structure_check_file(file.bytes, file.n_bytes);
	}
	mapfile_close(&file);
	return current;
}

void cache_path(char path[PATH_MAX], const char *dir, const char *key, uint64_t fingerprint)
{
	if (snprintf(path, PATH_MAX, "%s/%s-%016llx" STRUCTURE_SUFFIX, dir, key, (unsigned long long)fingerprint) >= PATH_MAX)
		path[0] = '\0';
}

bool cache_find(char path[PATH_MAX], const char *dir, const char *key)
{
	DIR *d = opendir(dir);
	size_t n = strlen(key);
	bool found = false;
	for (const struct dirent *e; d && !found && (e = readdir(d));)
		if (strncmp(e->d_name, key, n) == 0 && e->d_name[n] == '-' && strstr(e->d_name, STRUCTURE_SUFFIX))
			found = snprintf(path, PATH_MAX, "%s/%s", dir, e->d_name) < PATH_MAX;
	if (d)
		closedir(d);
	return found;
}

/* Makes the directories a path needs. */
static bool make_parents(const char *path)
{
	char dir[PATH_MAX];
	if ((size_t)snprintf(dir, sizeof dir, "%s", path) >= sizeof dir) {
		errno = ENAMETOOLONG;
		return false;
	}
	for (char *slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		int cause = mkdir(dir, 0777) == 0 ? 0 : errno;
		if (cause && cause != EEXIST && access(dir, F_OK) != 0) {
			errno = cause; /* "Permission denied" says more than that it is not there */
			return false;
		}
		*slash = '/';
	}
	return true;
}

static bool open_draft(const char *path, struct cache_draft *draft)
{
	if (!make_parents(path))
		return false;
	if (snprintf(draft->path, sizeof draft->path, "%s.XXXXXX", path) >= (int)sizeof draft->path) {
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

enum status cache_draft_open(const char *path, struct cache_draft *draft)
{
	if (open_draft(path, draft))
		return STATUS_OK;
	log_error(path, "cannot be created: %s", strerror(errno));
	return STATUS_IO;
}

enum status cache_draft_keep(struct cache_draft *draft, const char *path)
{
	bool ok = close(draft->fd) == 0 && rename(draft->path, path) == 0;
	if (!ok) {
		log_error(path, "cannot be written: %s", strerror(errno));
		unlink(draft->path);
	}
	return ok ? STATUS_OK : STATUS_IO;
}

void cache_draft_drop(struct cache_draft *draft)
{
	close(draft->fd);
	unlink(draft->path);
}

static bool copy_bytes(int from, int to)
{
	for (ssize_t n; (n = sendfile(to, from, NULL, (size_t)1 << 30)) != 0;)
		if (n < 0 && errno != EINTR)
			return false;
	return true;
}

bool cache_copy(const char *from, const char *to, bool quiet)
{
	struct cache_draft draft;
	struct stat st;
	int fd = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO may have the name */
	bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && open_draft(to, &draft);
	if (ok && !copy_bytes(fd, draft.fd)) {
		cache_draft_drop(&draft);
		ok = false;
	} else if (ok) {
		ok = close(draft.fd) == 0 && rename(draft.path, to) == 0;
		if (!ok)
			unlink(draft.path);
	}
	if (!ok && !quiet)
		log_warn(to, "cannot be written: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}
