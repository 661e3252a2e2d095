/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_list.h. Test: tests/unit/prof/test_load.c, tests/cli/prof/prof_cli.sh. */
#include "hpcprof-lite/load/job/load_list.h"

#include "common/base/log.h"
#include "common/format/measurement.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_suffix(const char *name)
{
	size_t n = strlen(name), m = strlen(MSR_SUFFIX);
	return n > m && strcmp(name + n - m, MSR_SUFFIX) == 0;
}

static enum status add_path(struct load_list *l, const char *directory, const char *name)
{
	struct stat st = {0};
	char *path;
	if (asprintf(&path, "%s/%s", directory, name) < 0) {
		log_error(directory, "out of memory");
		return STATUS_NO_MEMORY;
	}
	struct load_listed *slot = NULL;
	const bool is_there = lstat(path, &st) == 0;
	const bool known =
		is_there && (map_get(&l->seen, st.st_dev, st.st_ino) != MAP_NONE ||
			     (l->skipped && map_get(l->skipped, st.st_dev, st.st_ino) != MAP_NONE));
	if (!known) {
		map_put(&l->seen, st.st_dev, st.st_ino, 0);
		slot = vec_push(&l->files);
		if (slot)
			*slot = (struct load_listed){path, (uint64_t)st.st_size};
	}
	if (!slot)
		free(path);
	if (!slot && !known) {
		log_error(directory, "out of memory");
		return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
}

static bool holds(const char *directory, size_t n, const char *name)
{
	char path[PATH_MAX];
	return (size_t)snprintf(path, sizeof path, "%.*s/%s", (int)n, directory, name) <
		       sizeof path &&
	       access(path, F_OK) == 0;
}

/* True, and says so, if `path` is a database of ours or a file in one. */
static bool is_database(const char *path)
{
	struct stat st;
	const char *slash = strrchr(path, '/'), *directory = path;
	size_t n = strlen(path);
	if (stat(path, &st) != 0)
		return false;
	if (!S_ISDIR(st.st_mode)) {
		directory = slash ? path : ".";
		n = slash ? (size_t)(slash - path) : 1;
	}
	const bool has_page = holds(directory, n, "report.html");
	if (!has_page && !holds(directory, n, "meta.db"))
		return false;
	log_error(path,
		  "this is a database that hpcprof-lite wrote, not a measurement; %s%.*s%sgive the "
		  "directory that hpcrun-lite wrote",
		  has_page ? "open " : "", has_page ? (int)n : 0, directory,
		  has_page ? "/report.html, or " : "");
	return true;
}

static enum status list_directory(struct load_list *l, const char *directory)
{
	DIR *d = opendir(directory);
	if (!d) {
		const int error = errno;
		if (!is_database(directory))
			log_error(directory, "%s", strerror(error));
		return STATUS_IO;
	}
	size_t n_before = l->files.n, n_found = 0;
	enum status s = STATUS_OK;
	for (struct dirent *e; s == STATUS_OK && (e = readdir(d));) {
		if (!has_suffix(e->d_name))
			continue;
		n_found++;
		s = add_path(l, directory, e->d_name);
	}
	closedir(d);
	if (s == STATUS_OK && n_found == 0) {
		if (!is_database(directory))
			log_error(directory,
				  "no measurement files (*" MSR_SUFFIX ") in this directory");
		return STATUS_NOT_FOUND;
	}
	if (s == STATUS_OK && l->files.n == n_before && !l->skipped)
		log_warn(directory, "named twice; its files count once");
	return s;
}

enum status load_list_directories(char *const *directories, size_t n, struct load_list *l)
{
	enum status s = STATUS_OK;
	for (size_t i = 0; s == STATUS_OK && i < n; i++)
		s = list_directory(l, directories[i]);
	return s;
}

/* ---- order ---- */

/* A parsed name: <rank>-<host>-<pid>[.n]. "norank" comes first. */
struct name {
	long rank, pid;
	const char *host;
	size_t n; /* length of the host's name */
};

static struct name split(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path,
		   *last = strrchr(name, '-');
	char *end;
	struct name s = {.rank = strtol(name, &end, 10), .host = end};
	if (end == name)
		s.rank = -1;
	s.pid = last ? strtol(last + 1, NULL, 10) : 0;
	s.n = last && last > end ? (size_t)(last - end) : strlen(end);
	return s;
}

static int compare_names(const void *pa, const void *pb)
{
	const char *path_a = ((const struct load_listed *)pa)->path,
		   *path_b = ((const struct load_listed *)pb)->path;
	const struct name a = split(path_a), b = split(path_b);
	int c = (a.rank > b.rank) - (a.rank < b.rank);
	if (c == 0)
		c = strncmp(a.host, b.host, a.n < b.n ? a.n : b.n);
	if (c == 0)
		c = (a.n > b.n) - (a.n < b.n);
	if (c == 0)
		c = (a.pid > b.pid) - (a.pid < b.pid);
	if (c == 0) /* the name with .1 of the same process comes later */
		c = (strlen(a.host) > strlen(b.host)) - (strlen(a.host) < strlen(b.host));
	return c ? c : strcmp(path_a, path_b);
}

void load_list_sort(struct load_list *l)
{
	if (l->files.n)
		qsort(l->files.at, l->files.n, sizeof *l->files.at, compare_names);
}

uint64_t load_list_n_bytes(const struct load_list *l)
{
	uint64_t n = 0;
	for (size_t i = 0; i < l->files.n; i++)
		n += l->files.at[i].n_bytes;
	return n;
}

void load_list_free(struct load_list *l)
{
	for (size_t i = 0; i < l->files.n; i++)
		free(l->files.at[i].path);
	vec_free(&l->files);
	map_free(&l->seen);
}
