/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_nccl.h. Test: tests/unit/prof_nccl/test_nccl.c. */
#include "hpcprof-lite/view/view_nccl.h"

#include <inttypes.h>
#include <stdio.h>

const char *view_nccl_operation(uint16_t call)
{
	return call == MPI_CALL_Allreduce   ? "AllReduce"
	       : call == MPI_CALL_Allgather ? "AllGather"
					    : "ReduceScatter";
}

void view_nccl_name(const struct model *m, uint32_t process, uint32_t device, char *to,
		    size_t n_bytes)
{
	const struct model_process *p = &m->processes[process];
	unsigned n_devices = 0;
	int n = p->rank >= 0 ? snprintf(to, n_bytes, "rank %" PRId32, p->rank)
			     : snprintf(to, n_bytes, "pid %" PRIu32, p->pid);
	for (uint32_t i = 0; i < m->nccl->n_devices; i++)
		n_devices += m->nccl->devices[i].process == process;
	if (n_devices > 1 && n > 0 && (size_t)n < n_bytes)
		snprintf(to + n, n_bytes - (size_t)n, ", GPU %" PRIu32,
			 m->gpu_devices[device].ordinal);
}

uint32_t view_nccl_slowest(const struct model_nccl *x)
{
	uint32_t best = MODEL_NONE;
	for (uint32_t i = 0; i < x->n_devices; i++)
		if (x->devices[i].n_last &&
		    (best == MODEL_NONE || x->devices[i].n_last > x->devices[best].n_last))
			best = i;
	return best;
}
