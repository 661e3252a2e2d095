/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of hooks in the order in which they start. It does nothing itself; a hook file adds its line. Test: tests/cli/run_*.sh.
 */
#include "hpcrun-lite/runtime/hooks.h"

#include "hpcrun-lite/runtime/hook_child.h"
#include "hpcrun-lite/runtime/hook_env.h"
#include "hpcrun-lite/runtime/hook_exec.h"
#include "hpcrun-lite/runtime/hook_exit.h"
#include "hpcrun-lite/runtime/hook_fd.h"
#include "hpcrun-lite/runtime/hook_getenv.h"
#include "hpcrun-lite/runtime/hook_signal.h"
#include "hpcrun-lite/runtime/hook_syscall.h"
#include "hpcrun-lite/runtime/hook_thread.h"
#include "hpcrun-lite/runtime/hook_user.h"
#include "hpcrun-lite/runtime/hook_wait.h"

void hooks_start(const char *text)
{
	hook_env_start(text);
	hook_getenv_start();
	hook_thread_start();
	hook_child_start();
	hook_exec_start();
	hook_shell_start();
	hook_exit_start();
	hook_fd_start();
	hook_signal_start();
	hook_syscall_start();
	hook_wait_start();
	hook_sleep_start();
	hook_wait_signal_start();
	hook_user_start();
}

void hooks_forked(void)
{
	hook_signal_forked();
}
