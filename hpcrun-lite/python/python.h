/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths of Python programs: where the C function of CPython's interpreter stands in a native path, the Python frames that it runs take its place. They are read from the interpreter's memory;
 * none of its functions is called, no lock of it is needed, and nothing of it is changed. Supported versions: layout.h. What is not understood stays as it is, a native frame.
 *
 * A Python frame is an address in one logical module (MSR_MODULE_PYTHON): the number of its code object and of the code unit, see struct msr_python_code.
 *
 * Signal-safe but for python_init. Tests: tests/cli/python_*.sh, tests/unit/test_python.c.
 */
#ifndef HPCRUN_LITE_PYTHON_PYTHON_H
#define HPCRUN_LITE_PYTHON_PYTHON_H

#include "common/format/measurement.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the run time does for this room; signal-safe. */
struct python_host {
	/* Room for one MSR_PYTHON_CODE record of n_bytes, zeroed; NULL: not now. Then end_record must follow. */
	void *(*begin_record)(size_t n_bytes);
	void (*end_record)(size_t n_bytes);
	/* The id of the logical module, which is made when it is first asked for; MSR_MODULE_UNKNOWN: not now. */
	uint16_t (*module)(void);
	void (*note)(const char *text);
};

/* Once a process. Without it nothing is ever found. Not signal-safe. */
void python_init(const struct python_host *host);

/* A module has been loaded, number `module`: if it holds an interpreter of a version that is known, that is taken note of. The first one counts. */
void python_consider(const struct link_map *map, uint16_t module);

/* Whether an interpreter was found whose frames can be read: then equal native paths need not be equal paths. */
bool python_is_there(void);

/* In the child of fork, before its first path. */
void python_forked(void);

struct python_thread; /* one writer, the thread itself */

size_t python_thread_bytes(uint32_t max_depth);
/* In zeroed memory of python_thread_bytes(), aligned to 64. is_main: the thread that runs main. Never fails. */
struct python_thread *python_thread_init(void *memory, uint32_t max_depth, bool is_main);

/* A path to be inserted into the tree; as struct unwind_path. */
struct python_path {
	const uint64_t *addr;
	uint32_t n, n_same;
	enum unwind_end end;
	bool broken; /* some Python frames could not be read: native frames stand for them */
};

/*
 * The path of the last walk of `unwind`, less its n_inner innermost frames, with Python frames in it. All paths of a thread go through here, for n_same counts from the one before.
 * at_call: the thread called us, and was not interrupted anywhere.
 */
void python_splice(struct python_thread *t, const struct unwind_thread *unwind, const struct unwind_path *walked, uint32_t n_inner, bool at_call, struct python_path *path);

#endif
