/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths of Python programs: Python frames replace the native frames of CPython's interpreter
 * that run them. The frames are read from the interpreter's memory. This calls none of its
 * functions, needs none of its locks and changes nothing. layout.h lists the supported versions. A
 * frame that we do not understand stays native.
 *
 * A Python frame is an address in one logical module (MSR_MODULE_PYTHON): the number of its code
 * object and of the code unit, see struct msr_python_code. All functions are signal-safe except
 * python_init. Tests: tests/cli/python/python_*.sh, tests/unit/run/test_python.c.
 */
#ifndef HPCRUN_LITE_PYTHON_PYTHON_H
#define HPCRUN_LITE_PYTHON_PYTHON_H

#include "common/format/measurement.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The functions of the run time that this folder needs; signal-safe. */
struct python_host {
	bool names_modules; /* --torch: calls of PyTorch's modules are frames, see torch_module.h */
	/*
	 * Returns zeroed room for a record of n_bytes (MSR_PYTHON_CODE, MSR_TORCH_MODULE);
	 * end_record must follow. NULL: not possible now.
	 */
	void *(*begin_record)(enum msr_kind kind, size_t n_bytes);
	void (*end_record)(enum msr_kind kind, size_t n_bytes);
	/*
	 * The id of the logical module, made at the first call. MSR_MODULE_UNKNOWN: not possible
	 * now.
	 */
	uint16_t (*module)(void);
	void (*note)(const char *text);
};

/* Call once per process; without it no Python frame is found. Not signal-safe. */
void python_init(const struct python_host *host);

/*
 * The object `module` was loaded. Remembers it if it contains an interpreter of a supported
 * version; the first one counts.
 */
void python_consider(const struct link_map *map, uint16_t module);

/*
 * Returns true if there is an interpreter whose frames can be read. Equal native paths may then be
 * different paths.
 */
bool python_is_there(void);

/* Call in a forked child before its first path. */
void python_forked(void);

struct python_thread; /* only the thread itself writes it */

size_t python_thread_bytes(uint32_t max_depth);
/*
 * Uses zeroed memory of python_thread_bytes(), aligned to 64. is_main: the thread that runs main.
 * Never fails.
 */
struct python_thread *python_thread_init(void *memory, uint32_t max_depth, bool is_main);

/* A path to insert into the tree, like struct unwind_path. */
struct python_path {
	const uint64_t *addr;
	uint32_t n, n_same;
	enum unwind_end end;
	/* some Python frames or modules could not be read; their native frames remain */
	bool broken;
};

/*
 * A thread of Python, for walks of its stack by another thread. 0: the thread has no Python frames.
 */
struct python_place {
	uintptr_t state;  /* PyThreadState */
	uint64_t thread;  /* pthread_self() */
};
/* Of the calling thread. A few ns. */
void python_here(struct python_place *place);

/*
 * Makes the path of the last walk of `unwind`, without its n_inner innermost frames, and with
 * Python frames in it. All paths of a thread must go through here, because n_same refers to the
 * previous one. at_call: the thread called us and was not interrupted. `cuts`, which may be NULL,
 * are indices into the walked path, in ascending order; they become the indices of the same places
 * in *path. `other`: the thread whose stack was walked, which must not run meanwhile; NULL: the
 * calling thread. Use a struct python_thread either for the calling thread or for others, not for
 * both.
 */
struct python_cuts {
	uint32_t *at, n;
};
void python_splice(struct python_thread *t, const struct unwind_thread *unwind,
		   const struct unwind_path *walked, uint32_t n_inner, bool at_call,
		   const struct python_cuts *cuts, const struct python_place *other,
		   struct python_path *path);

/*
 * For callers that remember paths of calls by the native stack. Two calls with equal native frames
 * and equal tags have equal paths. The calling thread must have called us and not been interrupted.
 *
 * python_enter() returns true if the thread's frames have tags of their own, from CPython 3.12 on,
 * and may be read in place. Otherwise its tag is PYTHON_TAG_PLAIN, under which only plain paths are
 * remembered. `unwind`: as for python_splice. The other functions may be called until the thread
 * returns to the program.
 */
enum {
	PYTHON_TAG_NONE = 0, /* the frames cannot be distinguished from others: do not remember */
	PYTHON_TAG_PLAIN = 1
};
bool python_enter(struct python_thread *t, const struct unwind_thread *unwind);
uint64_t python_tag(struct python_thread *t);

/*
 * With --torch, the modules that the frames call are not in their tag but have one of their own,
 * because the same frames call all layers of a network. The last call must have been python_tag()
 * or a python_holds() that returned true. *is_due: walk the path even if this tag is known.
 */
enum { PYTHON_NO_MODULES = 1 };
uint64_t python_modules(struct python_thread *t, bool *is_due);
/*
 * Returns true if the path that was just spliced may be remembered under these tags. has_frames:
 * what python_enter() returned.
 */
bool python_may_remember(const struct python_thread *t, bool has_frames);

/*
 * The words that the last tag was made from, and where they are. While they are unchanged, which
 * python_holds() finds out in a third of the time, so is the tag. python_guard() returns their
 * bytes, a multiple of 8; 0: there are more than most_bytes. `thread` of python_holds(): a struct
 * python_thread; see unwind_memo_holds.
 */
uint32_t python_guard(struct python_thread *t, void *words, uint32_t most_bytes);
bool python_holds(void *thread, const void *words, uint32_t n_bytes);

#endif
