/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts GPU work of threads that are in no range while another thread of the process is in one.
 * PyTorch launches the kernels of a backward pass in autograd's threads, while the main thread
 * waits in the range "backward". Only the time decides, so the work may have nothing to do with the
 * range. It counts in the ranges of all threads that are in one. Test:
 * tests/unit/nvtx/test_nvtx_tree.c.
 */
#ifndef HPCPROF_ATTRIBUTE_NVTX_NVTX_OTHERS_H
#define HPCPROF_ATTRIBUTE_NVTX_NVTX_OTHERS_H

#include "hpcprof-lite/attribute/nvtx/nvtx_events.h"

/*
 * Sets gpu_others_ns of the ranges of m->nvtx. Call it when the tracks and the operations of queues
 * exist. False: memory is short.
 */
bool nvtx_others_attribute(const struct load_job *job, const struct topic_where *where,
			   struct model *m);

#endif
