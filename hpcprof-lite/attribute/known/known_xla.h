/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of ranges that XLA makes (JAX, TensorFlow), as people read them:
 *
 *	Thunk:#name=mul,hlo_op=fusion.3,unique_hlo_op_id=17#          fusion.3 (mul)
 *	XlaModule:#prefix=jit(step),hlo_module=jit_step,program_id=3# module jit_step
 *	XlaPass:#name=fusion,module=jit_step#                         XlaPass fusion (jit_step)
 *
 * Pure. Test: tests/unit/nvtx/test_known_xla.c.
 */
#ifndef HPCPROF_ATTRIBUTE_KNOWN_KNOWN_XLA_H
#define HPCPROF_ATTRIBUTE_KNOWN_KNOWN_XLA_H

#include <stdbool.h>
#include <stddef.h>

/* Returns false if XLA did not make this name. Cuts a name that does not fit. */
bool known_xla_name(const char *name, char *to, size_t n_bytes);

#endif
