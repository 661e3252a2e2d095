/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which a recording is played; see player.h. Test: tests/cli/replay.sh. */
#include "common/base/log.h"
#include "hpcrun-lite/replay/player.h"

#include <stdlib.h>

enum status plan_make(struct player *p, bool shuffle, uint64_t seed)
{
	(void)shuffle, (void)seed;
	p->plan = calloc((size_t)p->tape.n_events + 1, sizeof *p->plan);
	if (!p->plan) {
		log_error(NULL, "there is not enough memory for the order of the recording");
		return STATUS_NO_MEMORY;
	}
	for (uint32_t n = 0; n < p->tape.n_events; n++)
		if (tape_has_turn(&p->tape.event[n]))
			p->plan[p->n_plan++] = n;
	return STATUS_OK;
}
