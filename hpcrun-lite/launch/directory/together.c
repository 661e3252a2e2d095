/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether a run is in progress in a directory; see together.h. Test:
 * tests/cli/launch/launch_together.sh.
 */
#include "hpcrun-lite/launch/directory/together.h"

#include "common/format/local_data.h"
#include "common/format/measurement.h"
#include "hpcrun-lite/launch/directory/job.h"
#include "hpcrun-lite/launch/directory/rundir.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Reads the start of a regular file. Does not wait if it is a FIFO or a device. */
static size_t read_start(int directory, const char *name, void *to, size_t n_bytes)
{
	int fd = openat(directory, name,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n =
		fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, to, n_bytes) : -1;
	if (fd >= 0)
		close(fd);
	return n > 0 ? (size_t)n : 0;
}

static bool has_no_launcher(int directory)
{
	char text[1200];
	size_t n = read_start(directory, RUNDIR_JOB_FILE, text, sizeof text - 1);
	text[n] = 0;
	return strstr(text, JOB_ALONE_MARK);
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec t = {0};
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool together_is_running(const struct msr_header *h)
{
	char host[65] = "";
	uint64_t ticks;
	gethostname(host, sizeof host - 1);
	if (h->end_mono_ns || strncmp(h->host, host, sizeof h->host) != 0
		|| !job_process_start((long)h->pid, &ticks))
		return false;
	double start_s = (double)ticks / (double)sysconf(_SC_CLK_TCK);
	double written_s = ((double)h->start_mono_ns
				   + (double)(now_ns(CLOCK_BOOTTIME) - now_ns(CLOCK_MONOTONIC)))
		/ 1e9;
	return start_s < written_s + 0.1;
}

/* Reads the header of a measurement file, whose data may be on this node. */
static bool read_header(int directory, const char *name, struct msr_header *h)
{
	static union {
		char text[LOCAL_DATA_BYTES];
		struct msr_header header;
	} start;
	static struct local_data local;
	size_t n = read_start(directory, name, &start, sizeof start);
	if (local_data_read(start.text, n, &local))
		n = read_start(AT_FDCWD, local.path, &start, sizeof start);
	*h = start.header;
	return n >= sizeof *h && memcmp(h->magic, MSR_MAGIC, sizeof h->magic) == 0;
}

static bool is_measurement(const char *name)
{
	const size_t n = strlen(name), suffix = strlen(MSR_SUFFIX);
	return n > suffix && !strcmp(name + n - suffix, MSR_SUFFIX);
}

/* This works for files of other hosts too, whose processes are not visible here. */
static bool was_just_written(int directory, const char *name)
{
	struct stat st;
	return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_mtime >= time(NULL) - TOGETHER_S;
}

static bool is_in_progress(int directory, const char *name)
{
	struct msr_header h;
	if (!strcmp(name, RUNDIR_JOB_FILE))
		return was_just_written(directory, name);
	return is_measurement(name) &&
	       (was_just_written(directory, name) ||
		(read_header(directory, name, &h) && together_is_running(&h)));
}

bool together_is_over(const char *directory)
{
	DIR *d = opendir(directory);
	struct msr_header h;
	unsigned n = 0, n_ended = 0;
	for (struct dirent *e; d && n <= TOGETHER_FEW && (e = readdir(d));) {
		if (!is_measurement(e->d_name))
			continue;
		n++;
		n_ended += read_header(dirfd(d), e->d_name, &h) && h.end_mono_ns;
	}
	if (d)
		closedir(d);
	return n && n == n_ended;
}

bool together_is_going_on(const char *directory)
{
	DIR *d = opendir(directory);
	bool answer = false;
	if (d && has_no_launcher(dirfd(d)))
		for (struct dirent *e; !answer && (e = readdir(d));)
			answer = is_in_progress(dirfd(d), e->d_name);
	if (d)
		closedir(d);
	return answer;
}
