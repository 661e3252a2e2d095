/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two entries of the environment load the run time into a process: CONFIG_VARIABLE, and our library
 * in LD_PRELOAD. We remove them from environ at start-up, so the program sees its user's
 * environment. We add them to the environment of every program that this one starts. Test:
 * tests/cli/sacred/sacred_env.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_ENV_H
#define HPCRUN_LITE_HOOKS_HOOK_ENV_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the value of CONFIG_VARIABLE in an environment, or NULL. Do not use getenv instead: some
 * programs, like bash, have their own.
 */
const char *hook_env_find(char *const *environment);

/*
 * Removes our entries from environ, in place. `text` is the value of CONFIG_VARIABLE. NULL: does
 * nothing. Call once, before main. Not thread-safe, because environ is not.
 */
void hook_env_start(const char *text);

/*
 * Returns the bytes that hook_env_make() needs for `environment`, which may be NULL. Signal-safe.
 */
size_t hook_env_bytes(char *const *environment);

/*
 * Returns the environment to start a program with: `environment` and our entries. It is made in
 * `memory`, which has hook_env_bytes() bytes and is aligned to 16. Returns `environment` itself if
 * nothing is measured, or if it contains the configuration of another launcher. `same_process`: the
 * program will replace this one. Signal-safe.
 */
char *const *hook_env_make(char *const *environment, void *memory, size_t n_bytes,
	bool same_process);

/*
 * The same for an environment that a daemon adds to its own for the processes of a new job. If it
 * has no LD_PRELOAD, assumes that the daemon's value is the same as the program's.
 */
struct config_job;
size_t hook_env_job_bytes(char *const *environment);
char *const *hook_env_make_job(char *const *environment, void *memory, size_t n_bytes,
	const struct config_job *job);

/*
 * The two entries that hook_env_make() adds, for a shell command: the values of LD_PRELOAD and
 * CONFIG_VARIABLE. NULL if nothing is measured.
 */
struct hook_env_pair {
	const char *preload, *config;
};
bool hook_env_pair(char *const *environment, void *memory, size_t n_bytes,
	struct hook_env_pair *pair);

/*
 * Returns false if a program that starts here could not open the library or the measurement
 * directory: in another root directory or mount namespace, or as another user. Its dynamic linker
 * would print an error. Signal-safe; keeps errno.
 */
bool hook_env_in_reach(void);

#endif
