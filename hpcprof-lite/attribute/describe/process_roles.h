/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what the processes of Python programs are for: workers of PyTorch's DataLoader, of pools,
 * of multiprocessing and of Ray, helpers that multiprocessing starts, and launchers of ranks. Test:
 * tests/unit/prof_torch/test_process_roles.c.
 */
#ifndef HPCPROF_ATTRIBUTE_DESCRIBE_PROCESS_ROLES_H
#define HPCPROF_ATTRIBUTE_DESCRIBE_PROCESS_ROLES_H

#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/private.h"

/*
 * Sets the roles of the processes. They must be in the order of the files. Call it after
 * describe_processes(). False if memory is short.
 */
bool process_roles_find(struct model *m, const struct load_job *job);

#endif
