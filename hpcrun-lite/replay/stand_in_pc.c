/* SPDX-License-Identifier: BSD-3-Clause */
/* PC sampling as the recording knows it; see stand_in.c. Test: tests/cli/replay.sh. */
#include "hpcrun-lite/replay/player.h"

void stand_in_pc(struct nv_library *l)
{
	(void)l;
}
