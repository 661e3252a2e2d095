/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies a measurement with what belongs to it; see archive.h. Only reads the measurement itself.
 */
#include "hpcprof-lite/archive.h"

#include "common/base/log.h"
#include "common/format/local_data.h"
#include "common/format/measurement_gpu.h"
#include "common/rights/inside.h"
#include "hpcprof-lite/database.h"
#include "hpcprof-lite/sink/cctdb/cctdb.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_BYTES = 1 << 20 };

struct counts {
	size_t n_files, n_structures, n_missing;
};

static enum status complain(const char *path)
{
	log_error(path, "cannot be written: %s", strerror(errno));
	return STATUS_IO;
}

/* ---- files ---- */

static bool write_all(int fd, const char *bytes, size_t n_bytes)
{
	while (n_bytes > 0) {
		ssize_t n = write(fd, bytes, n_bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		bytes += n;
		n_bytes -= (size_t)n;
	}
	return true;
}

/* Copies data and leaves holes: the files of a process that was killed have some. */
static bool copy_bytes(int from, int to, off_t n_bytes)
{
	static char buffer[COPY_BYTES];
	off_t at = 0;
	while (at < n_bytes) {
		off_t data = lseek(from, at, SEEK_DATA),
		      hole = data >= 0 ? lseek(from, data, SEEK_HOLE) : -1;
		if (data < 0 && errno == ENXIO)
			break; /* only a hole is left */
		if (data < 0 || hole < 0 || lseek(from, data, SEEK_SET) < 0 ||
			lseek(to, data, SEEK_SET) < 0)
			return false;
		for (at = data; at < hole;) {
			size_t most = hole - at < COPY_BYTES ? (size_t)(hole - at) : COPY_BYTES;
			ssize_t n = read(from, buffer, most);
			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0 || !write_all(to, buffer, (size_t)n))
				return false;
			if (n == 0)
				return ftruncate(to, at) == 0; /* it has become shorter */
			at += n;
		}
	}
	return ftruncate(to, n_bytes) == 0;
}

/* Opens the file, or the file on this node that has its data. Returns -1 and sets errno. */
static int open_data(const char *path, unsigned depth, struct stat *st)
{
	struct local_data l;
	char text[LOCAL_DATA_BYTES];
	int fd = inside_open(path, depth, st);
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text, 0);
	if (n <= 0 || !local_data_read(text, (size_t)n, &l) || !local_data_is_here(&l))
		return fd;
	close(fd);
	fd = local_data_open(&l, st->st_uid);
	if (fd < 0 || fstat(fd, st) == 0)
		return fd;
	close(fd);
	return -1;
}

/*
 * Leaves out, with a warning, what a stranger may have put there: links, and files of other owners.
 */
static enum status copy_file(const char *from, const char *to, unsigned depth, size_t *n_files)
{
	struct stat st;
	int in = open_data(from, depth, &st);
	const bool is_strange = in < 0 && (errno == ELOOP || errno == EPERM || errno == EINVAL);
	if (is_strange)
		log_warn(from, "left out: %s", inside_cause(errno));
	else if (in < 0)
		log_error(from, "%s", strerror(errno));
	if (in < 0)
		return is_strange ? STATUS_OK : STATUS_IO;
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 0777);
	bool ok = out >= 0 && copy_bytes(in, out, st.st_size);
	int cause = errno;
	close(in);
	if (out >= 0 && close(out) != 0 && ok) {
		cause = errno;
		ok = false;
	}
	errno = cause;
	*n_files += ok;
	return ok ? STATUS_OK : complain(to);
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);
	return n > m && strcmp(name + n - m, suffix) == 0;
}

/*
 * Copies the files of a directory whose names end in `suffix`. No directory counts as an empty one.
 * `depth`: how many components of their paths are inside the measurement.
 */
static enum status copy_directory(const char *from, const char *to, const char *suffix,
				  unsigned depth, size_t *n_files)
{
	int fd = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth > 1 ? O_NOFOLLOW : 0));
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	if (!d && errno == ENOENT)
		return STATUS_OK;
	if (!d && depth > 1 && (errno == ELOOP || errno == ENOTDIR)) {
		log_warn(from, "left out: is no directory of this measurement");
		return STATUS_OK;
	}
	if (!d) {
		log_error(from, "%s", strerror(errno));
		return STATUS_IO;
	}
	enum status status = mkdir(to, 0777) == 0 || errno == EEXIST ? STATUS_OK : complain(to);
	for (const struct dirent *e; status == STATUS_OK && (e = readdir(d));) {
		char source[PATH_MAX], target[PATH_MAX];
		if (e->d_name[0] == '.' || !has_suffix(e->d_name, suffix))
			continue;
		if (snprintf(source, sizeof source, "%s/%s", from, e->d_name) >=
				(int)sizeof source ||
			snprintf(target, sizeof target, "%s/%s", to, e->d_name) >=
				(int)sizeof target) {
			log_error(from, "the name is too long");
			status = STATUS_IO;
		} else {
			status = copy_file(source, target, depth, n_files);
		}
	}
	closedir(d);
	return status;
}

static enum status copy_measurement(const char *from, const char *to, struct counts *c)
{
	static const char *const folders[] = {MSR_GPU_CODE_DIRECTORY, "vdso"};
	char job[PATH_MAX], job_copy[PATH_MAX];
	size_t n = 0;
	enum status status = copy_directory(from, to, MSR_SUFFIX, 1, &c->n_files);
	if (status == STATUS_OK)
		status = copy_directory(from, to, MSR_JIT_MAP_SUFFIX, 1, &n);
	if (status == STATUS_OK)
		status = copy_directory(from, to, MSR_JIT_DUMP_SUFFIX, 1, &n);
	/* says which run the directory belongs to, so that no other run takes it for its own */
	if (status == STATUS_OK && snprintf(job, sizeof job, "%s/job", from) < (int)sizeof job &&
		faccessat(AT_FDCWD, job, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
		snprintf(job_copy, sizeof job_copy, "%s/job", to) < (int)sizeof job_copy)
		status = copy_file(job, job_copy, 1, &n);
	for (size_t i = 0; i < sizeof folders / sizeof folders[0] && status == STATUS_OK; i++) {
		char source[PATH_MAX], target[PATH_MAX];
		if (snprintf(source, sizeof source, "%s/%s", from, folders[i]) <
				(int)sizeof source &&
			snprintf(target, sizeof target, "%s/%s", to, folders[i]) <
				(int)sizeof target)
			status = copy_directory(source, target, "", 2, &n);
	}
	return status;
}

/* ---- structures ---- */

static enum status write_structure(const char *directory, const struct load_structure *l)
{
	char key[STRUCTURE_KEY_BYTES], path[PATH_MAX];
	load_structure_key(l, key);
	errno = ENAMETOOLONG;
	if (snprintf(path, sizeof path, "%s/%s" STRUCTURE_SUFFIX, directory, key) >=
		(int)sizeof path)
		return complain(directory);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	bool ok = fd >= 0 && write_all(fd, (const char *)l->map.bytes, l->map.n_bytes);
	if (fd >= 0 && (close(fd) != 0 || !ok))
		ok = false;
	return ok ? STATUS_OK : complain(path);
}

static enum status write_structures(const struct archive *a, const char *to, struct counts *c)
{
	char directory[PATH_MAX];
	errno = ENAMETOOLONG;
	if (snprintf(directory, sizeof directory, "%s/structs", to) >= (int)sizeof directory ||
		mkdir(directory, 0777) != 0)
		return complain(to);
	enum status status = STATUS_OK;
	for (size_t i = 0; i < a->n && status == STATUS_OK; i++) {
		const struct load_structure *l = &a->list[i];
		if (l->structure) {
			status = write_structure(directory, l);
			c->n_structures++;
			continue;
		}
		c->n_missing++;
		log_warn(l->path,
			 "structure missing: %s; its addresses stay without names wherever the "
			 "archive goes",
			 l->state == MODEL_STRUCTURE_CHANGED
				 ? "the file changed since the run"
				 : "there is none and none can be made");
	}
	return status;
}

/* ---- the whole ---- */

/* Gives the copy no more permissions than the measurement has. */
static void narrow(const char *path, const char *measurement)
{
	struct stat from, to;
	if (stat(measurement, &from) == 0 && stat(path, &to) == 0 &&
		(to.st_mode & 0777 & ~from.st_mode) != 0 &&
		chmod(path, to.st_mode & from.st_mode & 0777) != 0)
		log_warn(path, "its permissions cannot be set: %s", strerror(errno));
}

static enum status write_sources(const struct archive *a, struct database *d, size_t *n)
{
	struct sink_options o = {.directory = d->partial,
				 .source_dirs = a->source_dirs,
				 .n_source_dirs = a->n_source_dirs,
				 .is_private = &d->is_private};
	struct cctdb_sources s;
	enum status status = cctdb_copy_sources(a->m, &o, &s);
	*n = 0;
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < s.n; i++)
		*n += s.relative[i] != NULL;
	cctdb_sources_free(&s);
	return STATUS_OK;
}

enum status archive_write(const struct archive *a)
{
	struct database d = {0};
	struct counts c = {0};
	size_t n_sources = 0;
	enum status status = database_begin(&d, a->path, a->measurement, a->m->title);
	/*
	 * until it is complete, only we can read it, and we can write it even if the measurement is
	 * read-only
	 */
	if (status == STATUS_OK)
		status = copy_measurement(a->measurement, d.partial, &c);
	if (status == STATUS_OK)
		status = write_structures(a, d.partial, &c);
	if (status == STATUS_OK && !a->no_sources)
		status = write_sources(a, &d, &n_sources);
	if (status == STATUS_OK)
		status = database_commit(&d);
	if (status == STATUS_OK)
		narrow(d.path, a->measurement);
	if (status == STATUS_OK)
		log_note(d.path,
			 "archive of %zu measurement files, %zu structures (%zu missing) and %zu "
			 "source files",
			 c.n_files, c.n_structures, c.n_missing, n_sources);
	database_end(&d);
	return status;
}
