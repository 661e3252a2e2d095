/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From measurement files to the frozen model: merge, expand, order, sum up, check the ledger. The steps are in files of their own; this is their sequence.
 * Test: tests/unit/test_order.c, tests/unit/test_ledger.c.
 */
#ifndef HPCPROF_ATTRIBUTE_ATTRIBUTE_H
#define HPCPROF_ATTRIBUTE_ATTRIBUTE_H

#include "common/base/status.h"
#include "hpcprof-lite/attribute/merge_modules.h"
#include "hpcprof-lite/load/load_job.h"
#include "hpcprof-lite/model/model.h"

struct structure;

struct attribute_options {
	unsigned n_workers; /* 0: one for each CPU */
	/*
	 * Asked once for the modules that have samples: needed[i] says whether module i of `all` has. Sets structures[i] (NULL: none) and states[i].
	 * What it hands out must stay good until `attribute_run` returns. NULL: no module has a structure.
	 */
	void (*find_structures)(void *arg, const struct merge_modules *all, const bool *needed, const struct structure **structures,
		enum model_structure *states);
	void *arg;
};

/*
 * Takes the files out of `job`, whatever comes back: the model keeps them mapped. *m is owned by the caller: model_free(). The causes of failure have been
 * logged.
 */
enum status attribute_run(struct load_job *job, const struct attribute_options *o, struct model **m);

#endif
