/* SPDX-License-Identifier: BSD-3-Clause */
/* What findings and advice rest on: measured numbers, and places in the program. */
#ifndef HPCPROF_VIEW_VIEW_EVIDENCE_H
#define HPCPROF_VIEW_VIEW_EVIDENCE_H

#include "hpcprof-lite/model/model.h"

/* of a finding or advice */
enum { VIEW_FACTS = 5, VIEW_PLACES = 3 };

/* A measured number: "time at barriers", MODEL_SECONDS, 1.2. */
struct view_fact {
	const char *what;
	enum model_unit unit;
	double value;
};

/*
 * A place with its share of what the finding costs, or of the samples that advice is about. Shares
 * of all places add up to at most 1.
 */
struct view_place {
	uint32_t context;
	double share;
};

#endif
