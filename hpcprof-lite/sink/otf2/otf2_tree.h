/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts the model's tree to OTF2's: dense regions, source code locations and calling contexts,
 * and the distance between two calling contexts. Does not need the OTF2 library.
 * Test: tests/unit/sink/test_sink_otf2.c.
 *
 * An OTF2 calling context is a region and a place in it; Score-P writes one for each frame. In the
 * model this is a line (or instruction) and the function around it. Most functions therefore have
 * no calling context of their own:
 *
 *	model                                  OTF2
 *	entry "main thread"                    {region "main thread"}
 *	  function main                          |
 *	    line main.c:12                     {region main, main.c:12}
 *	      function work                      |
 *	        line main.c:21                 {region work, main.c:21}
 *
 * A function or loop gets a calling context without a place only if GPU operations belong to it, or
 * if it has a child that is not a line. Loops are regions with the role "loop"; lines in a loop are
 * places in this region.
 */
#ifndef HPCPROF_LITE_SINK_OTF2_OTF2_TREE_H
#define HPCPROF_LITE_SINK_OTF2_OTF2_TREE_H

#include "common/base/status.h"
#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"

enum otf2_region_kind { OTF2_REGION_FUNCTION, OTF2_REGION_LOOP, OTF2_REGION_ENTRY };

struct otf2_region {
	enum otf2_region_kind kind;
	/* FUNCTION: index, or MODEL_NONE if unknown; LOOP: the enclosing function */
	uint32_t function;
	uint32_t context;     /* ENTRY: the context; LOOP: one of the contexts of this region */
	uint32_t file, line;  /* of the definition; MODEL_NONE, 0 if unknown */
};

struct otf2_place {
	uint32_t file, line;
};

struct otf2_node {
	uint32_t context;     /* of the model */
	uint32_t parent; /* node; MODEL_NONE at the top; smaller than the number of this node */
	uint32_t depth;       /* 1 at the top */
	/*
	 * Context of the function, loop or entry that contains the place. Places in one frame have
	 * the same.
	 */
	uint32_t frame;
	uint32_t region;
	uint32_t place;       /* MODEL_NONE if unknown */
	bool on_guess;        /* this frame or one further out was guessed */
	bool is_inlined;      /* the frame is an inlined call */
};

struct otf2_tree {
	VEC(struct otf2_region) regions;
	VEC(struct otf2_place) places;
	VEC(struct otf2_node) nodes;
	/*
	 * by context: its own node, or that of the nearest context above with a node, or MODEL_NONE
	 */
	uint32_t *node_of;
};

/* STATUS_NO_MEMORY has been logged. On success the caller frees the tree. */
enum status otf2_tree_make(const struct model *m, struct otf2_tree *t);
void otf2_tree_free(struct otf2_tree *t);

/* The change of the stack between two nodes. `from` may be MODEL_NONE. */
struct otf2_step {
	uint32_t n_left;    /* frames of `from` that ended */
	uint32_t n_entered; /* new frames of `to` */
	uint32_t distance;  /* OTF2's unwind distance of the sample at `to` */
};
/*
 * Source: the definition of CallingContext in OTF2_GlobalDefWriter.h. The first N nodes of `to` are
 * newly entered regions, the next one is a region that made progress, and the distance is N + 1.
 * Two places in one frame are one region that made progress, not a region that was left and entered
 * again; Score-P counts the same way. If nothing is common, N is the whole path.
 */
struct otf2_step otf2_tree_step(const struct otf2_tree *t, uint32_t from, uint32_t to);

#endif
