/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules about how often a kernel accesses memory and shared memory, and with how many bytes. They
 * need the causes of waits. For advice_kernels.c.
 */
#ifndef HPCPROF_VIEW_ADVICE_ADVICE_RATES_H
#define HPCPROF_VIEW_ADVICE_ADVICE_RATES_H

#include "hpcprof-lite/view/advice/advice_causes.h"

/*
 * The part of the cycles that shared memory needs without conflicts, for the accesses that are
 * waited for and as many stores. 0: unknown, for it also does atomic operations.
 */
double advice_shared_rate(const struct advice_kernel *k);
/* True if shared memory needs so little, and yet accesses wait for room in its queue. */
bool advice_shared_is_slow(const struct advice_kernel *k, const struct advice_causes *c);

/*
 * True if a kernel waits for accesses of less than 4 bytes for each thread, which are side by side,
 * and memory could deliver more.
 */
bool advice_is_narrow(const struct advice_kernel *k, const struct advice_memory *m,
		      const struct advice_causes *c);
bool advice_narrow(const struct advice_kernel *k, const struct advice_memory *m,
		   const struct advice_causes *c, struct view_advices *to);
/* A kernel that loses few cycles, but uses many to load the same data from the L1 cache again. */
bool advice_reuse(const struct advice_kernel *k, const struct advice_memory *m,
		  const struct advice_causes *c, struct view_advices *to);

#endif
