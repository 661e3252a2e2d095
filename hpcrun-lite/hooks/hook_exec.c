/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exec family and posix_spawn. We add our environment entries for the new program, even if the
 * caller passes its own environment. A program that cannot load the library does not get them.
 * Sampling of the calling thread stops first: otherwise a program that starts with the signal
 * blocked could find a sample pending. Must not allocate or lock, because a child of vfork runs
 * this code. Test: tests/cli/sacred/sacred_exec.sh.
 */
#include "hpcrun-lite/hooks/hook_exec.h"

#include "common/safe/exec_image.h"
#include "common/safe/newer.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/hooks/hook_env.h"
#include "hpcrun-lite/hooks/hook_scratch.h"
#include "hpcrun-lite/hooks/signal/hook_signal.h"
#include "hpcrun-lite/hooks/wait/hook_wait.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

HOOK_NEXT(execve);
HOOK_NEXT(execvpe);
HOOK_NEXT(fexecve);
HOOK_NEXT(execveat);
HOOK_NEXT(posix_spawn);
HOOK_NEXT(posix_spawnp);

extern char **environ;

/* ---- the kind of the new program ---- */

static enum exec_kind kind_of(const char *path)
{
	struct exec_image image;
	exec_image_examine(path, &image);
	return image.kind;
}

/*
 * Returns false for a program that cannot load the library. Some of these programs print our
 * entries or fail because of them. A file that we cannot find may exist for the child, which may
 * change its directory first.
 */
static bool takes_library(enum exec_kind kind)
{
	return kind <= EXEC_ERROR;
}

/* VOID for a program that loads the library, and for one that the kernel will refuse to run. */
static enum msr_unmeasured_reason reason_of(enum exec_kind kind, bool in_reach)
{
	switch (kind) {
	case EXEC_STATIC: return MSR_UNMEASURED_STATIC;
	case EXEC_SET_UID: return MSR_UNMEASURED_SET_UID;
	case EXEC_SET_GID: return MSR_UNMEASURED_SET_GID;
	case EXEC_CAPABLE: return MSR_UNMEASURED_CAPABLE;
	case EXEC_OTHER_MACHINE: return MSR_UNMEASURED_MACHINE;
	case EXEC_OTHER_ABI: return MSR_UNMEASURED_ABI;
	case EXEC_OTHER_LIBC: return MSR_UNMEASURED_LIBC;
	case EXEC_SANITIZED: return MSR_UNMEASURED_SANITIZED;
	case EXEC_GOOD:
	case EXEC_UNREADABLE: return in_reach ? MSR_UNMEASURED_VOID : MSR_UNMEASURED_REACH;
	case EXEC_ERROR:
	case EXEC_DAMAGED: break;
	}
	return MSR_UNMEASURED_VOID;
}

/* Joins a directory and a name, as execvp does. Returns false if the result does not fit. */
static bool join(char *path, const char *directory, size_t n, const char *file)
{
	size_t length = strlen(file);
	if (n + length + 2 > PATH_MAX)
		return false;
	memcpy(path, directory, n);
	if (n)
		path[n++] = '/';
	memcpy(path + n, file, length + 1);
	return true;
}

/* Copies `file` only if its kind was determined, because the program's pointer may be bad. */
static enum exec_kind kind_of_path(const char *file, char *path)
{
	enum exec_kind kind = kind_of(file);
	if (kind == EXEC_ERROR || !join(path, "", 0, file))
		path[0] = '\0';
	return kind;
}

/*
 * Finds the file that execvp and posix_spawnp will run, and returns its kind. `path` is its name
 * and has PATH_MAX bytes.
 */
static enum exec_kind kind_of_found(const char *file, char *path)
{
	if (strchr(file, '/'))
		return kind_of_path(file, path);
	const char *at = NULL;
	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, "PATH=", 5)) {
			at = *e + 5;
			break;
		}
	for (at = at ? at : "/bin:/usr/bin";; at++) {
		size_t n = strcspn(at, ":");
		if (join(path, at, n, file) && sys_access(path, X_OK) == 0)
			return kind_of(path);
		at += n;
		if (!*at)
			return EXEC_ERROR;
	}
}

enum msr_unmeasured_reason hook_exec_examine(const char *file, char *path, bool *takes)
{
	const enum exec_kind kind = kind_of_found(file, path);
	const bool in_reach = hook_env_in_reach();
	*takes = takes_library(kind) && in_reach;
	return reason_of(kind, in_reach);
}

/* "/proc/self/fd/N" */
static void descriptor_path(char path[32], int fd)
{
	char digits[12];
	int n = 0;
	char *to = stpcpy(path, "/proc/self/fd/");
	unsigned value = fd < 0 ? 0 : (unsigned)fd;
	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	while (n)
		*to++ = digits[--n];
	*to = 0;
}

/* Sets `path` to the file's name if it has one. */
static enum exec_kind kind_of_at(int directory, const char *file, int flags, char *path)
{
	char descriptor[32];
	if (file[0] == '/' || (directory == AT_FDCWD && file[0]))
		return kind_of_path(file, path);
	int fd = file[0] ? (int)sys_call4(SYS_openat, directory, (long)file, O_PATH | O_CLOEXEC, 0)
	                 : flags & AT_EMPTY_PATH ? directory : -1;
	if (fd < 0)
		return EXEC_ERROR;
	descriptor_path(descriptor, fd);
	enum exec_kind kind = kind_of(descriptor);
	long n = sys_call4(SYS_readlinkat, AT_FDCWD, (long)descriptor, (long)path, PATH_MAX - 1);
	path[n > 0 ? n : 0] = '\0';
	if (file[0])
		sys_close(fd);
	return kind;
}

/* ---- exec ---- */

enum way { BY_PATH, BY_SEARCH, BY_FD, BY_AT };

struct exec_call {
	enum way way;
	const char *file;
	int fd, flags;
	char *const *argv, *const *environment;
};

/* Returns the kind of the program to run, and its name in `path`. */
static enum exec_kind kind_of_call(const struct exec_call *c, char *path)
{
	switch (c->way) {
	case BY_PATH: return kind_of_path(c->file, path);
	case BY_SEARCH: return kind_of_found(c->file, path);
	case BY_FD: return kind_of_at(c->fd, "", AT_EMPTY_PATH, path);
	case BY_AT: return kind_of_at(c->fd, c->file, c->flags, path);
	}
	return EXEC_ERROR;
}

/* Before glibc 2.34 programs make the system call themselves. */
static int call_kernel(const struct exec_call *c, char *const *environment)
{
	errno = (int)-sys_call6(SYS_execveat, c->fd, (long)c->file, (long)c->argv,
				(long)environment, c->flags, 0);
	return -1;
}

static int call_next(const struct exec_call *c, char *const *environment)
{
	switch (c->way) {
	case BY_PATH: return NEXT(execve)(c->file, c->argv, environment);
	case BY_SEARCH: return NEXT(execvpe)(c->file, c->argv, environment);
	case BY_FD: return NEXT(fexecve)(c->fd, c->argv, environment);
	case BY_AT:
		return hook_next(&next_execveat)
			       ? NEXT(execveat)(c->fd, c->file, c->argv, environment, c->flags)
			       : call_kernel(c, environment);
	}
	return -1;
}

/*
 * The kernel limits the size of arguments and environment. If our entries exceed it, the program is
 * started without them.
 */
static const char no_room[] = "a program was started without being measured: its arguments and "
			      "environment leave no room for ours (ARG_MAX)";

static int exec_call(const struct exec_call *c)
{
	int saved = errno;
	if (!runtime_config() || ((c->way == BY_PATH || c->way == BY_SEARCH) && !c->file))
		return call_next(c, c->environment);
	size_t n = PATH_MAX + hook_env_bytes(c->environment);
	char *memory = hook_scratch_take(n);
	char *const *environment = c->environment;
	enum exec_kind kind = memory ? kind_of_call(c, memory) : EXEC_ERROR;
	const bool in_reach = hook_env_in_reach(), is_measured = takes_library(kind) && in_reach;
	if (memory && is_measured)
		environment = hook_env_make(environment, memory + PATH_MAX, n - PATH_MAX,
					    runtime_is_owner());
	const enum msr_unmeasured_reason reason = reason_of(kind, in_reach);
	struct msr_unmeasured *unmeasured =
		runtime_child_unmeasured(sys_getpid(), reason, memory, true);
	runtime_exec_begin(is_measured || reason == MSR_UNMEASURED_VOID);
	bool hidden = hook_signal_exec_begin();
	errno = saved;
	int result = call_next(c, environment);
	if (result < 0 && errno == E2BIG && environment != c->environment) {
		runtime_exec_failed();
		runtime_note(no_room);
		runtime_exec_begin(false);
		errno = saved;
		result = call_next(c, c->environment);
	}
	saved = errno;
	hook_signal_exec_failed(hidden);
	runtime_exec_failed();
	runtime_child_not_started(unmeasured);
	hook_scratch_release(memory);
	errno = saved;
	return result;
}

HOOK int execve(const char *path, char *const argv[], char *const envp[])
{
	return exec_call(&(struct exec_call){
		.way = BY_PATH, .file = path, .argv = argv, .environment = envp});
}

HOOK int execv(const char *path, char *const argv[])
{
	return exec_call(&(struct exec_call){
		.way = BY_PATH, .file = path, .argv = argv, .environment = environ});
}

HOOK int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return exec_call(&(struct exec_call){
		.way = BY_SEARCH, .file = file, .argv = argv, .environment = envp});
}

HOOK int execvp(const char *file, char *const argv[])
{
	return exec_call(&(struct exec_call){
		.way = BY_SEARCH, .file = file, .argv = argv, .environment = environ});
}

HOOK int fexecve(int fd, char *const argv[], char *const envp[])
{
	return exec_call(
		&(struct exec_call){.way = BY_FD, .fd = fd, .argv = argv, .environment = envp});
}

HOOK int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	return exec_call(&(struct exec_call){.way = BY_AT,
					     .fd = fd,
					     .file = path,
					     .flags = flags,
					     .argv = argv,
					     .environment = envp});
}

/* ---- exec with a list of arguments ---- */

#define FEW 256 /* arguments that fit on the stack */

static size_t count_arguments(va_list args)
{
	size_t n = 1;
	while (va_arg(args, const char *))
		n++;
	return n;
}

/*
 * Converts the arguments to an array and calls exec. The variable arguments end with NULL. If
 * `takes_environment`, the environment follows.
 */
static int exec_list(struct exec_call *c, const char *first, va_list args, bool takes_environment)
{
	char *few[FEW];
	va_list counting;
	va_copy(counting, args);
	size_t n = first ? count_arguments(counting) : 0;
	va_end(counting);
	size_t n_bytes = (n + 1) * sizeof(char *);
	char **argv = n < FEW ? few : hook_scratch_take(n_bytes);
	if (!argv) {
		errno = ENOMEM;
		return -1;
	}
	argv[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; i <= n; i++)
		argv[i] = va_arg(args, char *);
	c->argv = argv;
	c->environment = takes_environment ? va_arg(args, char **) : environ;
	int result = exec_call(c);
	if (argv != few)
		hook_scratch_release(argv);
	return result;
}

HOOK int execl(const char *path, const char *arg, ...)
{
	va_list args;
	va_start(args, arg);
	int result = exec_list(&(struct exec_call){.way = BY_PATH, .file = path}, arg, args, false);
	va_end(args);
	return result;
}

HOOK int execlp(const char *file, const char *arg, ...)
{
	va_list args;
	va_start(args, arg);
	int result =
		exec_list(&(struct exec_call){.way = BY_SEARCH, .file = file}, arg, args, false);
	va_end(args);
	return result;
}

HOOK int execle(const char *path, const char *arg, ...)
{
	va_list args;
	va_start(args, arg);
	int result = exec_list(&(struct exec_call){.way = BY_PATH, .file = path}, arg, args, true);
	va_end(args);
	return result;
}

/* ---- posix_spawn ---- */

typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
		     const posix_spawnattr_t *, char *const[], char *const[]);

struct spawn_call {
	spawn_fn *next;
	bool search;
	pid_t *pid;
	const char *file;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attributes;
	char *const *argv, *const *environment;
};

static int spawn(const struct spawn_call *c, pid_t *pid, char *const *environment)
{
	wait_begin(SYS_vfork, 0, 0);
	const int result = c->next(pid, c->file, c->actions, c->attributes, c->argv, environment);
	wait_end();
	return result;
}

static int spawn_call(const struct spawn_call *c)
{
	int saved = errno;
	char *const *environment = c->environment;
	char *memory = NULL;
	enum exec_kind kind = EXEC_ERROR;
	bool in_reach = true;
	pid_t pid = 0;
	if (runtime_config() && c->file) {
		in_reach = hook_env_in_reach();
		size_t n = PATH_MAX + hook_env_bytes(environment);
		memory = hook_scratch_take(n);
		if (memory)
			kind = c->search ? kind_of_found(c->file, memory)
					 : kind_of_path(c->file, memory);
		if (memory && takes_library(kind) && in_reach)
			environment =
				hook_env_make(environment, memory + PATH_MAX, n - PATH_MAX, false);
	}
	errno = saved;
	int result = spawn(c, c->pid ? c->pid : &pid, environment);
	if (result == E2BIG && environment != c->environment) {
		runtime_note(no_room);
		errno = saved;
		result = spawn(c, c->pid ? c->pid : &pid, c->environment);
	}
	saved = errno;
	if (result == 0 && memory)
		runtime_child_unmeasured(c->pid ? *c->pid : pid, reason_of(kind, in_reach), memory,
					 false);
	hook_scratch_release(memory);
	errno = saved;
	return result;
}

HOOK int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	return spawn_call(&(struct spawn_call){NEXT(posix_spawn), false, pid, path, actions,
					       attributes, argv, envp});
}

HOOK int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		      const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	return spawn_call(&(struct spawn_call){NEXT(posix_spawnp), true, pid, file, actions,
					       attributes, argv, envp});
}

void hook_exec_start(void)
{
	struct hook_next *const all[] = {&next_execve,   &next_execvpe,     &next_fexecve,
					 &next_execveat, &next_posix_spawn, &next_posix_spawnp};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
}
