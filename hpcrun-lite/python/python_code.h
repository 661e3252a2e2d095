/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code objects: each gets a number in this process and a record (file, function, line table) in the
 * measurement when it is first met. CPython frees code objects and makes others in their place, so
 * one is known again by what it holds and not by where it lies. All threads share the table,
 * without a lock. Signal-safe. Tests: tests/cli/python/python_frames.sh.
 */
#ifndef HPCRUN_LITE_PYTHON_PYTHON_CODE_H
#define HPCRUN_LITE_PYTHON_PYTHON_CODE_H

#include "hpcrun-lite/python/frames.h"
#include "hpcrun-lite/python/layout.h"
#include "hpcrun-lite/python/python.h"
#include "hpcrun-lite/python/reader.h"

/* The types that objects must have to be believed. */
struct code_types {
	uintptr_t code, string, bytes;
};

/* Where a record is put together: the thread's. */
struct code_scratch {
	char file[4096 + 1], name[1024 + 1];
	uint8_t characters[4096];
	uint8_t lines[MSR_PYTHON_LINES_MAX];
};

/* What was found for the frame that lay as far from the outermost in the path before, and by what
 * it is known again. Zero: nothing. */
struct code_known {
	uintptr_t code;
	uint64_t instruction; /* the caller's */
	uint64_t file, name, numbers, key;
	uint32_t number, first_traceable;
};

/* Places of what a code object holds. */
enum code_part { CODE_FILE, CODE_NAME, CODE_LINES, CODE_N_PARTS };

/*
 * By address, what the thread met there last. In one walk a code object stays what it is, so it is
 * looked at once; from walk to walk only what to fetch is kept, for it is likely to be the same.
 */
enum { CODE_MET_BITS = 10, CODE_MET = 1 << CODE_MET_BITS };
struct code_met {
	_Alignas(64) uintptr_t code;
	const struct code_known *known; /* of its first frame in `walk` */
	uint64_t walk;                  /* that looked at it */
	uint32_t fetched; /* the low half of the number of the walk that asked for it */
	uint32_t part_bytes[CODE_N_PARTS];
	uintptr_t part[CODE_N_PARTS];   /* 0: not known; of CODE_LINES 1: no part is needed */
};

/* The file of the code object that was looked at before in this walk: functions of one file share
 * its name. */
struct code_last {
	uintptr_t file; /* 0: none */
	uint32_t file_bytes;
	uint64_t file_hash;
};

struct code_context {
	const struct python_layout *layout;
	const struct code_types *types;
	const struct python_host *host;
	struct reader *reader;
	struct code_scratch *scratch;
	struct code_met *met;       /* CODE_MET */
	uint64_t walk;              /* number of this one, not 0 */
	struct code_last *last;
	struct reader_batch *batch; /* 2 */
};

/*
 * Before code_address() of n frames, in this order, when their code objects must be read by guarded
 * loads: fetches these together, with what they hold where that will be looked at, for as many
 * frames as there is room for, which is returned.
 */
uint32_t code_fetch(const struct code_context *c, const struct frames_frame *frame, uint32_t n);

enum code_verdict {
	CODE_BAD,    /* this is no code object, or one that is being freed */
	CODE_HIDDEN, /* CPython itself does not show this frame: it is just being set up, or is one
			of the interpreter's own */
	CODE_FOUND
};
/*
 * The link address of a frame in the logical module: number of the code object and code unit of the
 * instruction. Number 0: the object could not be recorded. *known is used, and set when it was
 * another.
 */
enum code_verdict code_address(const struct code_context *c, struct code_known *known,
			       const struct frames_frame *frame, uint64_t *link_addr);

/* Whether *known still is the code object of this address. */
bool code_is_known(const struct code_context *c, const struct code_known *known, uintptr_t code);

/* In the child of fork: its file has no records yet. */
void code_forget(void);

#endif
