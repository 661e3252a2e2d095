/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns measurement files into the constant model: merge, expand, order, sum up, check the ledger.
 * Each step has its own file; attribute.c runs them in order. Test: tests/unit/prof/test_order.c,
 * tests/unit/prof/test_ledger.c.
 */
#ifndef HPCPROF_ATTRIBUTE_ATTRIBUTE_H
#define HPCPROF_ATTRIBUTE_ATTRIBUTE_H

#include "common/base/status.h"
#include "hpcprof-lite/attribute/merge/merge_modules.h"
#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/model.h"

struct structure;

/* A frame of a call path. */
struct attribute_frame {
	uint32_t module;
	uint64_t link_addr;
};

struct attribute_options {
	unsigned n_workers; /* 0: one for each CPU */
	bool internals;     /* keep the frames inside of OpenMP, MPI, PyTorch, waits, import */
	bool ranges;        /* of NVTX are contexts */
	/*
	 * Count samples at instructions too, and keep the structures of modules in the model. They
	 * must then stay valid as long as the model. Not if parts share the job.
	 */
	bool instructions;
	/*
	 * Called once to find the structures of modules with samples. needed[i] is true if module i
	 * of `all` has samples. `frames` are the frames of all call paths that are in some module,
	 * in no order. Sets structures[i] (NULL: none) and states[i]. The structures must stay
	 * valid until attribute_run() returns, or longer: see `instructions`. NULL: no module has a
	 * structure.
	 */
	void (*find_structures)(void *arg, const struct merge_modules *all, const bool *needed,
				const struct attribute_frame *frames, size_t n_frames,
				const struct structure **structures, enum model_structure *states);
	void *arg;
	/*
	 * Other processes have the same files, and share values: see model_share.h. The model is
	 * for cctdb alone. STATUS_DIFFERS: they did not read the same. NULL: none.
	 */
	struct comm *comm;
};

/*
 * Takes the files out of `job`, even on failure; the model keeps them mapped. The caller owns *m
 * and frees it with model_free(). Failures are logged.
 */
enum status attribute_run(struct load_job *job, const struct attribute_options *o,
	struct model **m);

#endif
