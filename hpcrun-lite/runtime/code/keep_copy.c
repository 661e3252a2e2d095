/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies binaries into the measurement, in a process beside the program that shares its memory; see
 * keep.h. Reads the table of modules without the lock, because the members that it uses are
 * constant. Makes system calls only. Test: tests/cli/run/run_gone.sh.
 */
#include "common/format/measurement.h"
#include "common/safe/content_hash.h"
#include "common/safe/newer.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/runtime/beside.h"
#include "hpcrun-lite/runtime/code/keep_internal.h"
#include "hpcrun-lite/runtime/code/maps.h"
#include "hpcrun-lite/runtime/code/module_internal.h"
#include "hpcrun-lite/runtime/process.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

static struct {
	struct maps_room room;
	struct maps_line line; /* the mapping of the file; start 0: none */
	uint64_t address;
	_Alignas(8) char buffer[65536];
	char path[PATH_MAX];
	int directory;         /* of the copies */
} copy;

/* ---- the file ---- */

static bool take_line(const struct maps_line *line, void *unused)
{
	(void)unused;
	if (copy.address < line->start || copy.address >= line->end)
		return true;
	copy.line = *line;
	return false;
}

/* Finds the mapping at the start of the module. */
static bool find_mapping(const struct keep_file *f)
{
	copy.line.start = 0;
	copy.address = module_start_of(f->module);
	if (copy.address)
		maps_each(&copy.room, UINT64_MAX, take_line, NULL);
	return copy.line.start != 0;
}

/* Finds a descriptor of a library that has no name any more: the program may still have it open. */
static void find_descriptor(struct keep_file *f)
{
	const int list = find_mapping(f) ? sys_open("/proc/self/fd", O_RDONLY | O_DIRECTORY, 0)
					 : -1;
	for (long got; list >= 0 && f->fd < 0 &&
		       (got = sys_call3(SYS_getdents64, list, (long)copy.buffer,
					sizeof copy.buffer)) > 0;)
		for (long at = 0; at < got;) {
			const struct linux_dirent64 *d = (const void *)(copy.buffer + at);
			struct stat st;
			int fd = 0;
			for (const char *p = d->d_name; *p >= '0' && *p <= '9'; p++)
				fd = fd * 10 + (*p - '0');
			if (d->d_name[0] != '.' && sys_call3(SYS_fstat, fd, (long)&st, 0) == 0 &&
			    st.st_ino == copy.line.inode &&
			    st.st_dev == makedev(copy.line.major, copy.line.minor))
				f->fd = fd;
			at += d->d_reclen;
		}
	if (list >= 0)
		sys_close(list);
}

/* Closes the program's other descriptors, so that no reader waits for the end of its pipes. */
static void close_others(void)
{
	for (int low = 0;;) {
		int next = -1;
		for (uint32_t i = 0; i < keep_list.n; i++) {
			const int fd = keep_list.file[i].fd;
			if (fd >= low && (next < 0 || fd < next))
				next = fd;
		}
		if (next < 0) {
			beside_close_from(low);
			return;
		}
		if (next > low)
			newer_close_range(low, next - 1);
		low = next + 1;
	}
}

static bool is_of(int fd, const struct module *m)
{
	struct stat st;
	return sys_call3(SYS_fstat, fd, (long)&st, 0) == 0 && module_is_file(m, &st);
}

/* Opens the file through the kernel's link to the mapped file, which only root may follow. */
static int open_mapping(const struct keep_file *f)
{
	struct text t = text_in(copy.path, sizeof copy.path);
	if (!find_mapping(f))
		return -1;
	text_put(&t, "/proc/self/map_files/");
	text_put_hex_number(&t, copy.line.start);
	text_put_char(&t, '-');
	text_put_hex_number(&t, copy.line.end);
	return sys_open(copy.path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
}

static int open_file(const struct keep_file *f)
{
	const struct module *m = module_at(f->module);
	if (f->fd >= 0)
		return f->fd;
	if (module_is_exe(m))
		return sys_open(MODULE_EXE, O_RDONLY, 0);
	const int fd = sys_open(m->path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd >= 0 && is_of(fd, m))
		return fd;
	if (fd >= 0)
		sys_close(fd);
	return open_mapping(f);
}

/* ---- the copy ---- */

static const void *read_piece(void *fd, uint64_t at, size_t n)
{
	return sys_pread(*(const int *)fd, copy.buffer, n, at) == (long)n ? copy.buffer : NULL;
}

static bool copy_bytes(int to, int from, uint64_t n_bytes)
{
	for (uint64_t at = 0; at < n_bytes;) {
		const long got = sys_pread(from, copy.buffer, sizeof copy.buffer, at);
		if (got <= 0)
			return false;
		for (long done = 0; done < got;) {
			const long put = sys_write(to, copy.buffer + done, (size_t)(got - done));
			if (put <= 0)
				return false;
			done += put;
		}
		at += (uint64_t)got;
	}
	return true;
}

/* Does not follow a symbolic link that another user may have put in place of the directory. */
static bool open_directory(void)
{
	struct text t = text_in(copy.path, sizeof copy.path);
	text_put(&t, process.config.directory);
	text_put(&t, "/" MSR_KEPT_DIRECTORY);
	sys_call3(SYS_mkdirat, AT_FDCWD, (long)copy.path, 0777);
	copy.directory =
		t.cut ? -1 : sys_open(copy.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	return copy.directory >= 0;
}

/* The copy appears by rename. It has the original's time of modification, which identifies it. */
static bool write_copy(int from, const struct stat *st, const char *name)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, st->st_mtim};
	char draft[32];
	struct text t = text_in(draft, sizeof draft);
	text_put(&t, ".draft-");
	text_put_u64(&t, (uint64_t)sys_getpid());
	sys_call3(SYS_unlinkat, copy.directory, (long)draft, 0);
	const int to = (int)sys_call4(SYS_openat, copy.directory, (long)draft,
				      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (to < 0)
		return false;
	const bool ok = sys_call3(SYS_fchmod, to, 0600, 0) == 0 &&
			copy_bytes(to, from, (uint64_t)st->st_size) &&
			sys_call4(SYS_utimensat, to, 0, (long)times, 0) == 0 &&
			sys_call4(SYS_renameat, copy.directory, (long)draft, copy.directory,
				  (long)name) == 0;
	if (!ok)
		sys_call3(SYS_unlinkat, copy.directory, (long)draft, 0);
	sys_close(to);
	return ok;
}

/* Leaves space for what the program and its samples still have to write. */
static bool has_space(uint64_t n_bytes)
{
	struct statfs fs;
	return sys_call3(SYS_fstatfs, copy.directory, (long)&fs, 0) != 0 ||
	       fs.f_bavail * (uint64_t)fs.f_bsize >= n_bytes + KEEP_MOST_BYTES;
}

static enum keep_result keep(struct keep_file *f, int from)
{
	const struct module *m = module_at(f->module);
	char name[MSR_KEPT_NAME_BYTES];
	struct stat st;
	if (sys_call3(SYS_fstat, from, (long)&st, 0) != 0 || !S_ISREG(st.st_mode) ||
	    (m->inode && !module_is_file(m, &st)))
		return KEEP_FAILED;
	const uint64_t n_bytes = (uint64_t)st.st_size;
	f->content = m->id_bytes ? 0 : m->content;
	if (!m->id_bytes && !f->content)
		f->content = content_hash(n_bytes, read_piece, &from);
	if (!msr_kept_name(name, m->id, m->id_bytes, f->content))
		return KEEP_FAILED;
	if (sys_call3(SYS_faccessat, copy.directory, (long)name, 0 /* F_OK */) == 0)
		return KEEP_KEPT; /* nearly always another process has made it */
	if (n_bytes > KEEP_MOST_BYTES - keep_list.n_bytes)
		return KEEP_TOO_LARGE;
	if (!has_space(n_bytes) || !write_copy(from, &st, name))
		return KEEP_FAILED;
	keep_list.n_bytes += n_bytes;
	return KEEP_KEPT;
}

void keep_copy(void)
{
	/* this process keeps the memory of the program alive */
	sys_call3(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
	for (uint32_t i = 0; i < keep_list.n; i++) {
		struct keep_file *f = &keep_list.file[i];
		const struct module *m = module_at(f->module);
		if (f->fd < 0 && !m->inode && !module_is_exe(m))
			find_descriptor(f);
	}
	close_others();
	for (uint32_t i = 0; i < keep_list.n && (i > 0 || open_directory()); i++) {
		struct keep_file *f = &keep_list.file[i];
		const int from = open_file(f);
		if (from >= 0) {
			f->result = keep(f, from);
			sys_close(from);
		}
	}
	beside_exit(0);
}
