/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows the MSR_FORWARD frames of one file to the call paths of the forward pass that made nodes
 * of autograd's graph. A path ends at the line that called PyTorch. What ran inside of the frame
 * goes below that path, in any thread. Test: tests/unit/prof_torch/test_forward_paths.c.
 */
#ifndef HPCPROF_ATTRIBUTE_MERGE_FORWARD_PATHS_H
#define HPCPROF_ATTRIBUTE_MERGE_FORWARD_PATHS_H

#include "common/base/map.h"
#include "common/base/vec.h"
#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/load/load_file.h"

/*
 * The longest chain of paths that begin within backward passes. Longer chains and circles are not
 * followed.
 */
enum { FORWARD_DEPTH_MAX = 64 };

struct forward_path {
	size_t first; /* index of its first address in `addrs`, where the outermost comes first */
	uint32_t n;
	bool leads;         /* false: the frame leads nowhere */
	msr_addr continues; /* the frame MSR_FORWARD that the path begins with; 0: none */
};

/* Zero-initialise. */
struct forward_paths {
	struct map index; /* by address of the frame */
	VEC(struct forward_path) paths;
	VEC(msr_addr) addrs;
};

/*
 * Finds the paths of all such frames in the file. Call it before merge, which changes node_to.
 * False if memory is short.
 */
bool forward_paths_find(struct forward_paths *p, const struct load_file *f);
/* NULL: the frame leads nowhere. */
const struct forward_path *forward_paths_of(const struct forward_paths *p, msr_addr frame);
void forward_paths_free(struct forward_paths *p);

extern const struct topic_ops topic_forward;

#endif
