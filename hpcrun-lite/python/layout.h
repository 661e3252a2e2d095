/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where CPython's interpreter keeps what a call path needs: offsets in its structures, which differ between its minor versions and are the same within one. From the headers
 * Include/internal of CPython's sources; 3.13 and later also say most of them themselves, which is compared. Constant data, signal-safe. Test: tests/unit/test_python.c.
 */
#ifndef HPCRUN_LITE_PYTHON_LAYOUT_H
#define HPCRUN_LITE_PYTHON_LAYOUT_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the frames of a thread hang together, and how a run of them in one call of the interpreter's C function is known by a place on the C stack. */
enum python_chain {
	PYTHON_CHAIN_OBJECTS, /* 3.10: frame objects, one for each C call; a CFrame on the C stack for each */
	PYTHON_CHAIN_CFRAMES, /* 3.11: a _PyCFrame on the C stack leads to the innermost of its frames; the outermost says is_entry */
	PYTHON_CHAIN_SHIMS    /* 3.12 on: behind the outermost frame of a C call comes a frame without code that lies on the C stack itself */
};

enum { PYTHON_NOWHERE = UINT16_MAX }; /* this version has no such field */

struct python_layout {
	uint8_t minor; /* of Python 3 */
	uint8_t chain; /* enum python_chain */
	uint8_t lines; /* enum msr_python_lines */
	uint8_t said_thread; /* word of what _PyRuntime begins with where it says the offsets in a thread state; 0: this version says none */
	struct {
		uint16_t finalizing;  /* pointer: not NULL once the interpreter is being taken down */
		uint16_t tss;         /* Py_tss_t of the thread state: int is_initialized, pthread_key_t */
		uint16_t current;     /* pointer: the thread state that holds the interpreter lock */
		uint16_t main_thread; /* pthread_self() of the thread that set it up */
	} runtime;
	struct {
		uint16_t thread_id;   /* pthread_self() */
		uint16_t status;      /* u32; with the mask it is `attached` while the thread holds the interpreter lock */
		uint32_t status_mask, attached;
		uint16_t frame;       /* the innermost frame */
		uint16_t cframe;      /* the innermost CFrame */
	} thread;
	struct {
		uint16_t frame, previous;
	} cframe;
	struct {
		uint16_t code, previous;
		uint16_t instruction; /* address of a code unit, or (CHAIN_OBJECTS) int, the number of one */
		uint16_t owner;       /* u8; 3: a shim */
		uint16_t is_entry;    /* u8 */
	} frame;
	struct {
		uint16_t filename, name, qualname, first_line, line_table, bytecode;
		uint16_t version;         /* u32, another for each code object; 0: there were too many */
		uint16_t first_traceable; /* i32, number of a code unit */
		uint16_t bytes;           /* all that is looked at lies in so many */
	} code;
	uint16_t ascii_bytes, compact_bytes; /* before the characters of a string that is ASCII, or not */
};

/* NULL: not a version that is known. */
const struct python_layout *python_layout_of(unsigned minor);

/* What _PyRuntime begins with: `n_bytes` of it. False: 3.13 or later, and it says something else than `l`, or is of a build without the interpreter lock. */
bool python_layout_agrees(const struct python_layout *l, const void *runtime, size_t n_bytes);
enum { PYTHON_LAYOUT_SAID_BYTES = 37 * 8 };

#endif
