/* SPDX-License-Identifier: BSD-3-Clause */
/* See target.h. proc(5), elf(5). Test: tests/cli/attach/attach_refused.sh. */
#include "hpcrun-lite/launch/attach/target.h"

#include "common/base/log.h"
#include "common/safe/exec_image.h"
#include "common/safe/library_symbol.h"
#include "common/safe/newer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- /proc ---- */

/* Reads a small file of the process into `text`, NUL-terminated. Returns false if there is none. */
static bool read_file(char *text, size_t n_bytes, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	const ssize_t n = read(fd, text, n_bytes - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The value of a line "Name:\tvalue" of a status file; 0 if there is none. */
static uint64_t field(const char *status, const char *name, int base)
{
	const char *at = strstr(status, name);
	return at ? strtoull(at + strlen(name), NULL, base) : 0;
}

static char state_of(const char *status)
{
	const char *at = strstr(status, "\nState:\t");
	return at ? at[8] : '?';
}

bool target_thread_look(const struct target *t, pid_t tid, struct target_thread *thread)
{
	char path[64], text[4096];
	snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)t->pid, (int)tid);
	if (!read_file(text, sizeof text, path))
		return false;
	thread->state = state_of(text);
	thread->blocked = field(text, "\nSigBlk:\t", 16);
	thread->pending = field(text, "\nSigPnd:\t", 16) | field(text, "\nShdPnd:\t", 16);
	snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)t->pid, (int)tid);
	thread->call = read_file(text, sizeof text, path) && text[0] >= '0' && text[0] <= '9'
			       ? strtol(text, NULL, 10)
			       : -1;
	return true;
}

bool target_each_thread(const struct target *t, target_thread_fn *fn, void *arg)
{
	char path[64];
	bool done = false;
	snprintf(path, sizeof path, "/proc/%d/task", (int)t->pid);
	DIR *directory = opendir(path);
	for (struct dirent *e; directory && !done && (e = readdir(directory));)
		if (e->d_name[0] != '.')
			done = fn(t, atoi(e->d_name), arg);
	if (directory)
		closedir(directory);
	return done;
}

/* ---- memory ---- */

bool target_read(const struct target *t, uintptr_t at, void *to, size_t n_bytes)
{
	return pread(t->memory, to, n_bytes, (off_t)at) == (ssize_t)n_bytes;
}

bool target_write(const struct target *t, uintptr_t at, const void *from, size_t n_bytes)
{
	return pwrite(t->memory, from, n_bytes, (off_t)at) == (ssize_t)n_bytes;
}

/* One line of maps. */
struct mapping {
	uintptr_t lo, hi;
	char rights[5];
	char path[4352];
};

static FILE *open_maps(const struct target *t)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/maps", (int)t->pid);
	return fopen(path, "re");
}

static bool next_mapping(FILE *maps, struct mapping *m)
{
	char line[4608];
	unsigned long lo, hi;
	int at = 0;
	while (fgets(line, sizeof line, maps)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &lo, &hi, m->rights, &at) < 3)
			continue;
		m->lo = lo;
		m->hi = hi;
		char *deleted = strstr(line, " (deleted)"); /* replaced since, by an upgrade */
		if (deleted)
			*deleted = '\0';
		snprintf(m->path, sizeof m->path, "%s", at ? line + at : "");
		return true;
	}
	return false;
}

bool target_is_stack(const struct target *t, uintptr_t sp, uintptr_t thread_pointer, size_t n_bytes)
{
	struct mapping m;
	bool found = false, is_stack = false;
	FILE *maps = open_maps(t);
	while (maps && !found && next_mapping(maps, &m)) {
		found = sp - m.lo < m.hi - m.lo;
		is_stack = !strcmp(m.path, "[stack]") ||
			   (m.path[0] != '/' && strcmp(m.path, "[heap]") != 0 &&
			    sp < thread_pointer && thread_pointer < m.hi);
	}
	if (maps)
		fclose(maps);
	return found && is_stack && !strncmp(m.rights, "rw-p", 4) && sp - m.lo >= n_bytes;
}

/* The file name of a path is `name`, or what glibc called that file before 2.34: libc-2.31.so. */
static bool is_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t stem = strcspn(name, ".");
	if (!strcmp(base, name))
		return true;
	if (!strncmp(name, "ld-", 3))
		stem = 2;
	return !strncmp(base, name, stem) && !strncmp(base + stem, "-2.", 3) && strstr(base, ".so");
}

/*
 * Joins the mappings of one file that follow each other: the segments of an object, with the pages
 * between them that belong to nobody.
 */
static bool find_object(const struct target *t, uintptr_t address, const char *name,
			struct target_object *o)
{
	struct mapping m;
	FILE *maps = open_maps(t);
	*o = (struct target_object){0};
	while (maps && next_mapping(maps, &m)) {
		if (!m.path[0])
			continue; /* zeros at the end of its data */
		if (m.path[0] && !strcmp(m.path, o->path)) {
			o->hi = m.hi;
			continue;
		}
		if (o->lo && (name ? is_named(o->path, name) : address - o->lo < o->hi - o->lo))
			break;
		o->lo = m.path[0] == '/' ? m.lo : 0;
		o->hi = m.hi;
		snprintf(o->path, sizeof o->path, "%s", m.path);
	}
	if (maps)
		fclose(maps);
	return o->lo && (name ? is_named(o->path, name) : address - o->lo < o->hi - o->lo);
}

bool target_object_at(const struct target *t, uintptr_t address, struct target_object *o)
{
	return find_object(t, address, NULL, o);
}

bool target_object_named(const struct target *t, const char *name, struct target_object *o)
{
	return find_object(t, 0, name, o);
}

/* Where the object's own addresses count from: its first segment is at `lo`. */
static bool find_bias(const uint8_t *copy, size_t n_bytes, uintptr_t lo, uintptr_t *bias,
		      uintptr_t *dynamic)
{
	const ElfW(Ehdr) *head = (const void *)copy;
	const ElfW(Phdr) *p = (const void *)(copy + head->e_phoff);
	bool found = false;
	*dynamic = 0;
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_phoff + head->e_phnum * sizeof *p > n_bytes)
		return false;
	for (unsigned i = 0; i < head->e_phnum; i++) {
		if (p[i].p_type == PT_LOAD && !found) {
			*bias = lo - (p[i].p_vaddr & ~(uintptr_t)(MACHINE_LEAST_PAGE - 1));
			found = true;
		}
		if (p[i].p_type == PT_DYNAMIC)
			*dynamic = p[i].p_vaddr;
	}
	return found && *dynamic;
}

/* The copy of an address of the process; NULL if it is not in the object. */
static const void *in_copy(const struct target_object *o, uintptr_t address)
{
	return address - o->lo < o->hi - o->lo ? o->copy + (address - o->lo) : NULL;
}

/* The loader writes addresses into most dynamic sections. */
static const void *table(const struct target_object *o, uintptr_t bias, uintptr_t value)
{
	const void *at = in_copy(o, value);
	return at ? at : in_copy(o, bias + value);
}

static bool read_tables(const struct target_object *o, struct library *l)
{
	uintptr_t bias = 0, dynamic;
	if (!find_bias(o->copy, o->hi - o->lo, o->lo, &bias, &dynamic))
		return false;
	*l = (struct library){.bias = bias};
	const ElfW(Dyn) *d = in_copy(o, bias + dynamic);
	for (; d && (const uint8_t *)(d + 1) <= o->copy + (o->hi - o->lo) && d->d_tag != DT_NULL;
	     d++) {
		const void *at = table(o, bias, d->d_un.d_ptr);
		switch (d->d_tag) {
		case DT_STRTAB: l->strings = at; break;
		case DT_SYMTAB: l->symbols = at; break;
		case DT_VERSYM: l->versions = at; break;
		case DT_GNU_HASH: l->hash = at; break;
		}
	}
	return l->strings && l->symbols && l->hash;
}

/* Pages between segments cannot be read and stay zero. */
static bool read_object(const struct target *t, struct target_object *o)
{
	enum { MOST = 256 << 20 };
	const size_t n = o->hi - o->lo, page = MACHINE_LEAST_PAGE;
	if (o->copy || n > MOST || !(o->copy = calloc(1, n)))
		return o->copy != NULL;
	for (size_t at = 0; at < n;) {
		const ssize_t got = pread(t->memory, o->copy + at, n - at, (off_t)(o->lo + at));
		at += got > 0 ? (size_t)got : page;
	}
	return true;
}

uintptr_t target_function(const struct target *t, struct target_object *o, const char *name)
{
	struct library l;
	size_t n_bytes;
	return read_object(t, o) && read_tables(o, &l)
		       ? (uintptr_t)library_symbol(&l, name, &n_bytes)
		       : 0;
}

void target_object_free(struct target_object *o)
{
	free(o->copy);
	o->copy = NULL;
}

/* ---- may it be measured ---- */

static enum status refuse(pid_t pid, const char *why)
{
	char subject[32];
	snprintf(subject, sizeof subject, "process %d", (int)pid);
	log_error(subject, "%s", why);
	return STATUS_UNSUPPORTED;
}

static const char *why_not(const char *status)
{
	const char state = state_of(status);
	char own[4096];
	if (state == 'Z' || state == 'X')
		return "has ended; its parent has not waited for it";
	if (state == 'T' || state == 't')
		return "is stopped; continue it first (kill -CONT), or end the debugger";
	if (field(status, "\nTracerPid:\t", 10))
		return "is traced by another process (a debugger, strace); only one can";
	/* those of a container that we are in, too, are no reason */
	if (field(status, "\nSeccomp:\t", 10) &&
	    (!read_file(own, sizeof own, "/proc/self/status") ||
	     field(status, "\nSeccomp_filters:\t", 10) > field(own, "\nSeccomp_filters:\t", 10)))
		return "has a seccomp filter, which could kill it at a system call of ours; if it "
		       "is the filter of its container, run this inside";
	return NULL;
}

static const char *why_not_image(pid_t pid)
{
	static char text[512];
	struct exec_image image;
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	exec_image_examine(path, &image);
	switch (image.kind) {
	case EXEC_STATIC: return "is a static program, which has no dynamic linker";
	case EXEC_OTHER_MACHINE:
	case EXEC_OTHER_ABI: return "is a program for another machine";
	case EXEC_OTHER_LIBC:
		snprintf(text, sizeof text, "uses another C library than glibc (%s)", image.detail);
		return text;
	case EXEC_SANITIZED: return "uses AddressSanitizer's run time";
	default: return NULL;
	}
}

/* What opening the memory of a process needs is what ptrace(2) needs. */
static enum status refuse_rights(pid_t pid, int error)
{
	char scope[8] = "0", why[256];
	if (error == ENOENT || error == ESRCH)
		return refuse(pid, "is not there");
	if (read_file(scope, sizeof scope, "/proc/sys/kernel/yama/ptrace_scope") && scope[0] != '0')
		snprintf(why, sizeof why,
			 "the kernel lets nobody attach to it: kernel.yama.ptrace_scope is %c; as "
			 "root, sysctl kernel.yama.ptrace_scope=0, or run this as root",
			 scope[0]);
	else
		snprintf(why, sizeof why,
			 "cannot be attached to (%s): it belongs to another user or has more "
			 "rights; "
			 "run this as that user or as root",
			 strerror(error));
	return refuse(pid, why);
}

/* A process in a container has another root directory. */
static enum status check_library(const struct target *t, const char *library)
{
	char path[4608];
	struct stat ours, its;
	snprintf(path, sizeof path, "/proc/%d/root%s", (int)t->pid, library);
	if (stat(library, &ours) == 0 && stat(path, &its) == 0 && ours.st_ino == its.st_ino &&
	    ours.st_dev == its.st_dev)
		return STATUS_OK;
	log_error(library,
		  "process %d is in a container that does not have this file; mount its directory "
		  "there under the same name",
		  (int)t->pid);
	return STATUS_UNSUPPORTED;
}

/*
 * A process that has just been forked may become another program at any moment. Then what we have
 * found out is of no use, so it gets half a second.
 */
static void await_program(pid_t pid)
{
	enum { STARTTIME = 20, YOUNG_MS = 500 }; /* field of proc(5), after the name */
	char path[64], text[1024];
	struct timespec now, pause = {0, 0};
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	const char *at = read_file(text, sizeof text, path) ? strrchr(text, ')') : NULL;
	for (unsigned i = 0; at && i < STARTTIME; i++)
		at = strchr(at + 1, ' ');
	if (!at || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
		return;
	const long long ticks = sysconf(_SC_CLK_TCK),
			start_ms = strtoll(at, NULL, 10) * 1000 / (ticks > 0 ? ticks : 100),
			age_ms = now.tv_sec * 1000LL + now.tv_nsec / 1000000 - start_ms;
	if (age_ms >= 0 && age_ms < YOUNG_MS) {
		pause.tv_nsec = (YOUNG_MS - age_ms) * 1000000;
		nanosleep(&pause, NULL);
	}
}

enum status target_open(struct target *t, pid_t pid, const char *library)
{
	char path[64], status[4096];
	struct target_object linker;
	*t = (struct target){.pid = pid, .pidfd = -1, .memory = -1};
	if (pid == getpid())
		return refuse(pid, "is hpcrun-lite itself");
	await_program(pid);
	t->pidfd = (int)machine_call3(SYS_pidfd_open, pid, 0, 0);
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	if (!read_file(status, sizeof status, path))
		return refuse(pid, "is not there");
	const char *why = why_not(status);
	if (why)
		return refuse(pid, why);
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	t->memory = open(path, O_RDWR | O_CLOEXEC);
	if (t->memory < 0)
		return refuse_rights(pid, errno);
	if ((why = why_not_image(pid)))
		return refuse(pid, why);
	if (!target_object_named(t, MACHINE_LINKER, &linker))
		return refuse(pid, "has no dynamic linker");
	t->linker_lo = linker.lo;
	t->linker_hi = linker.hi;
	return library ? check_library(t, library) : STATUS_OK;
}

void target_close(struct target *t)
{
	if (t->pidfd >= 0)
		close(t->pidfd);
	if (t->memory >= 0)
		close(t->memory);
}

bool target_is_alive(const struct target *t)
{
	struct pollfd p = {.fd = t->pidfd, .events = POLLIN};
	char path[64];
	if (t->pidfd >= 0)
		return poll(&p, 1, 0) == 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)t->pid);
	return access(path, F_OK) == 0;
}
