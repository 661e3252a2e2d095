/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges that were started and not yet ended (nvtxRangeStart). Any thread may end them. Takes no
 * lock and never waits. Test: tests/cli/nvtx/nvtx_misuse.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_NVTX_NVTX_STARTED_H
#define HPCRUN_LITE_RUNTIME_NVTX_NVTX_STARTED_H

#include <stdbool.h>
#include <stdint.h>

#define NVTX_STARTED_MOST 1024u

struct nvtx_started {
	uint64_t enter_ns;
	uint32_t thread;  /* the thread that started it */
	uint32_t id;      /* of its sum in that thread */
	uint32_t name;
	bool has_value;
	double value;
};

/* Returns a slot for a range; NVTX_STARTED_MOST: all are taken. */
unsigned nvtx_started_reserve(void);
/* Returns a slot to which no range was added. */
void nvtx_started_return(unsigned slot);
/* Returns the number that nvtx_started_take() expects, never 0. Numbers do not repeat. */
uint64_t nvtx_started_add(unsigned slot, const struct nvtx_started *s);
/* Takes a range out. Returns false if no range has this number. */
bool nvtx_started_take(uint64_t number, struct nvtx_started *s);
/* In a forked child: ranges of its parent are unknown. */
void nvtx_started_forked(void);

#endif
