/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Offsets in the structures of CPython's interpreter, for the fields that a call path needs. They
 * differ between minor versions and are equal within one. They come from the headers in
 * Include/internal of CPython's sources. Since 3.13 the interpreter itself states most of them, and
 * we compare. Constant data, signal-safe. Test: tests/unit/run/test_python.c.
 */
#ifndef HPCRUN_LITE_PYTHON_LAYOUT_H
#define HPCRUN_LITE_PYTHON_LAYOUT_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How the frames of a thread are linked, and how the C stack shows which frames belong to one call
 * of the interpreter's C function.
 */
enum python_chain {
	/* 3.10: frame objects, one per C call; each has a CFrame on the C stack */
	PYTHON_CHAIN_OBJECTS,
	/*
	 * 3.11: a _PyCFrame on the C stack leads to the innermost of its frames; the outermost has
	 * is_entry.
	 */
	PYTHON_CHAIN_CFRAMES,
	/*
	 * Since 3.12: after the outermost frame of a C call comes a frame without code, on the C
	 * stack itself.
	 */
	PYTHON_CHAIN_SHIMS
};

/* Where an instance of an ordinary class keeps its attributes. */
enum python_attributes {
	PYTHON_ATTRIBUTES_DICT,   /* 3.10: in a dictionary, tp_dictoffset behind the object */
	PYTHON_ATTRIBUTES_BEFORE, /* 3.11: before the object a word with values, one with a dict */
	PYTHON_ATTRIBUTES_TAGGED, /* 3.12: before the object a word with either; bit 0: values */
	PYTHON_ATTRIBUTES_BEHIND  /* since 3.13: values behind the object, or as a dictionary */
};

enum { PYTHON_NOWHERE = UINT16_MAX }; /* this version has no such field */

struct python_layout {
	uint8_t minor; /* of Python 3 */
	uint8_t chain; /* enum python_chain */
	uint8_t lines; /* enum msr_python_lines */
	uint8_t attributes; /* enum python_attributes */
	/*
	 * Indices of words at the start of _PyRuntime: of the first about a thread state, of the
	 * one about thread_id, and of the first about a frame. 0: this version has none.
	 */
	uint8_t said_thread, said_id, said_frame;
	struct {
		/* pointer: not NULL once the interpreter is being taken down */
		uint16_t finalizing;
		/*
		 * Py_tss_t of the thread state: int is_initialized, pthread_key_t. NOWHERE: it is
		 * in a thread-local variable, see python_tls.h.
		 */
		uint16_t tss;
		uint16_t current; /* pointer: the thread state that holds the interpreter lock */
		uint16_t main_thread; /* pthread_self() of the thread that set it up */
		uint16_t interpreters; /* u64: how many there have been */
	} runtime;
	struct {
		uint16_t thread_id;   /* pthread_self() */
		/* u32; masked, it equals `attached` while the thread holds the interpreter lock. */
		uint16_t status;
		uint32_t status_mask, attached;
		uint16_t frame;       /* the innermost frame */
		uint16_t cframe;      /* the innermost CFrame */
	} thread;
	struct {
		uint16_t frame, previous;
	} cframe;
	struct {
		uint16_t code, previous;
		/* address of a code unit, or (CHAIN_OBJECTS) int, the number of one */
		uint16_t instruction;
		uint16_t owner;       /* u8; 3: a shim */
		uint16_t is_entry;    /* u8 */
		uint16_t locals;      /* pointers, arguments first */
	} frame;
	struct {
		uint16_t filename, name, qualname, first_line, line_table, bytecode;
		uint16_t version; /* u32, another for each code object; 0: there were too many */
		uint16_t first_traceable; /* i32, number of a code unit */
		uint16_t bytes;           /* covers every field that we read */
	} code;
	uint16_t type_keys; /* in a class: the keys of the values of its instances */
	/* before the characters of a string that is ASCII, or not */
	uint16_t ascii_bytes, compact_bytes;
};

/* NULL: this version is not supported. */
const struct python_layout *python_layout_of(unsigned minor);

/*
 * `runtime` is the start of _PyRuntime, n_bytes long. Returns false if a CPython 3.13 or later
 * states other offsets than `l`, or is a build without the interpreter lock.
 */
bool python_layout_agrees(const struct python_layout *l, const void *runtime, size_t n_bytes);
enum { PYTHON_LAYOUT_SAID_BYTES = 45 * 8 };

#endif
