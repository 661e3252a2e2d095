/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two entries of the environment that bring the run time into a process, CONFIG_VARIABLE and ours in LD_PRELOAD: taken out of environ
 * at start-up, so that the program sees the environment its user gave it, and put into the environment of every program that
 * this one starts. Test: tests/cli/sacred_env.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_ENV_H
#define HPCRUN_LITE_HOOKS_HOOK_ENV_H

#include <stdbool.h>
#include <stddef.h>

/* The value of CONFIG_VARIABLE in an environment, NULL when it has none. getenv is no way to it: some programs (bash) bring their own. */
const char *hook_env_find(char *const *environment);

/*
 * Takes our entries out of environ, in place. `text` is the value of CONFIG_VARIABLE (NULL: nothing is done). Once, before main; not
 * thread-safe, as environ is not.
 */
void hook_env_start(const char *text);

/* Bytes that hook_env_make needs for `environment` (may be NULL). Signal-safe. */
size_t hook_env_bytes(char *const *environment);

/*
 * The environment to start a program with: `environment` and our entries, made in `memory` (hook_env_bytes() of it, aligned to 16). Returns
 * `environment` itself when nothing is measured, or when it carries the orders of another launcher. `same_process`: the
 * program will replace this one. Signal-safe.
 */
char *const *hook_env_make(char *const *environment, void *memory, size_t n_bytes, bool same_process);

/* The two entries that hook_env_make puts in, for a shell command: values of LD_PRELOAD and CONFIG_VARIABLE. NULL when nothing is measured. */
struct hook_env_pair {
	const char *preload, *config;
};
bool hook_env_pair(char *const *environment, void *memory, size_t n_bytes, struct hook_env_pair *pair);

#endif
