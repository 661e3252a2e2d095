/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the files to copy; see collect.h. Test: tests/cli/storage/storage_local.sh.
 */
#include "hpcrun-lite/launch/collect.h"

#include "common/base/log.h"
#include "common/base/vec.h"
#include "common/format/local_data.h"
#include "common/format/measurement.h"
#include "hpcrun-lite/launch/job.h"
#include "hpcrun-lite/launch/node_local.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Files whose data are on another node. */
struct elsewhere {
	struct local_data first;
	size_t n_files;
};

struct collection {
	const char *directory; /* real path */
	const char *own;       /* name of the file of the process that ends */
	char host[65];
	size_t n_copied, n_running, n_failed;
	uint64_t n_bytes;
	VEC(struct elsewhere) elsewhere;
};

static bool is_measurement(const char *name)
{
	size_t n = strlen(name), suffix = strlen(MSR_SUFFIX);
	return n > suffix && !strcmp(name + n - suffix, MSR_SUFFIX);
}

static bool path_in(char *out, const char *directory, const char *name)
{
	int n = snprintf(out, PATH_MAX, "%s/%s", directory, name);
	return n > 0 && n < PATH_MAX;
}

static size_t read_start(const char *path, void *to, size_t n_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, to, n_bytes);
	if (fd >= 0)
		close(fd);
	return n > 0 ? (size_t)n : 0;
}

static bool waits_for_data(const char *path, struct local_data *l)
{
	char text[LOCAL_DATA_BYTES];
	return local_data_read(text, read_start(path, text, sizeof text), l);
}

static void count_left(struct collection *c, enum collect_result r, const char *target)
{
	struct local_data l;
	if (r == COLLECT_GONE && waits_for_data(target, &l)) {
		log_error(target, "its data are not on this node any more (%s)", l.path);
		r = COLLECT_FAILED;
	}
	c->n_running += r == COLLECT_RUNS;
	c->n_failed += r == COLLECT_FAILED;
}

static void collect_one(struct collection *c, const char *local, const char *target)
{
	uint64_t n_bytes = 0;
	enum collect_result r = collect_file(local, target, &n_bytes);
	c->n_bytes += n_bytes;
	c->n_copied += n_bytes > 0 && r == COLLECT_DONE;
	count_left(c, r, target);
}

static bool note_elsewhere(struct collection *c, const struct local_data *l)
{
	for (size_t i = 0; i < c->elsewhere.n; i++)
		if (!strcmp(c->elsewhere.at[i].first.host, l->host)) {
			c->elsewhere.at[i].n_files++;
			return true;
		}
	struct elsewhere *e = vec_push(&c->elsewhere);
	if (e)
		*e = (struct elsewhere){*l, 1};
	return e;
}

/* ---- a directory ---- */

static void collect_waiting(struct collection *c, const char *name)
{
	static struct local_data l;
	char target[PATH_MAX];
	if (!path_in(target, c->directory, name) || !waits_for_data(target, &l))
		return;
	if (!strcmp(l.host, c->host)) {
		collect_one(c, l.path, target);
		*strrchr(l.path, '/') = '\0';
		rmdir(l.path); /* if that was the last one */
	} else if (!note_elsewhere(c, &l))
		c->n_failed++;
}

/* What is newer than its copy, because a child that wrote to it was killed. */
static void collect_rest(struct collection *c, const char *local, const char *name)
{
	char from[PATH_MAX], target[PATH_MAX];
	if (path_in(from, local, name) && path_in(target, c->directory, name))
		collect_one(c, from, target);
}

static bool each_name(const char *directory, struct collection *c,
		      void (*fn)(struct collection *c, const char *directory, const char *name))
{
	DIR *d = opendir(directory);
	for (struct dirent *e; d && (e = readdir(d));)
		if (is_measurement(e->d_name))
			fn(c, directory, e->d_name);
	if (d)
		closedir(d);
	return d;
}

static void in_directory(struct collection *c, const char *directory, const char *name)
{
	(void)directory;
	collect_waiting(c, name);
}

static void say_result(const struct collection *c)
{
	log_note(c->directory, "%zu file%s copied from this node, %llu bytes", c->n_copied,
		 c->n_copied == 1 ? "" : "s", (unsigned long long)c->n_bytes);
	if (c->n_running)
		log_note(c->directory, "%zu more are in use by processes of this node",
			 c->n_running);
	for (size_t i = 0; i < c->elsewhere.n; i++) {
		const struct elsewhere *e = &c->elsewhere.at[i];
		log_warn(c->directory,
			 "the data of %zu file%s are on %s (%s%s); run hpcrun-lite --collect there",
			 e->n_files, e->n_files == 1 ? "" : "s", e->first.host, e->first.path,
			 e->n_files == 1 ? "" : ", ...");
	}
}

static enum status collect_directory(const char *directory)
{
	const char *places[NODE_LOCAL_PLACES];
	char real[PATH_MAX], local[PATH_MAX];
	struct collection c = {.directory = real};
	gethostname(c.host, sizeof c.host - 1);
	if (!realpath(directory, real) || !each_name(real, &c, in_directory)) {
		log_error(directory, "%s", strerror(errno));
		return STATUS_NOT_FOUND;
	}
	node_local_places(places);
	for (size_t i = 0; i < NODE_LOCAL_PLACES; i++)
		if (node_local_path(places[i], real, local, sizeof local)) {
			each_name(local, &c, collect_rest);
			rmdir(local);
		}
	say_result(&c);
	enum status status = c.n_failed || c.elsewhere.n ? STATUS_IO : STATUS_OK;
	vec_free(&c.elsewhere);
	return status;
}

/* ---- the file of a process that ends ---- */

/* The names of a process's files differ after the first dot. */
static bool is_of_process(const char *name, const char *other)
{
	size_t n = strcspn(name, ".");
	return n == strcspn(other, ".") && !memcmp(name, other, n);
}

/*
 * Copies files that nobody has copied: of a killed process, and of what this process was before an
 * exec.
 */
static void collect_leftover(struct collection *c, const char *local, const char *name)
{
	struct msr_header h;
	char path[PATH_MAX];
	uint64_t ticks;
	if (!path_in(path, local, name) || read_start(path, &h, sizeof h) < sizeof h)
		return;
	if (is_of_process(name, c->own) || !job_process_start((long)h.pid, &ticks))
		collect_rest(c, local, name);
}

static enum status collect_own(const char *target, const char *local)
{
	char directory[PATH_MAX], place[PATH_MAX];
	const char *in_target = strrchr(target, '/'), *in_local = strrchr(local, '/');
	struct collection c = {.directory = directory};
	if (!in_target || !in_local)
		return STATUS_USAGE;
	snprintf(directory, sizeof directory, "%.*s", (int)(in_target - target), target);
	snprintf(place, sizeof place, "%.*s", (int)(in_local - local), local);
	collect_one(&c, local, target);
	if (c.n_failed)
		return STATUS_IO;
	c.own = in_local + 1;
	each_name(place, &c, collect_leftover);
	rmdir(place);
	/* The process waits for this, and may be gone. */
	putchar('\n');
	return STATUS_OK;
}

enum status collect(const char *what, const char *local)
{
	signal(SIGPIPE, SIG_IGN);
	return local ? collect_own(what, local) : collect_directory(what);
}
