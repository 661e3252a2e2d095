/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement directory; see rundir.h. It is prepared under a private name, with the file that
 * identifies its run, and then renamed. rename(2) replaces nothing or an empty directory, never one
 * in use, so it decides which rank wins. Test: tests/cli/launch/launch_dir.sh.
 */
#include "hpcrun-lite/launch/directory/rundir.h"

#include "common/base/log.h"
#include "common/format/measurement.h"
#include "hpcrun-lite/launch/directory/path_in.h"
#include "hpcrun-lite/launch/directory/together.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NUMBER 100000
#define MARK_HEAD "hpctoolkit-lite measurement directory\nrun:"

enum verdict { OURS, FOREIGN, UNMARKED, FAILED };

static size_t mark_text(const struct job *job, char *text, size_t bytes)
{
	int n = snprintf(text, bytes, "%s%s\n", MARK_HEAD, job->identity);
	return n < 0 || (size_t)n >= bytes ? bytes - 1 : (size_t)n;
}

/* Writes the mark to `path`, which must not exist. Sets errno on failure. */
static bool write_mark(const char *path, const struct job *job)
{
	char text[sizeof job->identity + 64];
	size_t n = mark_text(job, text, sizeof text);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return false;
	ssize_t done = write(fd, text, n);
	int saved = done < 0 ? errno : ENOSPC;
	if (close(fd) != 0 && done == (ssize_t)n) {
		saved = errno;
		done = -1;
	}
	errno = saved;
	return done == (ssize_t)n;
}

static bool holds_measurement(const char *directory)
{
	DIR *d = opendir(directory);
	bool found = false;
	for (struct dirent *e; d && !found && (e = readdir(d));) {
		size_t n = strlen(e->d_name), suffix = strlen(MSR_SUFFIX);
		found = n > suffix && !strcmp(e->d_name + n - suffix, MSR_SUFFIX);
	}
	if (d)
		closedir(d);
	return found;
}

/* Finds out which run an existing directory belongs to. */
static enum verdict read_mark(const char *directory, const struct job *job)
{
	char path[PATH_MAX], text[sizeof job->identity + 64], want[sizeof text];
	if (!path_in(path, sizeof path, directory, RUNDIR_JOB_FILE))
		return FAILED;
	/* it may be a FIFO */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? UNMARKED : FOREIGN;
	ssize_t n = read(fd, text, sizeof text);
	close(fd);
	size_t want_n = mark_text(job, want, sizeof want);
	return n == (ssize_t)want_n && !memcmp(text, want, want_n) ? OURS : FOREIGN;
}

/* Creates the directory with its mark. Fails with EEXIST or ENOTEMPTY if the name is taken. */
static bool create(const char *directory, const struct job *job)
{
	char fresh[PATH_MAX], mark[PATH_MAX];
	char host[65] = "";
	gethostname(host, sizeof host - 1);
	int n = snprintf(fresh, sizeof fresh, "%s.new-%s-%ld", directory, host, (long)getpid());
	if (n < 0 || (size_t)n >= sizeof fresh ||
	    !path_in(mark, sizeof mark, fresh, RUNDIR_JOB_FILE)) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (mkdir(fresh, 0777) != 0)
		return false;
	if (write_mark(mark, job) && rename(fresh, directory) == 0)
		return true;
	int saved = errno;
	unlink(mark);
	rmdir(fresh);
	errno = saved;
	return false;
}

/* Writes our mark into a user's directory that has none. The first rank wins. */
static enum verdict mark_existing(const char *directory, const struct job *job)
{
	char fresh[PATH_MAX], mark[PATH_MAX], name[128], host[65] = "";
	gethostname(host, sizeof host - 1);
	snprintf(name, sizeof name, RUNDIR_JOB_FILE ".new-%s-%ld", host, (long)getpid());
	if (!path_in(fresh, sizeof fresh, directory, name) ||
	    !path_in(mark, sizeof mark, directory, RUNDIR_JOB_FILE))
		return FAILED;
	bool linked = write_mark(fresh, job) && link(fresh, mark) == 0;
	int saved = errno;
	unlink(fresh);
	if (linked)
		return OURS;
	errno = saved;
	return saved == EEXIST ? read_mark(directory, job) : FAILED;
}

static bool starter_path(char *path, size_t bytes, const char *directory, const struct job *job)
{
	char name[sizeof job->starter + 16];
	snprintf(name, sizeof name, "job.agent-%s", job->starter);
	return job->starter[0] && path_in(path, bytes, directory, name);
}

static void note_starter(const char *directory, const struct job *job)
{
	char path[PATH_MAX];
	if (!starter_path(path, sizeof path, directory, job))
		return;
	int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	if (fd >= 0)
		close(fd);
}

/*
 * Two runs may have the same identity (JOB_CLAIMED). They are distinguished by rank, because each
 * rank can occur only once in a run.
 */
static bool claim(const char *directory, const struct job *job)
{
	char path[PATH_MAX], name[64];
	if (job->scope != JOB_CLAIMED)
		return true;
	snprintf(name, sizeof name, "job.rank-%d", job->rank);
	int fd = path_in(path, sizeof path, directory, name)
			 ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
			 : -1;
	if (fd < 0)
		return errno != EEXIST;
	close(fd);
	note_starter(directory, job);
	return true;
}

/*
 * True if the process that started this rank has already started ranks in this directory. Then it
 * is the same run, even if ranks are started again because one failed. A rank that is here for the
 * first time claims its number.
 */
static bool is_of_our_starter(const char *directory, const struct job *job)
{
	char path[PATH_MAX];
	if (!starter_path(path, sizeof path, directory, job) || access(path, F_OK) != 0)
		return false;
	(void)claim(directory, job);
	return true;
}

/*
 * All ranks but the first few find the directory and only read its mark, because file servers are
 * slow to create thousands of directories and files in one directory.
 */
static enum verdict take(const char *directory, const struct job *job)
{
	if (is_of_our_starter(directory, job))
		return OURS;
	enum verdict v = access(directory, F_OK) == 0 ? read_mark(directory, job) : UNMARKED;
	if (v == UNMARKED && create(directory, job)) {
		v = OURS;
	} else if (v == UNMARKED) {
		if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
			return FAILED;
		v = read_mark(directory, job);
	}
	return v == OURS && !claim(directory, job) ? FOREIGN : v;
}

static enum status fail(const char *directory)
{
	log_error(directory, "cannot create the measurement directory (%s); choose another with -o",
		strerror(errno));
	return STATUS_IO;
}

/* The user's directory may exist, and may contain other files. */
static enum verdict take_named(const char *directory, const struct job *job)
{
	struct stat st;
	bool exists = stat(directory, &st) == 0;
	if (exists && !S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return FAILED;
	}
	if (exists && is_of_our_starter(directory, job))
		return OURS;
	enum verdict v = exists ? read_mark(directory, job) : take(directory, job);
	if (v == UNMARKED)
		v = holds_measurement(directory) ? FOREIGN : mark_existing(directory, job);
	if (exists && v == OURS && !claim(directory, job))
		v = FOREIGN;
	return v;
}

/*
 * Tries "out", then "out-2" and so on while an earlier run has the name. The rank that chooses
 * another name than the user's prints a warning.
 */
static enum status choose_named(
	const char *wanted, const struct job *job, char *directory, size_t bytes)
{
	char base[PATH_MAX];
	const char *slash = strrchr(wanted, '/'), *last = slash ? slash + 1 : wanted;
	bool is_dots = !strcmp(last, ".") || !strcmp(last, "..");
	if (!is_dots || !realpath(wanted, base))
		snprintf(base, sizeof base, "%s", wanted);
	for (int number = 1; number <= MAX_NUMBER; number++) {
		int n = number == 1 ? snprintf(directory, bytes, "%s", wanted)
				    : snprintf(directory, bytes, "%s-%d", base, number);
		if (n < 0 || (size_t)n >= bytes) {
			errno = ENAMETOOLONG;
			return fail(wanted);
		}
		enum verdict v = take_named(directory, job);
		if (v == OURS && number > 1 && job->rank <= 0)
			log_warn(wanted,
				"contains the measurement of another run; this run writes to %s",
				directory);
		if (v == OURS)
			return STATUS_OK;
		if (v == FOREIGN && job->scope == JOB_ALONE && together_is_going_on(directory)) {
			if (together_is_over(directory))
				log_note(
					directory,
					"holds a run that has just ended; this run is added to it, "
					"and hpcprof-lite reads both together");
			return STATUS_OK;
		}
		if (v == FAILED)
			return fail(directory);
	}
	errno = EEXIST;
	return fail(wanted);
}

static enum status take_numbered(const char *base, const struct job *job, char *directory,
				 size_t bytes)
{
	for (int number = 1; number <= MAX_NUMBER; number++) {
		if (number == 1)
			snprintf(directory, bytes, "%s", base);
		else
			snprintf(directory, bytes, "%s-%d", base, number);
		enum verdict v = take(directory, job);
		if (v == OURS)
			return STATUS_OK;
		if (v == FAILED)
			return fail(directory);
	}
	errno = EEXIST;
	return fail(base);
}

enum status rundir_open(const char *wanted, const char *program, const struct job *job, char *path,
			size_t path_bytes)
{
	char directory[PATH_MAX], base[512], absolute[PATH_MAX], name[PATH_MAX];
	enum status status;
	if (wanted) {
		size_t n = strlen(wanted);
		while (n > 1 && wanted[n - 1] == '/')
			n--;
		if (n >= sizeof name) {
			errno = ENAMETOOLONG;
			return fail(wanted);
		}
		memcpy(name, wanted, n);
		name[n] = 0;
		struct job named = *job;
		if (job->scope == JOB_NODE) { /* all nodes use this name */
			named.identity[job->common_bytes] = 0;
			named.scope = JOB_CLAIMED;
		}
		status = choose_named(name, &named, directory, sizeof directory);
	} else {
		const char *slash = strrchr(program, '/');
		snprintf(base, sizeof base, "hpctoolkit-lite-%.200s-measurements%s%s",
			 slash ? slash + 1 : program, job->name[0] ? "-" : "", job->name);
		status = take_numbered(base, job, directory, sizeof directory);
	}
	if (status != STATUS_OK)
		return status;
	if (!realpath(directory, absolute) || strlen(absolute) >= path_bytes ||
	    access(absolute, W_OK | X_OK) != 0) {
		if (strlen(absolute) >= path_bytes)
			errno = ENAMETOOLONG;
		return fail(directory);
	}
	snprintf(path, path_bytes, "%s", absolute);
	return STATUS_OK;
}
