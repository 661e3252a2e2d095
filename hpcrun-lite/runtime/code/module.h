/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The module map: gives each loaded object a number and writes it to the measurement file, with
 * path and build id, when it is first seen. An object that is closed and opened again keeps its
 * number. Test: tests/cli/run/run_modules.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CODE_MODULE_H
#define HPCRUN_LITE_RUNTIME_CODE_MODULE_H

#include "common/safe/find_object.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Once per process, after store_open: remembers the path of the program and registers all loaded
 * objects. Not signal-safe.
 */
void module_start(void);

/*
 * Returns a new number for a logical module. It is not a loaded object; its addresses are of
 * another kind. MSR_MODULE_UNKNOWN: not possible now. Signal-safe.
 */
uint16_t module_add_logical(const char *name, uint16_t flags);

/* In a forked child. Not signal-safe. */
void module_forked(void);

/* In a forked child, after store_open: writes the known modules to the new file. */
void module_write_records(void);

/*
 * For struct unwind_config: returns the number and the load bias. If the module cannot be
 * registered now, counts that and returns MSR_MODULE_UNKNOWN with bias 0. Signal-safe.
 */
uint16_t module_of(const struct dl_find_object *object, uintptr_t *bias);

/*
 * Call after each dlclose: objects may be gone and others may take their addresses. An object
 * without build id is then examined again, and identified only by its file. Not signal-safe.
 */
void module_closed(void);

/* The address range of this library. */
void module_own_range(uintptr_t *low, uintptr_t *high);

/*
 * Computes the content hashes of files without build id that do not have one yet, because a dlopen
 * may have been noticed in a handler first. Call it at the start and at the end. Signal-safe, but
 * too slow for sample handlers: it reads up to 1 MiB of each file.
 */
void module_read_contents(void);

/* Writes the vDSO to <directory>/vdso/<build id>.so unless the file exists. Not signal-safe. */
void module_save_vdso(const char *directory);

/* True if the program was built with -fsplit-stack. Not signal-safe. */
bool module_program_is_split(void);

/* The path of the program; "" if unknown. */
const char *module_program(void);

#endif
