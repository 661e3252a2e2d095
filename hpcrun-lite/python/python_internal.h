/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of python.h share: the interpreter, and what a thread remembers. python.c makes
 * paths, python_call.c recognises them. Signal-safe.
 */
#ifndef HPCRUN_LITE_PYTHON_PYTHON_INTERNAL_H
#define HPCRUN_LITE_PYTHON_PYTHON_INTERNAL_H

#include "hpcrun-lite/python/frames.h"
#include "hpcrun-lite/python/python.h"
#include "hpcrun-lite/python/python_code.h"
#include "hpcrun-lite/python/python_tls.h"
#include "hpcrun-lite/python/torch_module.h"

#include <stdatomic.h>

/* A PyThreadState. */
struct python_state {
	uint8_t bytes[FRAMES_THREAD_BYTES];
	uintptr_t at;
	bool is_held; /* no other thread can free it, its frames or their contents */
};

struct python_thread {
	uint32_t max_depth;
	/* About the previous path, if it had Python frames: */
	uint32_t n_previous; /* its addresses, at the end of path[1] */
	uint32_t n_known, n_runs, n_inner;
	uint64_t n_walks; /* the unwinder's count at that time */
	struct frames_run *runs;
	enum unwind_end end;
	uint64_t epoch;
	bool is_main;
	uintptr_t own_at; /* python_tls_place(), once its state was found there */
	bool was_native;          /* the previous path had no Python frames */
	bool is_plain;            /* ... and could have none: see is_plain() */
	struct code_known *known; /* by place from the outermost Python frame */
	uint32_t n_marked;        /* entries of `known` that were ever used */
	uint64_t *path[2]; /* max_depth each, filled from the end; the previous path is path[1] */
	struct frames frames;
	struct reader reader;
	struct reader_batch batch[2];
	uint64_t n_splices; /* number of walks that searched for Python frames */
	struct code_last last;
	struct code_met met[CODE_MET];
	struct code_scratch scratch;
	struct torch_calls torch;     /* of the previous path */
	struct torch_calls torch_now; /* of python_tag(), its guard and is_unchanged() */
	struct torch_scratch torch_scratch;
	uint32_t n_tag_calls;     /* calls of modules in the last tag */
	struct python_state call; /* of python_enter() */
};

struct python_interpreter {
	const struct python_host *host;
	_Atomic(const struct python_layout *) layout; /* NULL: no interpreter; published last */
	/* an interpreter was found, supported or not */
	_Atomic bool considered;
	uintptr_t runtime; /* _PyRuntime */
	const struct link_map *map;
	/* the native module that contains the interpreter */
	uint16_t module;
	/* link address and size of _PyEval_EvalFrameDefault; 0: unknown */
	uint64_t call_link, call_bytes;
	struct python_tls tls; /* if the layout has no key */
	struct code_types types;
	struct object_types object_types;
	/* code objects known before a fork have no record in the child's file */
	_Atomic uint32_t n_forks;
	_Atomic uint32_t logical; /* module id; 0: not made yet */
};
extern struct python_interpreter python;

/*
 * Finds the state of the calling thread, or of `other`. Returns false if it has none. The reader
 * of `t` must be set up for this walk.
 */
bool python_find_state(const struct python_layout *l, struct python_thread *t,
		       const struct python_place *other, struct python_state *s);

/*
 * The number of interpreters that were ever made. Each of them numbers its code objects anew, and
 * the next one may have the memory of the one before.
 */
uint32_t python_count_interpreters(const struct python_layout *l);

#endif
