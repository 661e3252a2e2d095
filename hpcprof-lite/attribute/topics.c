/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of topics: one row each. */
#include "hpcprof-lite/attribute/topics.h"

#include "hpcprof-lite/attribute/activity/activity.h"
#include "hpcprof-lite/attribute/activity/phases.h"
#include "hpcprof-lite/attribute/expand/omp_regions.h"
#include "hpcprof-lite/attribute/gpu/energy/gpu_energy.h"
#include "hpcprof-lite/attribute/gpu/gpu_attribute.h"
#include "hpcprof-lite/attribute/gpu/idle/gpu_idle.h"
#include "hpcprof-lite/attribute/merge/forward_paths.h"
#include "hpcprof-lite/attribute/merge/jit_names.h"
#include "hpcprof-lite/attribute/merge/python_frames.h"
#include "hpcprof-lite/attribute/merge/wait_objects.h"
#include "hpcprof-lite/attribute/memory/memory_attribute.h"
#include "hpcprof-lite/attribute/mpi/mpi_attribute.h"
#include "hpcprof-lite/attribute/mpi/mpi_clocks.h"
#include "hpcprof-lite/attribute/nccl/nccl_attribute.h"
#include "hpcprof-lite/attribute/nvtx/nvtx_attribute.h"

const struct topic_ops *const topics[] = {
	&topic_clocks, /* first, because the names of JIT code need the corrected times */
	&topic_jit,
	&topic_python,
	&topic_waits,
	&topic_forward,
	&topic_omp,
	&topic_activity,
	&topic_gpu,
	&topic_phases,
	/* after phases, to add some if none was marked; after the GPU's operations */
	&topic_nvtx,
	&topic_mpi,
	&topic_memory,
	&topic_gpu_idle,
	&topic_gpu_energy,
	&topic_nccl,
	NULL,
};
