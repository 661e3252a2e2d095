/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hooks replace functions of libc and call the originals. Each hook file keeps one kind of
 * promise to the program; doc/transparency.md names a program that breaks without it. Hooks use the
 * run time through runtime.h only, and it calls them through the table below. Tests:
 * tests/cli/run/run_*.sh.
 */
#include "common/safe/find_object.h"
#include "common/safe/library_symbol.h"
#include "hpcrun-lite/hooks/hook_child.h"
#include "hpcrun-lite/hooks/hook_env.h"
#include "hpcrun-lite/hooks/hook_exec.h"
#include "hpcrun-lite/hooks/hook_exit.h"
#include "hpcrun-lite/hooks/hook_fd.h"
#include "hpcrun-lite/hooks/hook_getenv.h"
#include "hpcrun-lite/hooks/hook_got.h"
#include "hpcrun-lite/hooks/hook_poll.h"
#include "hpcrun-lite/hooks/hook_remove.h"
#include "hpcrun-lite/hooks/hook_scratch.h"
#include "hpcrun-lite/hooks/hook_syscall.h"
#include "hpcrun-lite/hooks/hook_thread.h"
#include "hpcrun-lite/hooks/hook_user.h"
#include "hpcrun-lite/hooks/signal/hook_fatal.h"
#include "hpcrun-lite/hooks/signal/hook_signal.h"
#include "hpcrun-lite/hooks/signal/hook_signal_internal.h"
#include "hpcrun-lite/hooks/wait/hook_wait.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <string.h>

/* The order matters: later ones may call functions that earlier ones replace. */
static void find_functions(void (*signal_start)(void))
{
	hook_getenv_start();
	hook_thread_start();
	hook_child_start();
	hook_exec_start();
	hook_shell_start();
	hook_exit_start();
	hook_fd_start();
	signal_start();
	hook_syscall_start();
	hook_poll_start();
	hook_wait_start();
	hook_wait_signal_start();
	hook_user_start();
	hook_remove_start();
}

static void start(const char *text)
{
	hook_env_start(text);
	find_functions(hook_signal_start);
}

/*
 * The loader lists a preloaded library before libc. Before glibc 2.34 we load libdl, which comes
 * later in the list in any case.
 */
static bool is_late(void)
{
	struct dl_find_object own;
	struct library library;
	if (find_object_surely((void *)(uintptr_t)is_late, &own) != 0)
		return false;
	for (const struct link_map *m = own.dlfo_link_map->l_next; m; m = m->l_next)
		if (library_read(m, &library) && strcmp(library.soname, "libc.so.6") == 0)
			return false;
	return true;
}

static void take_signal(void)
{
	find_functions(hook_signal_attach);
	wait_attach();
}

static void give_back(bool keeps_signal)
{
	hook_got_restore();
	if (!keeps_signal)
		hook_signal_detach();
}

static void measured(void)
{
	hook_fatal_start();
	hook_signal_bus_start();
}

const struct runtime_hooks runtime_hooks = {
	.find_config = hook_env_find,
	.start = start,
	.is_late = is_late,
	.take_signal = take_signal,
	.patch = hook_got_patch,
	.give_back = give_back,
	.give_back_signal = hook_signal_detach,
	.join = hook_signal_join,
	.leave = hook_signal_leave,
	.measured = measured,
	.withdrawn = hook_fatal_end,
	.forked = hook_signal_forked,
	.protect_signal = hook_signal_protect,
	.thread_ends = hook_scratch_thread_end,
	.restart_wait = hook_own_restart_wait,
	.interrupted_call = wait_interrupted,
};

__attribute__((constructor)) static void construct(void)
{
	runtime_start();
}
