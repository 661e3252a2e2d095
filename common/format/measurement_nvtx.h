/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records about NVTX in a measurement file: ranges and marks that the program made.
 * doc/formats/measurement.md is the specification; this header must agree with it. Test:
 * tests/cli/nvtx/nvtx_ranges.sh.
 */
#ifndef COMMON_FORMAT_MEASUREMENT_NVTX_H
#define COMMON_FORMAT_MEASUREMENT_NVTX_H

#include "common/format/measurement.h"

#define MSR_NVTX_NAMES_MOST 8192u /* ids of names are smaller */
#define MSR_NVTX_TEXT_MOST 512u   /* bytes of a name with NUL; longer ones are cut */

enum msr_nvtx_name_kind {
	MSR_NVTX_NAME_RANGE = 1, /* of a range or mark */
	MSR_NVTX_NAME_DOMAIN,
	MSR_NVTX_NAME_CATEGORY,  /* `category` of `domain` */
	MSR_NVTX_NAME_THREAD     /* of the thread with number `thread`; the last one is valid */
};

/* In extents of the process. The text is what the program gave; it need not be UTF-8. */
struct msr_nvtx_name {
	uint32_t bytes;      /* whole record, a multiple of 8 */
	uint32_t id;         /* from 1, not consecutive; equal ids of one kind do not occur */
	uint32_t kind;       /* enum msr_nvtx_name_kind */
	uint32_t domain;     /* id of the DOMAIN; 0: the default domain */
	uint32_t category;   /* RANGE, CATEGORY: number that the program gave; 0: none */
	uint32_t thread;
	uint32_t text_bytes; /* with NUL */
	uint32_t source_bytes; /* with NUL; 0: the source is not known */
	/* char text[text_bytes], source[source_bytes]: "file:line" that the program gave */
};

enum msr_nvtx_range_kind {
	MSR_NVTX_PUSHED = 1, /* pushed and popped by the thread */
	MSR_NVTX_STARTED,    /* started and ended, maybe by another thread */
	MSR_NVTX_MARKED      /* a mark has no duration */
};

/*
 * The sums of ranges or marks with equal context, name and kind. In extents of the thread that
 * ended them. The thread's n-th record has the number n, from 0. The words of a record may come
 * from different moments. n_begun counts ranges that began in the thread, even if they never ended.
 */
struct msr_nvtx_range {
	uint32_t node;       /* where it began; 0: unknown. Its parent may be the outer range */
	uint32_t name;       /* id; 0: unknown, because there were too many */
	uint32_t kind;       /* enum msr_nvtx_range_kind */
	uint32_t reserved;   /* 0 */
	_Atomic uint64_t n_begun;
	_Atomic uint64_t n;        /* ended, or marks */
	_Atomic uint64_t n_events; /* those of `n` with an NVTX_EVENT */
	_Atomic uint64_t ns;
	_Atomic uint64_t least_ns, most_ns;
	_Atomic uint64_t n_values; /* with a number as payload */
	_Atomic uint64_t value_sum, value_least, value_most; /* bits of doubles */
};

#define MSR_NVTX_EVENT_OPEN 1u /* the range had not ended: leave_ns is the end of the thread */

/* One range or mark. In extents of the thread that ended it. */
struct msr_nvtx_event {
	uint64_t enter_ns;   /* CLOCK_MONOTONIC */
	uint64_t leave_ns;   /* marks: enter_ns */
	uint32_t range;      /* number of the NVTX_RANGE of this thread */
	uint32_t flags;      /* MSR_NVTX_EVENT_* */
};

#endif
