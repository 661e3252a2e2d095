/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions with most samples in instructions, and where their code is. Test: as code.h. */
#ifndef HPCPROF_LITE_CODE_CODE_HOT_H
#define HPCPROF_LITE_CODE_CODE_HOT_H

#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"

struct code_range {
	uint64_t start, end; /* link addresses */
};

struct code_hot {
	uint32_t module, scope;        /* of the module's structure: a function */
	double share;                  /* as in struct code_function */
	VEC(struct code_range) ranges; /* ascending; adjoining ones are one */
};

struct code_hots {
	VEC(struct code_hot) list; /* by falling share */
};

/* At most `most` functions. False if memory is short. In all cases call code_hots_free(). */
bool code_hots_find(const struct model *m, size_t most, struct code_hots *h);
void code_hots_free(struct code_hots *h);

#endif
