/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layouts of all supported versions; see layout.h. Must not guess. Tests:
 * tests/unit/run/test_python.c, tests/cli/python/python_interpreters.sh.
 */
#include "hpcrun-lite/python/layout.h"

#include <pthread.h>
#include <string.h>

/* Of x86-64, from which the offsets are. 3.10 and 3.11 have two mutexes before these fields. */
enum { MUTEX_BYTES = 40, TWO_MUTEXES_MORE = 2 * (sizeof(pthread_mutex_t) - MUTEX_BYTES) };

static const struct python_layout layouts[] = {
	{
		.minor = 10,
		.chain = PYTHON_CHAIN_OBJECTS,
		.lines = MSR_PYTHON_LINES_PAIRS,
		.attributes = PYTHON_ATTRIBUTES_DICT,
		.runtime = {.finalizing = 16,
			    .tss = 584 + TWO_MUTEXES_MORE,
			    .current = 568 + TWO_MUTEXES_MORE,
			    .main_thread = 72,
			    .interpreters = PYTHON_NOWHERE},
		.thread = {.thread_id = 176, .status = PYTHON_NOWHERE, .frame = 24, .cframe = 48},
		.cframe = {.frame = PYTHON_NOWHERE, .previous = 8},
		.frame = {.code = 32,
			  .previous = 24,
			  .instruction = 96,
			  .owner = PYTHON_NOWHERE,
			  .is_entry = PYTHON_NOWHERE,
			  .locals = 352},
		.code = {.filename = 104,
			 .name = 112,
			 .qualname = PYTHON_NOWHERE,
			 .first_line = 40,
			 .line_table = 120,
			 .bytecode = PYTHON_NOWHERE,
			 .version = PYTHON_NOWHERE,
			 .first_traceable = PYTHON_NOWHERE,
			 .bytes = 144},
		.type_keys = PYTHON_NOWHERE,
		.ascii_bytes = 48,
		.compact_bytes = 72,
	},
	{
		.minor = 11,
		.chain = PYTHON_CHAIN_CFRAMES,
		.lines = MSR_PYTHON_LINES_LOCATIONS,
		.attributes = PYTHON_ATTRIBUTES_BEFORE,
		.runtime = {.finalizing = 24,
			    .tss = 592 + TWO_MUTEXES_MORE,
			    .current = 576 + TWO_MUTEXES_MORE,
			    .main_thread = 80,
			    .interpreters = PYTHON_NOWHERE},
		.thread = {.thread_id = 152,
			   .status = PYTHON_NOWHERE,
			   .frame = PYTHON_NOWHERE,
			   .cframe = 56},
		.cframe = {.frame = 8, .previous = 16},
		.frame = {.code = 32,
			  .previous = 48,
			  .instruction = 56,
			  .owner = 69,
			  .is_entry = 68,
			  .locals = 72},
		.code = {.filename = 112,
			 .name = 120,
			 .qualname = 128,
			 .first_line = 72,
			 .line_table = 136,
			 .bytecode = 184,
			 .version = PYTHON_NOWHERE,
			 .first_traceable = 168,
			 .bytes = 176},
		.type_keys = 872,
		.ascii_bytes = 48,
		.compact_bytes = 72,
	},
	{
		.minor = 12,
		.chain = PYTHON_CHAIN_SHIMS,
		.lines = MSR_PYTHON_LINES_LOCATIONS,
		.attributes = PYTHON_ATTRIBUTES_TAGGED,
		.runtime = {.finalizing = 24,
			    .tss = 1544,
			    .current = PYTHON_NOWHERE,
			    .main_thread = 64,
			    .interpreters = 56},
		.thread = {.thread_id = 136,
			   .status = 24,
			   .status_mask = 1 << 4,
			   .attached = 1 << 4,
			   .frame = PYTHON_NOWHERE,
			   .cframe = 56},
		.cframe = {.frame = 0, .previous = 8},
		.frame = {.code = 0,
			  .previous = 8,
			  .instruction = 56,
			  .owner = 70,
			  .is_entry = PYTHON_NOWHERE,
			  .locals = 72},
		.code = {.filename = 112,
			 .name = 120,
			 .qualname = 128,
			 .first_line = 68,
			 .line_table = 136,
			 .bytecode = 192,
			 .version = 92,
			 .first_traceable = 176,
			 .bytes = 184},
		.type_keys = 880,
		.ascii_bytes = 40,
		.compact_bytes = 56,
	},
	{
		.minor = 13,
		.said_thread = 19,
		.said_id = 24,
		.said_frame = 28,
		.chain = PYTHON_CHAIN_SHIMS,
		.lines = MSR_PYTHON_LINES_LOCATIONS,
		.attributes = PYTHON_ATTRIBUTES_BEHIND,
		.runtime = {.finalizing = 608,
			    .tss = 2160,
			    .current = PYTHON_NOWHERE,
			    .main_thread = 656,
			    .interpreters = 648},
		.thread = {.thread_id = 152,
			   .status = 40,
			   .status_mask = UINT32_MAX,
			   .attached = 1,
			   .frame = 72,
			   .cframe = PYTHON_NOWHERE},
		.cframe = {.frame = PYTHON_NOWHERE, .previous = PYTHON_NOWHERE},
		.frame = {.code = 0,
			  .previous = 8,
			  .instruction = 56,
			  .owner = 70,
			  .is_entry = PYTHON_NOWHERE,
			  .locals = 72},
		.code = {.filename = 112,
			 .name = 120,
			 .qualname = 128,
			 .first_line = 68,
			 .line_table = 136,
			 .bytecode = 200,
			 .version = 92,
			 .first_traceable = 184,
			 .bytes = 192},
		.type_keys = 880,
		.ascii_bytes = 40,
		.compact_bytes = 56,
	},
	{
		.minor = 14,
		.said_thread = 22,
		.said_id = 27,
		.said_frame = 31,
		.chain = PYTHON_CHAIN_SHIMS,
		.lines = MSR_PYTHON_LINES_LOCATIONS,
		.attributes = PYTHON_ATTRIBUTES_BEHIND,
		.runtime = {.finalizing = 784,
			    .tss = 2336,
			    .current = PYTHON_NOWHERE,
			    .main_thread = 832,
			    .interpreters = 824},
		.thread = {.thread_id = 152,
			   .status = 44,
			   .status_mask = UINT32_MAX,
			   .attached = 1,
			   .frame = 72,
			   .cframe = PYTHON_NOWHERE},
		.cframe = {.frame = PYTHON_NOWHERE, .previous = PYTHON_NOWHERE},
		.frame = {.code = 0,
			  .previous = 8,
			  .instruction = 56,
			  .owner = 74,
			  .is_entry = PYTHON_NOWHERE,
			  .locals = 80},
		.code = {.filename = 112,
			 .name = 120,
			 .qualname = 128,
			 .first_line = 68,
			 .line_table = 136,
			 .bytecode = 208,
			 .version = 92,
			 .first_traceable = 192,
			 .bytes = 200},
		.type_keys = 880,
		.ascii_bytes = 40,
		.compact_bytes = 56,
	},
	{
		.minor = 15,
		.said_thread = 22,
		.said_id = 30,
		.said_frame = 39,
		.chain = PYTHON_CHAIN_SHIMS,
		.lines = MSR_PYTHON_LINES_LOCATIONS,
		.attributes = PYTHON_ATTRIBUTES_BEHIND,
		.runtime = {.finalizing = 912,
			    .tss = PYTHON_NOWHERE,
			    .current = PYTHON_NOWHERE,
			    .main_thread = 960,
			    .interpreters = 952},
		.thread = {.thread_id = 176,
			   .status = 48,
			   .status_mask = UINT32_MAX,
			   .attached = 1,
			   .frame = 72,
			   .cframe = PYTHON_NOWHERE},
		.cframe = {.frame = PYTHON_NOWHERE, .previous = PYTHON_NOWHERE},
		.frame = {.code = 0,
			  .previous = 8,
			  .instruction = 56,
			  .owner = 74,
			  .is_entry = PYTHON_NOWHERE,
			  .locals = 80},
		.code = {.filename = 112,
			 .name = 120,
			 .qualname = 128,
			 .first_line = 68,
			 .line_table = 136,
			 .bytecode = 208,
			 .version = 92,
			 .first_traceable = 192,
			 .bytes = 200},
		.type_keys = 888,
		.ascii_bytes = 40,
		.compact_bytes = 56,
	},
};

const struct python_layout *python_layout_of(unsigned minor)
{
	for (unsigned i = 0; i < sizeof layouts / sizeof *layouts; i++)
		if (layouts[i].minor == minor)
			return &layouts[i];
	return NULL;
}

/*
 * _Py_DebugOffsets: words of 64 bits. The parts that we use start at different places in each
 * version. They are: "xdebugpy", version, free_threaded; then offsets in the runtime (size,
 * finalizing, interpreters_head), in an interpreter, in a thread, in a frame.
 */
enum { SAID_FREE_THREADED = 2, SAID_FINALIZING = 4 };
enum {
	THREAD_FRAME = 4,
	FRAME_PREVIOUS = 1,
	FRAME_CODE = 2,
	FRAME_INSTRUCTION = 3,
	FRAME_OWNER = 5
};

bool python_layout_agrees(const struct python_layout *l, const void *runtime, size_t n_bytes)
{
	uint64_t said[PYTHON_LAYOUT_SAID_BYTES / sizeof(uint64_t)];
	if (!l->said_thread)
		return true;
	if (n_bytes < sizeof said)
		return false;
	memcpy(said, runtime, sizeof said);
	const uint64_t *thread = said + l->said_thread, *frame = said + l->said_frame;
	return memcmp(said, "xdebugpy", sizeof *said) == 0 && !said[SAID_FREE_THREADED] &&
	       said[SAID_FINALIZING] == l->runtime.finalizing &&
	       thread[THREAD_FRAME] == l->thread.frame && said[l->said_id] == l->thread.thread_id &&
	       frame[FRAME_PREVIOUS] == l->frame.previous && frame[FRAME_CODE] == l->frame.code &&
	       frame[FRAME_INSTRUCTION] == l->frame.instruction &&
	       frame[FRAME_OWNER] == l->frame.owner;
}
