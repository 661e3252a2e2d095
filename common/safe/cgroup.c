/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See cgroup.h. Files and their meaning: Linux Documentation/admin-guide/cgroup-v2.rst and
 * scheduler/sched-bwc.rst. Test: tests/unit/common/test_cgroup.c.
 */
#include "common/safe/cgroup.h"

#include "common/safe/fnv.h"
#include "common/safe/sys.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT = 4096, NAME = 32 };

/* Reads the file `name` in the directory that the first n bytes of `path` name. False: no file. */
static bool read_file(const char *path, size_t n, const char *name, char *text)
{
	char full[sizeof((struct cgroup *)0)->path + NAME];
	size_t used = 0;
	if (n + strlen(name) + 2 > sizeof full)
		return false;
	memcpy(full, path, n);
	full[n] = '/';
	strcpy(full + n + 1, name);
	long fd = sys_open(full, O_RDONLY | O_CLOEXEC, 0);
	for (long got = 1; fd >= 0 && got > 0 && used < TEXT - 1; used += got > 0 ? (size_t)got : 0)
		got = sys_call3(SYS_read, fd, (long)(text + used), (long)(TEXT - 1 - used));
	if (fd >= 0)
		sys_close((int)fd);
	text[used] = 0;
	return fd >= 0;
}

/* Reads a decimal number and moves past it. False: there is none, or it is too large. */
static bool read_number(const char **at, uint64_t *value)
{
	const char *c = *at;
	uint64_t v = 0;
	for (; *c >= '0' && *c <= '9' && v < UINT64_MAX / 20; c++)
		v = v * 10 + (uint64_t)(*c - '0');
	const bool ok = c != *at && (*c < '0' || *c > '9');
	*at = c;
	*value = v;
	return ok;
}

/* ---- where the cgroup is ---- */

/* Returns the part of a line after "N:CONTROLLERS:" if it has the cpu controller, else NULL. */
static const char *path_in_line(const char *line, bool *is_v1)
{
	const char *at = strchr(line, ':');
	const char *end = at ? strchr(at + 1, ':') : NULL;
	if (!end)
		return NULL;
	*is_v1 = end != at + 1;
	while (*is_v1 && at < end) {
		const size_t n = strcspn(at + 1, ",:");
		if (n == 3 && !strncmp(at + 1, "cpu", 3))
			return end + 1;
		at += n + 1;
	}
	return *is_v1 ? NULL : end + 1;
}

/* Finds the line of the cpu controller. If version 1 does not have it, version 2 does. */
static char *find_line(char *text, bool *is_v1)
{
	char *found = NULL;
	for (char *line = text, *next; *line; line = next) {
		bool is_old;
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		char *path = (char *)(uintptr_t)path_in_line(line, &is_old);
		if (path && (!found || is_old)) {
			found = path;
			*is_v1 = is_old;
		}
	}
	return found;
}

/*
 * Sets the path to the directory of `cgroup` below the mount. In a container the mount may begin
 * in the middle of that path, so leading parts are dropped until the rest exists.
 */
static bool place(struct cgroup *c, const char *root, const char *mount, const char *cgroup)
{
	const size_t n = strlen(root) + strlen(mount);
	const char *const mark = c->is_v1 ? "/cgroup.procs" : "/cgroup.controllers";
	if (n + strlen(cgroup) + NAME > sizeof c->path)
		return false;
	strcpy(stpcpy(stpcpy(c->path, root), mount), mark);
	c->n_mount = n;
	if (sys_access(c->path, F_OK) != 0)
		return false;
	for (const char *at = cgroup; *at; at += 1 + strcspn(at + 1, "/")) {
		strcpy(c->path + n, at[1] ? at : "");
		if (sys_access(c->path, F_OK) == 0 && !strstr(c->path + n, "/.."))
			return true;
	}
	c->path[n] = 0;
	return true;
}

static bool find_place(const char *root, struct cgroup *c)
{
	static const char *const mounts[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct",
					     "/sys/fs/cgroup/cpuacct,cpu"};
	char text[TEXT];
	char *cgroup = read_file(root, strlen(root), "proc/self/cgroup", text)
			       ? find_line(text, &c->is_v1)
			       : NULL;
	if (!cgroup)
		return false;
	if (!c->is_v1)
		return place(c, root, "/sys/fs/cgroup", cgroup);
	for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++)
		if (place(c, root, mounts[i], cgroup))
			return true;
	return false;
}

/* ---- its files ---- */

/* Goes from the cgroup whose path has n bytes to the one around it. False: it was the last. */
static bool go_up(const struct cgroup *c, size_t *n)
{
	if (*n <= c->n_mount)
		return false;
	while (*n > c->n_mount && c->path[*n - 1] != '/')
		--*n;
	*n -= *n > c->n_mount;
	return true;
}

/* The quota of one cgroup; 0: it has none. */
static uint64_t quota_of(const struct cgroup *c, size_t n)
{
	char text[TEXT];
	const char *at = text;
	uint64_t quota, period;
	if (!read_file(c->path, n, c->is_v1 ? "cpu.cfs_quota_us" : "cpu.max", text) ||
	    !read_number(&at, &quota)) /* "max" or -1 */
		return 0;
	if (c->is_v1 && !read_file(c->path, n, "cpu.cfs_period_us", text))
		return 0;
	at = c->is_v1 ? text : at + (*at == ' ');
	if (!read_number(&at, &period) || !period || quota > UINT64_MAX / 1000000000u)
		return 0;
	return quota * 1000000000u / period;
}

static uint64_t id_of(const struct cgroup *c, size_t n)
{
	char path[sizeof c->path];
	struct stat st;
	memcpy(path, c->path, n);
	path[n] = 0;
	if (sys_stat(path, &st) != 0)
		return 1;
	const uint64_t of[] = {st.st_dev, st.st_ino};
	return fnv64(FNV64_START, of, sizeof of) | 1;
}

void cgroup_find(const char *root, struct cgroup *c)
{
	memset(c, 0, sizeof *c);
	if (!find_place(root, c))
		return;
	size_t n = strlen(c->path);
	do {
		const uint64_t quota_ns = quota_of(c, n);
		if (quota_ns && (!c->quota_ns || quota_ns < c->quota_ns)) {
			c->quota_ns = quota_ns;
			c->id = id_of(c, n);
		}
	} while (go_up(c, &n));
}

uint64_t cgroup_throttled_ns(const struct cgroup *c)
{
	const char *const name = c->is_v1 ? "\nthrottled_time " : "\nthrottled_usec ";
	size_t n = strlen(c->path);
	uint64_t sum = 0;
	if (!c->quota_ns)
		return 0;
	do {
		char text[TEXT];
		uint64_t value;
		const char *at = read_file(c->path, n, "cpu.stat", text) ? strstr(text, name)
									 : NULL;
		at = at ? at + strlen(name) : NULL;
		if (at && read_number(&at, &value) && value < UINT64_MAX / 1000000)
			sum += c->is_v1 ? value : value * 1000;
	} while (go_up(c, &n));
	return sum;
}
