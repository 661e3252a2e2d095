/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the run time calls of the hooks. Each is called in exactly one place of runtime.c / process.c and may assume what is said here.
 */
#ifndef HPCRUN_LITE_RUNTIME_HOOKS_H
#define HPCRUN_LITE_RUNTIME_HOOKS_H

/*
 * At the start of the process, once, before anything is measured, also when a hooked function is called before our constructor ran:
 * looks up the next definitions of the hooked functions (dlsym RTLD_NEXT), remembers our environment strings and
 * takes them out of environ. `text` is the value of CONFIG_VARIABLE found (NULL: this process is not measured).
 */
void hooks_start(const char *text);

/* In the child of fork, before it is measured: only this thread exists. */
void hooks_forked(void);

#endif
