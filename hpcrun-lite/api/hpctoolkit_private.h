/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface between libhpctoolkit.a, which is in programs, and the preloaded library. The two
 * may be of different versions, so this interface never changes. */
#ifndef HPCRUN_LITE_API_HPCTOOLKIT_PRIVATE_H
#define HPCRUN_LITE_API_HPCTOOLKIT_PRIVATE_H

#define HPCRUN_LITE_SAMPLING "hpcrun_lite_sampling"

enum hpcrun_lite_sampling {
	HPCRUN_LITE_SAMPLING_STOP,
	HPCRUN_LITE_SAMPLING_START,
	HPCRUN_LITE_SAMPLING_ASK
};

/* Returns whether the process is measured now. */
typedef int hpcrun_lite_sampling_fn(int what);

#endif
