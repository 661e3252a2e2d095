/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU work of threads that are in no range, while another thread of the process is in one. PyTorch
 * launches the kernels of a backward pass in autograd's threads, while the main thread waits in the
 * range "backward". This is by time, so it may be work that has nothing to do with the range, and
 * it counts in the ranges of all threads that are in one. Test: tests/unit/nvtx/test_nvtx_tree.c.
 */
#ifndef HPCPROF_ATTRIBUTE_NVTX_NVTX_OTHERS_H
#define HPCPROF_ATTRIBUTE_NVTX_NVTX_OTHERS_H

#include "hpcprof-lite/attribute/nvtx/nvtx_events.h"

/*
 * Sets gpu_others_ns of the ranges of m->nvtx. Call it when the tracks and the operations of queues
 * are there. False: memory is short.
 */
bool nvtx_others_attribute(const struct load_job *job, const struct topic_where *where,
			   struct model *m);

#endif
