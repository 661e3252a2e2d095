/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See rights.h. For root, the kernel decides: we open the file with the owner's ids for file
 * access, which change for this thread only (setfsuid(2)). For other users, the mode bits of the
 * file and of the directories above it decide. Test: tests/cli/prof/prof_sources.sh.
 */
#include "common/rights/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_GROUPS = 65536, NOBODY = 65534 };

/* ---- owners ---- */

static bool find_groups(struct rights_owner *w)
{
	struct passwd entry, *found = NULL;
	char text[4096];
	w->gid = NOBODY;
	if (getpwuid_r(w->uid, &entry, text, sizeof text, &found) != 0 || !found)
		return true; /* we know of no group with this user */
	w->gid = found->pw_gid;
	for (int room = 64; room <= MOST_GROUPS; room *= 2) {
		gid_t *groups = realloc(w->groups, (size_t)room * sizeof *groups);
		if (!groups)
			return false;
		w->groups = groups;
		w->n_groups = room;
		if (getgrouplist(found->pw_name, found->pw_gid, groups, &w->n_groups) >= 0)
			return true;
	}
	w->n_groups = 0;
	return true;
}

bool rights_add(struct rights *o, uid_t uid)
{
	size_t k = 0;
	while (k < o->list.n && o->list.at[k].uid != uid)
		k++;
	if (k < o->list.n || uid == 0 || uid == geteuid())
		return true;
	struct rights_owner *at = vec_push(&o->list);
	if (!at)
		return false;
	*at = (struct rights_owner){.uid = uid};
	return find_groups(at);
}

void rights_free(struct rights *o)
{
	for (size_t i = 0; i < o->list.n; i++)
		free(o->list.at[i].groups);
	vec_free(&o->list);
}

/* ---- rights by mode bits ---- */

static bool is_in(const struct rights_owner *w, gid_t gid)
{
	bool in = gid == w->gid;
	for (int i = 0; i < w->n_groups && !in; i++)
		in = w->groups[i] == gid;
	return in;
}

/* `bit` is S_IROTH or S_IXOTH. */
static bool may(const struct rights_owner *w, const struct stat *st, mode_t bit)
{
	unsigned shift = st->st_uid == w->uid ? 6 : is_in(w, st->st_gid) ? 3 : 0;
	return st->st_mode & bit << shift;
}

bool rights_may_read(uid_t uid, const struct stat *st)
{
	struct rights_owner w = {.uid = uid};
	const bool is_known = uid != 0 && uid != st->st_uid && find_groups(&w);
	const bool result = uid == 0 || uid == st->st_uid || (is_known && may(&w, st, S_IROTH));
	free(w.groups);
	return result;
}

struct audience {
	bool group, others;     /* they can reach the file; the group is the file's own */
	bool all_owners;
};

static void narrow(const struct rights *o, const struct stat *st, const struct stat *file,
		   mode_t bit, struct audience *a)
{
	a->others = a->others && st->st_mode & bit;
	a->group = a->group && st->st_mode & (st->st_gid == file->st_gid ? bit << 3 : bit);
	for (size_t i = 0; i < o->list.n; i++)
		a->all_owners = a->all_owners && may(&o->list.at[i], st, bit);
}

/* Finds who can reach the open file by its real path. Nobody can if the path cannot be followed. */
static struct audience audience_of(const struct rights *o, int fd, const struct stat *file)
{
	const struct audience nobody = {false, false, o->list.n == 0};
	struct audience a = {true, true, true};
	char link[64], path[PATH_MAX];
	struct stat st;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	if (n <= 0 || path[0] != '/')
		return nobody;
	path[n] = '\0';
	if (stat(path, &st) != 0 || st.st_dev != file->st_dev || st.st_ino != file->st_ino)
		return nobody;
	narrow(o, file, file, S_IROTH, &a);
	for (char *slash; (slash = strrchr(path, '/')); ) {
		slash[slash == path] = '\0'; /* the last one is "/" */
		if (stat(path, &st) != 0)
			return nobody;
		narrow(o, &st, file, S_IXOTH, &a);
		if (slash == path)
			break;
	}
	return a;
}

/* ---- opening ---- */

static int open_regular(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* As root, opens the file with the ids of `w`. Changes the ids of this thread only; glibc's
 * setgroups() would change those of all threads. */
static int open_as(const struct rights_owner *w, const char *path)
{
	gid_t own[NGROUPS_MAX];
	int n_own = getgroups(NGROUPS_MAX, own);
	if (n_own < 0 || syscall(SYS_setgroups, (size_t)w->n_groups, w->groups) != 0)
		return -1;
	int gid = setfsgid(w->gid), uid = setfsuid(w->uid);
	bool changed = setfsuid((uid_t)-1) == (int)w->uid && setfsgid((gid_t)-1) == (int)w->gid;
	int fd = changed ? open_regular(path) : -1;
	setfsuid((uid_t)uid);
	setfsgid((gid_t)gid);
	if (syscall(SYS_setgroups, (size_t)n_own, own) != 0)
		abort(); /* cannot happen: we never gave up the right to set groups */
	return fd;
}

static bool are_same(int a, int b)
{
	struct stat sa, sb;
	return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* As root: returns -1 unless the kernel lets all owners open the same file. */
static int open_as_all(const struct rights *o, const char *path)
{
	int fd = o->list.n ? open_as(&o->list.at[0], path) : open_regular(path);
	for (size_t i = 1; i < o->list.n && fd >= 0; i++) {
		int other = open_as(&o->list.at[i], path);
		bool same = other >= 0 && are_same(fd, other);
		if (other >= 0)
			close(other);
		if (!same) {
			close(fd);
			fd = -1;
		}
	}
	return fd;
}

int rights_open(const struct rights *o, const char *path, struct stat *st, mode_t *mode)
{
	bool is_root = geteuid() == 0;
	if (stat(path, st) != 0 || !S_ISREG(st->st_mode)) /* opening a device may do something */
		return -1;
	int fd = is_root ? open_as_all(o, path) : open_regular(path);
	if (fd < 0)
		return -1;
	struct audience a = {0};
	bool good = fstat(fd, st) == 0 && S_ISREG(st->st_mode);
	if (good)
		a = audience_of(o, fd, st);
	if (!good || !(is_root || a.all_owners)) {
		close(fd);
		return -1;
	}
	*mode = (st->st_mode & (S_IRUSR | S_IWUSR)) | S_IRUSR;
	if (st->st_gid == getegid() ? a.group : a.others)
		*mode |= st->st_mode & (S_IRGRP | S_IWGRP);
	if (a.others)
		*mode |= st->st_mode & (S_IROTH | S_IWOTH);
	return fd;
}
