/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the perf map and the jitdump of a process. The run time copies them beside the measurement
 * file when the process ends. But some programs write the rest of them still later, and a process
 * that was killed leaves no copy. So the original is used if it begins with the copy. Without a
 * copy, it is used if it can belong to no other process: same host, same owner as the measurement,
 * and last written while the process ran. Process ids are reused. Test: tests/cli/jit/jit_files.sh.
 */
#include "hpcprof-lite/load/jit/load_jit.h"

#include "common/base/log.h"
#include "common/rights/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
/* how long the process may write after the run time in it has ended */
#define LATE_NS (10 * SECOND_NS)
#define MAX_BYTES (UINT64_C(1) << 30)

struct content {
	uint8_t *bytes; /* owned; NULL: no file */
	size_t n_bytes;
	mode_t mode;
	bool no_memory;
	bool is_original;
};

/* What a file must be to belong to the process. */
struct belonging {
	uid_t owner;
	uint64_t from_ns, to_ns; /* CLOCK_REALTIME */
};

static uint64_t mtime_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * SECOND_NS + (uint64_t)st->st_mtim.tv_nsec;
}

static void read_content(int fd, size_t n_bytes, struct content *to)
{
	to->bytes = malloc(n_bytes + 1);
	to->no_memory = !to->bytes;
	while (to->bytes && to->n_bytes < n_bytes) {
		ssize_t n = pread(fd, to->bytes + to->n_bytes, n_bytes - to->n_bytes,
				  (off_t)to->n_bytes);
		if (n > 0)
			to->n_bytes += (size_t)n;
		else if (n == 0 || errno != EINTR)
			break;
	}
}

/* Reads a file. `b` NULL: it is the copy beside the measurement. */
static struct content read_file(const char *path, const struct belonging *b)
{
	struct content c = {0};
	struct stat st;
	int fd = b ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
		   : inside_open(path, 1, &st);
	if (fd < 0) {
		if (!b && errno != ENOENT)
			log_warn(path, "%s", inside_cause(errno));
		return c;
	}
	bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
	if (ok && b && (st.st_uid != b->owner || mtime_ns(&st) < b->from_ns
		|| mtime_ns(&st) > b->to_ns)) {
		log_detail(path,
			   "is not of the process that was measured (owner or time); not used");
		ok = false;
	}
	if (ok && (uint64_t)st.st_size > MAX_BYTES) {
		log_warn(path, "has more than 1 GiB; not used, generated code has no names");
		ok = false;
	}
	if (ok)
		read_content(fd, (size_t)st.st_size, &c);
	c.mode = ok ? st.st_mode & 0666 : 0;
	c.is_original = b != NULL;
	close(fd);
	return c;
}

/* Reads the copy beside the measurement file. */
static struct content read_copy(const struct load_file *f, const char *suffix)
{
	char path[PATH_MAX];
	size_t n = strlen(f->path) - strlen(MSR_SUFFIX);
	if (snprintf(path, sizeof path, "%.*s%s", (int)n, f->path, suffix) >= (int)sizeof path)
		return (struct content){0};
	return read_file(path, NULL);
}

/*
 * Copies an original to the measurement, as the run time does at the end of a process, because
 * files in /tmp are soon deleted. If that fails, the names are still used this time. Root writes
 * nothing into another user's directory, because that user could put a link there.
 */
static void keep(const struct load_file *f, const char *suffix, const struct content *c)
{
	char path[PATH_MAX], partial[PATH_MAX];
	size_t n = strlen(f->path) - strlen(MSR_SUFFIX), done = 0;
	if (!c->is_original || geteuid() != f->map.owner)
		return;
	int a = snprintf(path, sizeof path, "%.*s%s", (int)n, f->path, suffix);
	int b = snprintf(partial, sizeof partial, "%s.%d", path, (int)getpid());
	if (a >= (int)sizeof path || b >= (int)sizeof partial)
		return;
	int fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, c->mode);
	if (fd < 0)
		return;
	for (ssize_t put = 1; done < c->n_bytes && put > 0; done += put > 0 ? (size_t)put : 0)
		put = write(fd, c->bytes + done, c->n_bytes - done);
	if (close(fd) != 0 || done < c->n_bytes || rename(partial, path) != 0)
		unlink(partial);
}

/* False if the process ran on another machine, whose files we cannot see. */
static bool find_belonging(const struct load_file *f, struct belonging *b)
{
	struct utsname here;
	uint64_t last_ns = f->header.end_real_ns;
	if (uname(&here) != 0 || strcmp(here.nodename, f->header.host) != 0)
		return false;
	if (!last_ns)
		/* the process was killed; this is when it last recorded */
		last_ns = f->map.mtime_ns;
	uint64_t start_ns = f->header.start_real_ns;
	*b = (struct belonging){f->map.owner, start_ns > SECOND_NS ? start_ns - SECOND_NS : 0,
		last_ns + LATE_NS};
	return true;
}

/* Takes the original instead of the copy if it begins with the copy and is longer. */
static void prefer_longer(struct content *copy, struct content original)
{
	bool take = original.bytes && original.n_bytes > copy->n_bytes
		&& (!copy->bytes || memcmp(original.bytes, copy->bytes, copy->n_bytes) == 0);
	bool no_memory = copy->no_memory || original.no_memory;
	if (take) {
		free(copy->bytes);
		*copy = original;
	} else {
		free(original.bytes);
	}
	copy->no_memory = no_memory;
}

static void look_in(struct content *c, const char *directory, uint32_t pid,
	const struct belonging *b)
{
	char path[PATH_MAX];
	if (directory && directory[0] == '/'
		&& snprintf(path, sizeof path, "%s/perf-%u.map", directory, pid) < (int)sizeof path)
		prefer_longer(c, read_file(path, b));
}

bool jit_load(const struct load_file *f, struct jit_names *names)
{
	if (!f->path || strlen(f->path) < strlen(MSR_SUFFIX))
		return true;
	struct content map = read_copy(f, MSR_JIT_MAP_SUFFIX),
		       dump = read_copy(f, MSR_JIT_DUMP_SUFFIX);
	struct belonging b;
	if (find_belonging(f, &b)) {
		look_in(&map, "/tmp", f->header.pid, &b);
		look_in(&map, getenv("TMPDIR"), f->header.pid, &b);
		if (f->jitdump)
			prefer_longer(&dump, read_file(f->jitdump, &b));
	}
	keep(f, MSR_JIT_MAP_SUFFIX, &map);
	keep(f, MSR_JIT_DUMP_SUFFIX, &dump);
	bool ok = !map.no_memory && !dump.no_memory;
	ok = ok && (!dump.bytes || jit_read_dump(names, dump.bytes, dump.n_bytes))
		&& (!map.bytes || jit_read_map(names, map.bytes, map.n_bytes));
	free(map.bytes);
	free(dump.bytes);
	jit_sort(names);
	return ok;
}
