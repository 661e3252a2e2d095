/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code objects. Each gets a number in this process and, when it is first met, a record (file,
 * function, line table) in the measurement. CPython frees code objects and creates others in their
 * place, so we recognise a code object by its contents and not by its address. All threads share
 * the table, without a lock. Signal-safe. Tests: tests/cli/python/python_frames.sh,
 * tests/cli/python/python_launches.sh.
 */
#ifndef HPCRUN_LITE_PYTHON_PYTHON_CODE_H
#define HPCRUN_LITE_PYTHON_PYTHON_CODE_H

#include "hpcrun-lite/python/frames.h"
#include "hpcrun-lite/python/layout.h"
#include "hpcrun-lite/python/python.h"
#include "hpcrun-lite/python/reader.h"

/* The types that objects must have to be accepted. */
struct code_types {
	uintptr_t code, string, bytes;
};

/* Memory of the thread in which it assembles a record. */
struct code_scratch {
	char file[4096 + 1], name[1024 + 1];
	uint8_t characters[4096];
	uint8_t lines[MSR_PYTHON_LINES_MAX];
};

/*
 * The result for the frame at the same distance from the outermost one in the previous path, and
 * the values that identify that frame. All zero: none.
 */
struct code_known {
	uintptr_t code;
	uint64_t instruction; /* the caller's instruction */
	uint64_t file, name, numbers, key;
	uint32_t number, first_traceable;
	bool is_torch_call; /* see torch_code.h */
};

/* The parts of a code object. */
enum code_part { CODE_FILE, CODE_NAME, CODE_LINES, CODE_N_PARTS };

/*
 * The code object that the thread last met at an address. A code object does not change during one
 * walk, so it is examined once per walk. From one walk to the next we keep only the addresses of
 * its parts, which are probably the same.
 */
enum { CODE_MET_BITS = 10, CODE_MET = 1 << CODE_MET_BITS };
struct code_met {
	_Alignas(64) uintptr_t code;
	const struct code_known *known; /* the entry of its first frame in `walk` */
	uint64_t walk;                  /* the last walk that examined it */
	uint32_t fetched; /* the low half of the number of the walk that fetched it */
	uint32_t part_bytes[CODE_N_PARTS];
	uintptr_t part[CODE_N_PARTS];   /* address; 0: unknown; CODE_LINES 1: no part is needed */
};

/* The file of the previous code object in this walk. Functions of one file share its name. */
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
	struct code_met *met;       /* CODE_MET entries */
	uint64_t walk;              /* number of this walk, not 0 */
	uint64_t epoch;             /* what is known of code objects belongs to one epoch */
	struct code_last *last;
	struct reader_batch *batch; /* two batches */
};

/*
 * Call it before code_address() of these n frames, in the same order, if their code objects need
 * guarded loads. Fetches the code objects together, with the contents that will be needed. Returns
 * the number of frames for which there was room.
 */
uint32_t code_fetch(const struct code_context *c, const struct frames_frame *frame, uint32_t n);

enum code_verdict {
	CODE_BAD,    /* not a code object, or one that is being freed */
	/*
	 * CPython itself does not show this frame: it is being set up, or belongs to the
	 * interpreter
	 */
	CODE_HIDDEN,
	CODE_FOUND
};
/*
 * Sets the link address of a frame in the logical module: the number of the code object and the
 * code unit of the instruction. Number 0: the object could not be recorded. *known is used, and
 * updated if the frame is another one.
 */
enum code_verdict code_address(const struct code_context *c, struct code_known *known,
			       const struct frames_frame *frame, uint64_t *link_addr);

/* Returns true if *known is still the code object at this address. */
bool code_is_known(const struct code_context *c, const struct code_known *known, uintptr_t code);

/*
 * Adds to *sum a hash that distinguishes this frame, the at-th of its thread, from others. It
 * covers the instruction, the code object, and the number that distinguishes the code object from a
 * dead one at the same address. Returns false if it has no such number (before 3.12, and when there
 * were too many). Reads directly: no thread may free the frame.
 */
bool code_tag(const struct python_layout *l, const struct code_types *types,
	      const struct frames_frame *frame, uint64_t at, uint64_t *sum);
/* Returns the same for the at-th run of a thread. */
uint64_t code_tag_run(const struct frames_run *run, uint64_t at);

/* Call in the child of fork, whose file has no records yet. */
void code_forget(void);

/* Copies a str object as UTF-8, NUL-terminated and cut to `room`. *n_bytes excludes the NUL. */
bool code_load_string(const struct code_context *c, uintptr_t object, char *to, size_t room,
		      size_t *n_bytes);

/*
 * Numbers for records of other kinds in the logical module. Take one if code_has_numbers(), and
 * give it to the key, a hash of the record's contents.
 */
bool code_has_numbers(void);
uint32_t code_find_given(uint64_t key); /* 0: no record has this key */
uint32_t code_take_number(void);
void code_give(uint64_t key, uint32_t number);

#endif
