/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model's tree as OTF2's: dense regions, source code locations and calling contexts, and the distance between two calling contexts. Does not
 * need the OTF2 library. Test: tests/unit/test_sink_otf2.c.
 *
 * An OTF2 calling context is a region and the place in it where it is: what Score-P writes for a frame. In the model that is a line (or instruction) together with
 * the function around it, so most functions have no calling context of their own:
 *
 *	model                                  OTF2
 *	entry "main thread"                    {region "main thread"}
 *	  function main                          |
 *	    line main.c:12                     {region main, main.c:12}
 *	      function work                      |
 *	        line main.c:21                 {region work, main.c:21}
 *
 * A function or loop gets one, without place in it, only where something other than a line hangs on it or operations of a GPU are of it. Loops are regions of the role
 * "loop"; lines in a loop are places in that region.
 */
#ifndef HPCPROF_LITE_SINK_OTF2_OTF2_TREE_H
#define HPCPROF_LITE_SINK_OTF2_OTF2_TREE_H

#include "common/base/status.h"
#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"

enum otf2_region_kind { OTF2_REGION_FUNCTION, OTF2_REGION_LOOP, OTF2_REGION_ENTRY };

struct otf2_region {
	enum otf2_region_kind kind;
	uint32_t function;    /* FUNCTION: index, MODEL_NONE for the unknown one; LOOP: the enclosing one */
	uint32_t context;     /* ENTRY: the context; LOOP: one of those that it stands for */
	uint32_t file, line;  /* of the definition; MODEL_NONE, 0 */
};

struct otf2_place {
	uint32_t file, line;
};

struct otf2_node {
	uint32_t context;     /* of the model */
	uint32_t parent;      /* node, MODEL_NONE at the top; smaller than the node's own number */
	uint32_t depth;       /* 1 at the top */
	uint32_t frame;       /* context of the function, loop or entry of which this is a place: equal for places in one frame */
	uint32_t region;
	uint32_t place;       /* MODEL_NONE: unknown */
	bool on_guess;        /* it or a frame further out was guessed */
};

struct otf2_tree {
	VEC(struct otf2_region) regions;
	VEC(struct otf2_place) places;
	VEC(struct otf2_node) nodes;
	uint32_t *node_of;    /* by context: its node, that of the nearest context above it that has one, or MODEL_NONE */
};

/* STATUS_NO_MEMORY has been logged. On success the caller frees it. */
enum status otf2_tree_make(const struct model *m, struct otf2_tree *t);
void otf2_tree_free(struct otf2_tree *t);

/* How a stack changes between two nodes; `from` may be MODEL_NONE. */
struct otf2_step {
	uint32_t n_left;    /* frames of `from` that are gone */
	uint32_t n_entered; /* frames of `to` that are new */
	uint32_t distance;  /* OTF2's unwind distance of the sample at `to` */
};
/*
 * After the definition of CallingContext in OTF2_GlobalDefWriter.h: the first N nodes of `to` are newly entered regions, the next one is a region that made
 * progress, the distance is N + 1. Two places in one frame are one region that made progress, not a region left and entered again; so does
 * Score-P count. Nothing in common: N is all of the path.
 */
struct otf2_step otf2_tree_step(const struct otf2_tree *t, uint32_t from, uint32_t to);

#endif
