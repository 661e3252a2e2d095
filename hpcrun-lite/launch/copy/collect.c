/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the files to copy; see collect.h. Tests: tests/cli/storage/storage_local.sh,
 * tests/cli/storage/storage_proof.sh.
 */
#include "hpcrun-lite/launch/copy/collect.h"

#include "common/base/log.h"
#include "common/base/vec.h"
#include "common/format/local_data.h"
#include "common/format/measurement.h"
#include "hpcrun-lite/launch/directory/node_local.h"
#include "hpcrun-lite/launch/directory/path_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
	char host[65];
	size_t n_copied, n_running, n_failed, n_without_target;
	uint64_t n_bytes;
	VEC(struct elsewhere) elsewhere;
};

static bool is_measurement(const char *name)
{
	size_t n = strlen(name), suffix = strlen(MSR_SUFFIX);
	return n > suffix && !strcmp(name + n - suffix, MSR_SUFFIX);
}

static size_t read_start(const char *path, void *to, size_t n_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
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
	c->n_without_target += r == COLLECT_NO_TARGET;
	c->n_failed += r == COLLECT_FAILED;
}

static enum collect_result collect_one(struct collection *c, const char *local, const char *target)
{
	uint64_t n_bytes = 0;
	enum collect_result r = collect_file(local, target, COLLECT_FOR_USER, &n_bytes);
	c->n_bytes += n_bytes;
	c->n_copied += n_bytes > 0 && r == COLLECT_DONE;
	count_left(c, r, target);
	return r;
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
	if (!path_in(target, PATH_MAX, c->directory, name) || !waits_for_data(target, &l))
		return;
	if (!strcmp(l.host, c->host)) {
		if (collect_one(c, l.path, target) != COLLECT_DONE)
			return;
		*strrchr(l.path, '/') = '\0';
		rmdir(l.path); /* if that was the last one */
	} else if (!note_elsewhere(c, &l))
		c->n_failed++;
}

/* Copies what is newer than its copy, because a child that wrote to the file was killed. */
static void collect_rest(struct collection *c, const char *local, const char *name)
{
	char from[PATH_MAX], target[PATH_MAX];
	if (path_in(from, PATH_MAX, local, name) && path_in(target, PATH_MAX, c->directory, name))
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

/* The directory was moved or removed after the run. */
static void say_without_target(const struct collection *c, const char *local)
{
	log_warn(c->directory,
		 "%zu file%s in %s belong to an earlier measurement directory of this name; "
		 "remove them, or run hpcrun-lite --collect on that one",
		 c->n_without_target, c->n_without_target == 1 ? "" : "s", local);
}

enum status collect_directory(const char *directory, const char *place)
{
	const char *places[NODE_LOCAL_PLACES];
	char real[PATH_MAX], local[PATH_MAX];
	struct collection c = {.directory = real};
	gethostname(c.host, sizeof c.host - 1);
	if (!realpath(directory, real) || !each_name(real, &c, in_directory)) {
		log_error(directory, "%s", strerror(errno));
		return STATUS_NOT_FOUND;
	}
	node_local_places(place, places);
	for (size_t i = 0; i < NODE_LOCAL_PLACES; i++)
		if (node_local_path(places[i], real, local, sizeof local)) {
			c.n_without_target = 0;
			each_name(local, &c, collect_rest);
			if (rmdir(local) != 0 && c.n_without_target)
				say_without_target(&c, local);
		}
	say_result(&c);
	enum status status = c.n_failed || c.elsewhere.n ? STATUS_IO : STATUS_OK;
	vec_free(&c.elsewhere);
	return status;
}

/* ---- the files of a process that ends ---- */

static void wait_for_end_of_input(void)
{
	char bytes[64];
	ssize_t n;
	do
		n = read(STDIN_FILENO, bytes, sizeof bytes);
	while (n > 0 || (n < 0 && errno == EINTR));
}

static bool read_header(const char *path, struct msr_header *h)
{
	return read_start(path, h, sizeof *h) == sizeof *h &&
	       memcmp(h->magic, MSR_MAGIC, sizeof h->magic) == 0;
}

static bool is_earlier_image(const struct msr_header *h, const struct msr_header *last)
{
	return h->pid == last->pid && h->process_start_ns == last->process_start_ns &&
	       h->exec_seq < last->exec_seq && h->exit_kind == MSR_EXIT_EXEC;
}

/*
 * A process that executes another program continues in another file: <stem>.hpcrun, <stem>.1.hpcrun
 * and so on; see space_create.
 */
static void collect_earlier_images(const char *target, const char *local,
				   const struct msr_header *last)
{
	char from[PATH_MAX], to[PATH_MAX], suffix[32] = "";
	struct msr_header h;
	const char *dash = strrchr(local, '-');
	const char *rest = dash ? strchr(dash, '.') : NULL;
	unsigned n = 0;
	if (!rest || sscanf(rest, ".%u.", &n) != 1)
		return;
	const int stem = (int)(rest - local), stem_to = (int)(strlen(target) - strlen(rest));
	for (unsigned i = 0; i < n; i++) {
		uint64_t n_bytes = 0;
		if (i)
			snprintf(suffix, sizeof suffix, ".%u", i);
		snprintf(from, sizeof from, "%.*s%s" MSR_SUFFIX, stem, local, suffix);
		snprintf(to, sizeof to, "%.*s%s" MSR_SUFFIX, stem_to, target, suffix);
		if (read_header(from, &h) && is_earlier_image(&h, last))
			collect_file(from, to, COLLECT_FOR_OWNER, &n_bytes);
	}
}

/* The copy in the directory shows this process as it was when the maker of the file ended. */
static void collect_left(const char *target, const char *left)
{
	char to[PATH_MAX];
	uint64_t n_bytes = 0;
	const char *name = strrchr(left, '/'), *slash = strrchr(target, '/');
	const int n = name && slash ? snprintf(to, sizeof to, "%.*s%s", (int)(slash - target),
					       target, name)
				    : -1;
	if (n > 0 && n < (int)sizeof to)
		collect_file(left, to, COLLECT_FOR_OWNER, &n_bytes);
}

enum status collect_process(const char *target, const char *local, const char *left)
{
	char place[PATH_MAX];
	struct msr_header last = {0};
	static struct local_data l;
	uint64_t n_bytes = 0;
	const char *slash = strrchr(local, '/');
	if (!slash)
		return STATUS_USAGE;
	wait_for_end_of_input();
	read_header(local, &last);
	const enum collect_result r = collect_file(local, target, COLLECT_FOR_OWNER, &n_bytes);
	/* If two processes end at the same time, the other one may have copied it. */
	if (r == COLLECT_RUNS || (r == COLLECT_GONE && !waits_for_data(target, &l)))
		return STATUS_OK;
	if (r != COLLECT_DONE)
		return STATUS_IO;
	collect_earlier_images(target, local, &last);
	if (left)
		collect_left(target, left);
	snprintf(place, sizeof place, "%.*s", (int)(slash - local), local);
	rmdir(place); /* if that was the last one */
	return STATUS_OK;
}
