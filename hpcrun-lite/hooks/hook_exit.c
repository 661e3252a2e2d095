/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that end the process without atexit handlers; see hook_exit.h. Must not prevent the
 * process from ending. Test: tests/cli/sacred/sacred_exit.sh.
 */
#include "hpcrun-lite/hooks/hook_exit.h"

#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

HOOK_NEXT(_exit);
HOOK_NEXT(_Exit);
HOOK_NEXT(quick_exit);

static int quick_status;

/* The kernel keeps only the low eight bits of the status. */
static void end(int status)
{
	runtime_end(MSR_EXIT_QUICK, status & 0xff);
}

static _Noreturn void leave(int status)
{
	for (;;)
		sys_call3(SYS_exit_group, status, 0, 0);
}

HOOK void _exit(int status)
{
	end(status);
	NEXT(_exit)(status);
	leave(status);
}

HOOK void _Exit(int status)
{
	end(status);
	NEXT(_Exit)(status);
	leave(status);
}

/*
 * The program's at_quick_exit handlers run first. Ours was registered before them, so it runs last.
 */
HOOK void quick_exit(int status)
{
	quick_status = status;
	NEXT(quick_exit)(status);
	leave(status);
}

static void at_quick_end(void)
{
	end(quick_status);
}

void hook_exit_start(void)
{
	struct hook_next *const all[] = {&next__exit, &next__Exit, &next_quick_exit};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
	(void)at_quick_exit(at_quick_end);
}
