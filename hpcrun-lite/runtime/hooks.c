/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of hooks in the order in which they start. It does nothing itself; a hook file adds its line. Test: tests/cli/run_*.sh.
 */
#include "hpcrun-lite/runtime/hooks.h"

#include "hpcrun-lite/runtime/hook_thread.h"

void hooks_start(const char *text)
{
	(void)text;
	hook_thread_start();
}

void hooks_forked(void)
{
}
