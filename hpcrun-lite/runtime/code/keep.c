/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the binaries to keep; see keep.h. A file is kept if its name is gone, if it was made
 * since the run began, or if it is in a place that may disappear: a directory for temporary files,
 * a file system in memory or of a container, another root directory than the launcher's. These are
 * guesses, so only files with samples are kept. Tests: tests/cli/run/run_gone.sh,
 * run_container.sh.
 */
#include "hpcrun-lite/runtime/code/keep.h"

#include "common/safe/load.h"
#include "common/safe/patience.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "common/safe/trylock.h"
#include "hpcrun-lite/runtime/beside.h"
#include "hpcrun-lite/runtime/code/keep_internal.h"
#include "hpcrun-lite/runtime/code/maps.h"
#include "hpcrun-lite/runtime/code/module_internal.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/store/store.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#define COPY_WAIT_MS 10000
#define LEAST_BYTES 4096               /* a smaller file is not a library */
#define COARSE_NS UINT64_C(10000000)   /* file systems use the time of the last tick */

struct keep_list keep_list;

static struct {
	/* guards all below, keep_list, and the members of modules for keep.c */
	trylock lock;
	_Atomic bool is_stuck;  /* the lock will never be released */
	struct beside child;
	struct maps_room room;
	char temporary[PATH_MAX]; /* $TMPDIR, or "" */
	char path[PATH_MAX];    /* of a copy */
	uint64_t device;        /* of the measurement; 0: unknown */
	uint64_t root_device, root_inode; /* of the root directory at the start */
} state;

static bool look_at(const char *path, struct stat *st)
{
	return sys_call4(SYS_newfstatat, AT_FDCWD, (long)path, (long)st, 0) == 0;
}

void keep_start(void)
{
	const char *directory = getenv("TMPDIR");
	struct stat st;
	size_t n = directory ? strlen(directory) : 0;
	while (n > 1 && directory[n - 1] == '/')
		n--;
	if (n > 1 && n < sizeof state.temporary && directory[0] == '/')
		memcpy(state.temporary, directory, n);
	if (look_at(process.config.directory, &st))
		state.device = st.st_dev;
	if (look_at("/", &st)) {
		state.root_device = st.st_dev;
		state.root_inode = st.st_ino;
	}
}

/* ---- which files ---- */

bool keep_is_new(const struct stat *st)
{
	const uint64_t changed_ns =
		(uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec;
	return process.config.since_ns && changed_ns + COARSE_NS >= process.config.since_ns;
}

static bool is_below(const char *path, const char *directory)
{
	const size_t n = strlen(directory);
	return n > 0 && strncmp(path, directory, n) == 0 && path[n] == '/';
}

static bool is_temporary(const char *path)
{
	return is_below(path, "/tmp") || is_below(path, "/var/tmp") || is_below(path, "/dev/shm") ||
	       is_below(path, "/run") || is_below(path, state.temporary);
}

/*
 * True if the binary is in memory or in a container and the measurement is on another file system.
 * The measurement is then meant to outlast the binary.
 */
static bool is_on_passing_system(const struct module *m)
{
	struct statfs fs;
	return state.device && m->device != state.device &&
	       sys_call3(SYS_statfs, (long)m->path, (long)&fs, 0) == 0 &&
	       (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC ||
		fs.f_type == OVERLAYFS_SUPER_MAGIC);
}

/* True if the user of hpcrun-lite may not have this file under its path. */
static bool is_in_container(void)
{
	const struct config *c = &process.config;
	return c->root_inode && state.root_inode &&
	       (state.root_device != c->root_device || state.root_inode != c->root_inode);
}

/*
 * False after chroot() or in another mount namespace, where a missing name does not mean that the
 * file is gone.
 */
static bool has_same_root(void)
{
	struct stat st;
	return look_at("/", &st) && st.st_dev == state.root_device &&
	       st.st_ino == state.root_inode;
}

static bool is_gone_now(const struct module *m)
{
	struct stat st;
	return !(look_at(m->path, &st) && module_is_file(m, &st)) && has_same_root();
}

static bool is_sampled(const struct module *m)
{
	return atomic_load_explicit(&m->is_hit, memory_order_relaxed) && !m->is_left_to_parent;
}

static bool is_file(const struct module *m)
{
	return m->path[0] == '/' && !(m->flags & (MSR_MODULE_VDSO | MSR_MODULE_PYTHON)) &&
	       m->record && !m->keep_is_done;
}

/* True if the file is gone or may be gone soon. */
static bool is_passing(const struct module *m)
{
	return m->is_gone || m->is_new || is_temporary(m->path);
}

/*
 * Keeps the program of a bundle at the start: if it is killed, the process that unpacked it removes
 * the files.
 */
static bool is_at_start(struct module *m)
{
	return module_is_exe(m) && (m->is_gone || (m->is_new && is_temporary(m->path)));
}

static bool is_at_unload(struct module *m)
{
	return is_sampled(m) && is_passing(m);
}

static bool is_at_end(struct module *m)
{
	if (!is_sampled(m))
		return false;
	if (!is_passing(m) && is_gone_now(m))
		m->is_gone = true;
	return is_passing(m) || is_on_passing_system(m) || is_in_container();
}

/* ---- the work ---- */

struct choice {
	bool (*is_wanted)(struct module *m);
	uint32_t module;  /* wanted in any case; MODULE_MAX: none */
	int fd;           /* the program's descriptor of this module's file; -1: unknown */
	bool waits;
};

/* True if the copy exists. Nearly always another process has made it. */
static bool is_there(const struct module *m)
{
	struct text t = text_in(state.path, sizeof state.path);
	char name[MSR_KEPT_NAME_BYTES];
	if (!msr_kept_name(name, m->id, m->id_bytes, m->content))
		return false;
	text_put(&t, process.config.directory);
	text_put(&t, "/" MSR_KEPT_DIRECTORY "/");
	text_put(&t, name);
	return !t.cut && sys_access(state.path, 0 /* F_OK */) == 0;
}

static void set_flag(struct module *m, uint16_t flag)
{
	m->keep_is_done = true;
	m->flags |= flag;
	m->record->flags = m->flags;
}

static bool choose(const struct choice *c)
{
	keep_list.n = 0;
	for (uint32_t i = 0; i < modules_count() && keep_list.n < KEEP_MOST_FILES; i++) {
		struct module *m = module_at(i);
		const bool is_named = i == c->module;
		if (!is_file(m) || !(is_named || (c->is_wanted && c->is_wanted(m))))
			continue;
		if (is_there(m))
			set_flag(m, MSR_MODULE_KEPT);
		else
			keep_list.file[keep_list.n++] = (struct keep_file){
				.module = i, .fd = is_named ? c->fd : -1};
	}
	return keep_list.n > 0;
}

/*
 * Counts binaries that are lost, or almost certainly so. Does not count those that may stay in a
 * temporary directory.
 */
static void note(const struct choice *c)
{
	for (uint32_t i = 0; i < keep_list.n; i++) {
		const struct keep_file *f = &keep_list.file[i];
		struct module *m = module_at(f->module);
		if (f->content && !m->content)
			module_set_content(m, f->content);
		set_flag(m, f->result == KEEP_KEPT        ? MSR_MODULE_KEPT
			    : f->result == KEEP_TOO_LARGE ? MSR_MODULE_TOO_LARGE
							  : MSR_MODULE_NOT_KEPT);
		if (f->result != KEEP_KEPT && (m->is_gone || m->is_new || f->module == c->module))
			store_count_loss(MSR_LOSS_BINARIES);
	}
}

static bool lock(bool waits)
{
	struct patience p = {0};
	while (!trylock_take(&state.lock))
		if (!waits || atomic_load_explicit(&state.is_stuck, memory_order_relaxed) ||
		    !patience_wait(&p))
			return false;
	return true;
}

static void run(const struct choice *c)
{
	enum beside_end end = BESIDE_ENDED;
	bool goes_on = true;
	if (!modules_have_records() || !lock(c->waits))
		return;
	const bool bus = file_fault_open();
	while (goes_on && choose(c)) {
		end = beside_run(&state.child, keep_copy, 0, COPY_WAIT_MS);
		note(c);
		goes_on = end == BESIDE_ENDED && keep_list.n == KEEP_MOST_FILES;
	}
	file_fault_close(bus);
	if (end == BESIDE_STAYS) /* a file server does not answer */
		atomic_store_explicit(&state.is_stuck, true, memory_order_relaxed);
	else
		trylock_give(&state.lock);
}

void keep_program(void)
{
	run(&(struct choice){is_at_start, MODULE_MAX, -1, true});
}

void keep_unloaded(void)
{
	run(&(struct choice){is_at_unload, MODULE_MAX, -1, true});
}

void keep_at_end(void)
{
	run(&(struct choice){is_at_end, MODULE_MAX, -1, true});
}

void keep_at_signal(void)
{
	run(&(struct choice){is_at_end, MODULE_MAX, -1, false});
}

void keep_forked(void)
{
	trylock_give(&state.lock);
	atomic_store_explicit(&state.is_stuck, false, memory_order_relaxed);
	keep_list.n_bytes = 0;
	for (uint32_t i = 0; i < modules_count(); i++) {
		struct module *m = module_at(i);
		m->is_left_to_parent = atomic_load_explicit(&m->is_hit, memory_order_relaxed);
	}
}

/* ---- files that are removed ---- */

struct search {
	const struct stat *st;
	uint64_t address; /* 0: not found */
};

static bool look_at_line(const struct maps_line *line, void *arg)
{
	struct search *s = arg;
	if (line->inode != s->st->st_ino || makedev(line->major, line->minor) != s->st->st_dev)
		return true;
	s->address = line->start;
	return false;
}

static uint32_t find_known(const struct stat *st)
{
	uint32_t n = modules_count();
	for (uint32_t i = 0; i < n; i++) {
		const struct module *m = module_at(i);
		if (module_is_file(m, st) && (module_start_of(i) || is_sampled(m)))
			return i;
	}
	return MODULE_MAX;
}

/* Searches the mappings, because we do not notice a dlopen until a sample hits the library. */
static uint32_t find_loaded(const struct stat *st, int fd)
{
	char magic[SELFMAG];
	struct search s = {st, 0};
	if (sys_pread(fd, magic, SELFMAG, 0) != SELFMAG || memcmp(magic, ELFMAG, SELFMAG) != 0 ||
	    !lock(true))
		return MODULE_MAX;
	maps_each(&state.room, UINT64_MAX, look_at_line, &s);
	trylock_give(&state.lock);
	return s.address ? module_at_address(s.address) : MODULE_MAX;
}

/* Also gives a forked child that has recorded nothing room for the modules. */
static bool may_be_library(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size >= LEAST_BYTES && process_is_owner() &&
	       store_need_room();
}

static void keep_one(uint32_t module, int fd)
{
	if (module < MODULE_MAX && !module_at(module)->keep_is_done)
		run(&(struct choice){NULL, module, fd, true});
}

/*
 * Copies the last part of a path to `name`; "" if the path cannot be read. The kernel will refuse
 * that address, but we must not fault.
 */
static void read_name(const char *path, char name[NAME_MAX + 1])
{
	enum { PAGE = MACHINE_LEAST_PAGE };
	size_t n = 0;
	for (size_t i = 0; i < PATH_MAX; i++) {
		if ((i == 0 || (uintptr_t)(path + i) % PAGE == 0) &&
		    !load_is_readable((uintptr_t)(path + i)))
			break;
		name[n] = path[i];
		if (!path[i])
			return;
		n = path[i] == '/' ? 0 : n + (n < NAME_MAX);
	}
	name[0] = '\0';
}

/*
 * Programs remove many files, so we check the name first. JNA's libraries are called jna*.tmp, and
 * add-ons of node *.node. Libraries of other names are known once a sample has hit them.
 */
static bool may_name_library(const char *name)
{
	if (strstr(name, ".so") || strncmp(name, "jna", 3) == 0 || strstr(name, ".node"))
		return true;
	const uint32_t n = modules_count();
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(module_at(i)->name, name) == 0)
			return true;
	return false;
}

void runtime_name_goes(int directory, const char *path)
{
	char name[NAME_MAX + 1];
	struct stat st;
	if (!process_is_alive() || !path)
		return;
	read_name(path, name);
	if (!may_name_library(name))
		return;
	if (sys_call4(SYS_newfstatat, directory, (long)path, (long)&st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !may_be_library(&st))
		return;
	uint32_t module = find_known(&st);
	if (module == MODULE_MAX) {
		const int fd = (int)sys_call4(SYS_openat, directory, (long)path,
					      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
		if (fd < 0)
			return;
		module = find_loaded(&st, fd);
		sys_close(fd);
	}
	keep_one(module, -1);
}

void runtime_descriptor_goes(int fd)
{
	struct stat st;
	if (!process_is_alive())
		return;
	if (sys_call3(SYS_fstat, fd, (long)&st, 0) != 0 || st.st_nlink != 0 || !may_be_library(&st))
		return;
	const uint32_t module = find_known(&st);
	keep_one(module < MODULE_MAX ? module : find_loaded(&st, fd), fd);
}
