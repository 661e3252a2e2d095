/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call paths of calls that the tool intercepts: MPI calls and GPU launches. They are frequent
 * and come from the same places, so a thread remembers their nodes (unwind/memo.h). Only threads
 * that make these calls use memory for it. Not for signal handlers. Test:
 * tests/cli/mpi/mpi_memo.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_SAMPLE_CALL_PATH_H
#define HPCRUN_LITE_RUNTIME_SAMPLE_CALL_PATH_H

#include "hpcrun-lite/runtime/sample/sample.h"

/* Which frames of a path mean nothing to the user. */
struct call_kind {
	/* Number of innermost frames to leave out; must depend only on the path and `tag`. */
	uint32_t (*n_inner)(const struct unwind_path *walked, uint64_t tag);
	uint64_t tag; /* differs for all kinds */
};

/* The node of a call. If it was remembered, `walked` has no addresses. */
struct call_path {
	struct sample_place place;
	struct unwind_path walked;
};

/* Finds the node of the path to the caller, and makes it if necessary. Requires sample_hold. */
void call_path_find(struct thread *t, const struct call_kind *kind, struct call_path *path);

/* At the end of the thread, and in a forked child: forgets everything. */
void call_path_forget(struct thread *t);

/*
 * At the end of a process with `check=1` in its configuration: notes how many remembered paths were
 * walked again, and how many of them differed.
 */
void call_path_report(void);

#endif
