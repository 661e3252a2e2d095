/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The module map: gives each loaded object a number and writes it, with path and build id, to the measurement file when it is first seen.
 * An object that is closed and opened again keeps its number. Tests: tests/cli/run_modules.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CODE_MODULE_H
#define HPCRUN_LITE_RUNTIME_CODE_MODULE_H

#include <dlfcn.h>
#include <stdint.h>

/* Once a process, after store_open: remembers the program's own path, registers what is loaded. Not signal-safe. */
void module_start(void);

/* The number of a module that is no loaded object, but a name for addresses of another kind; made anew by each call. MSR_MODULE_UNKNOWN: not now. Signal-safe. */
uint16_t module_add_logical(const char *name, uint16_t flags);

/* In the child of fork, after store_open: writes the known modules to the new file. Not signal-safe. */
void module_forked(void);

/* For struct unwind_config: number and load bias. MSR_MODULE_UNKNOWN with bias 0 when it cannot be registered now, which is counted. Signal-safe. */
uint16_t module_of(const struct dl_find_object *object, uintptr_t *bias);

/*
 * After each dlclose: objects may have gone, and others come where they were. One without a build id is then known by its file alone, and looked at again. Not signal-safe.
 */
void module_closed(void);

/* The range of addresses of this library itself. */
void module_own_range(uintptr_t *low, uintptr_t *high);

/* Writes the vdso's image to <directory>/vdso/<build id>.so unless it is there. Not signal-safe. */
void module_save_vdso(const char *directory);

/* The path of the program; "" if it could not be found. */
const char *module_program(void);

#endif
