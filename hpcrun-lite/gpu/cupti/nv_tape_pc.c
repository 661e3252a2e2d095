/* SPDX-License-Identifier: BSD-3-Clause */
/* PC sampling with the recorder in front of it; see nv_tape_call.c. Test: tests/cli/replay.sh. */
#include "hpcrun-lite/gpu/cupti/nv_tape_internal.h"

void tape_wrap_pc(struct nv_library *l)
{
	(void)l;
}
