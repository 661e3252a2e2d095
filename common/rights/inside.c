/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See inside.h. Opens the names one by one, so that it also works on kernels without openat2(2).
 * Test: tests/cli/prof/prof_strangers.sh.
 */
#include "common/rights/inside.h"

#include "common/base/log.h"
#include "common/rights/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct place {
	int fd;
	uid_t owner;    /* of the outer directory */
	bool is_shared; /* others than this owner may add names */
};

static bool look_at(struct place *p, bool is_outer)
{
	struct stat st;
	if (p->fd < 0 || fstat(p->fd, &st) != 0)
		return false;
	if (is_outer)
		p->owner = st.st_uid;
	p->is_shared |= st.st_uid != p->owner || st.st_mode & (S_IWGRP | S_IWOTH);
	return true;
}

/*
 * The owner of the directory must be able to read the file. If others may add names to the
 * directory, a hard link proves nothing, and then everybody must have the right to read the file.
 */
static bool may_take(const struct place *p, const struct stat *st)
{
	const bool is_public = st->st_mode & S_IROTH,
		   is_own = geteuid() != 0 && st->st_uid == geteuid() && st->st_nlink == 1;
	if (p->is_shared && st->st_nlink > 1)
		return is_public;
	return is_public || is_own || rights_may_read(p->owner, st);
}

static int take_file(const struct place *p, const char *name, struct stat *st)
{
	const int fd = openat(p->fd, name,
			      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	int cause = fstat(fd, st) != 0 ? errno : !S_ISREG(st->st_mode) ? EINVAL : 0;
	if (!cause && !may_take(p, st))
		cause = EPERM;
	if (!cause)
		return fd;
	close(fd);
	errno = cause;
	return -1;
}

static void step_into(struct place *p, const char *name)
{
	const int outer = p->fd;
	struct stat st;
	/* with O_DIRECTORY the error for a link would be ENOTDIR */
	const bool is_link = fstatat(outer, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			     S_ISLNK(st.st_mode);
	p->fd = openat(outer, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const int cause = p->fd < 0 && is_link ? ELOOP : errno;
	close(outer);
	errno = cause;
}

int inside_open(const char *path, unsigned depth, struct stat *st)
{
	char text[PATH_MAX], *name = NULL;
	if ((size_t)snprintf(text, sizeof text, "%s", path) >= sizeof text) {
		errno = ENAMETOOLONG;
		return -1;
	}
	unsigned n = 0;
	for (char *slash; n < depth && (slash = strrchr(text, '/')); n++) {
		*slash = '\0';
		name = slash + 1;
	}
	const bool is_bare = n < depth; /* "x" is inside "." */
	const char *outer = is_bare ? "." : name == text + 1 ? "/" : text;
	struct place p = {.fd = open(outer, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	if (is_bare)
		name = text;
	bool ok = look_at(&p, true);
	for (unsigned left = is_bare ? n : depth - 1; ok && left; left--) {
		step_into(&p, name);
		name += strlen(name) + 1;
		ok = look_at(&p, false);
	}
	const int fd = ok ? take_file(&p, name, st) : -1, cause = errno;
	if (p.fd >= 0)
		close(p.fd);
	errno = cause;
	return fd;
}

const char *inside_cause(int cause)
{
	switch (cause) {
	case ELOOP:
		return "is a symbolic link, which is not followed here; put the file in its place";
	case EPERM:
		return "is a file that the owner of this directory may not read; not used";
	case EINVAL:
		return "not a regular file";
	default:
		return strerror(cause);
	}
}

enum status inside_map(const char *path, unsigned depth, struct mapfile *m)
{
	struct stat st;
	if (depth == 0)
		return mapfile_open(path, m);
	const int fd = inside_open(path, depth, &st);
	if (fd >= 0)
		return mapfile_take(fd, path, m);
	if (errno == ENOENT || errno == ENOTDIR)
		return STATUS_NOT_FOUND;
	log_error(path, "%s", inside_cause(errno));
	return STATUS_IO;
}

bool inside_trusts(uid_t uid, const char *binary)
{
	struct stat st;
	return uid == 0 || uid == geteuid() ||
	       (binary && stat(binary, &st) == 0 && st.st_uid == uid);
}
