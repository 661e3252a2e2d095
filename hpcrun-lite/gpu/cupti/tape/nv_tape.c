/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the recorder; see nv_tape.h. Test: tests/cli/gpu/replay.sh. */
#include "common/safe/text.h"
#include "hpcrun-lite/gpu/cupti/tape/nv_tape_internal.h"

void nv_tape_start(struct nv_library *l)
{
	const char *why;
	char line[256];
	struct text t = text_in(line, sizeof line);
	if (!nv.options.record_bytes)
		return;
	if (tape_open(nv.options.record_bytes, &why)) {
		tape_real = *l;
		tape_wrap(l);
		tape_wrap_pc(l);
		tape_enter(RECORDING_INIT, NULL);
		return;
	}
	text_put(&t, "gpu=nvidia: nothing is recorded for replay: ");
	text_put(&t, why);
	nv.host->note(nv.host, line);
}

void nv_tape_end(const char *why)
{
	if (tape_is_on())
		tape_stop(why);
}

void nv_tape_ready(void)
{
	struct tape_thread *t = tape_is_on() ? tape_thread() : NULL;
	if (t && t->depth == 1 && t->frame[0].entry == RECORDING_INIT)
		tape_pop(0, 0);
}
