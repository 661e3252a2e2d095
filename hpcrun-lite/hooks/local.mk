# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/hooks/hook_child.c hpcrun-lite/hooks/hook_child.h \
	hpcrun-lite/hooks/hook_env.c hpcrun-lite/hooks/hook_env.h \
	hpcrun-lite/hooks/hook_exec.c hpcrun-lite/hooks/hook_exec.h \
	hpcrun-lite/hooks/hook_exit.c hpcrun-lite/hooks/hook_exit.h \
	hpcrun-lite/hooks/hook_fd.c hpcrun-lite/hooks/hook_fd.h \
	hpcrun-lite/hooks/hook_getenv.c hpcrun-lite/hooks/hook_getenv.h \
	hpcrun-lite/hooks/hook_poll.c hpcrun-lite/hooks/hook_poll.h \
	hpcrun-lite/hooks/hook_remove.c hpcrun-lite/hooks/hook_remove.h \
	hpcrun-lite/hooks/hook_scratch.c hpcrun-lite/hooks/hook_scratch.h \
	hpcrun-lite/hooks/hook_shell.c \
	hpcrun-lite/hooks/hook_spawn.c \
	hpcrun-lite/hooks/hook_syscall.c hpcrun-lite/hooks/hook_syscall.h \
	hpcrun-lite/hooks/hook_thread.c hpcrun-lite/hooks/hook_thread.h \
	hpcrun-lite/hooks/hook_user.c hpcrun-lite/hooks/hook_user.h \
	hpcrun-lite/hooks/hook_wait_signal.c \
	hpcrun-lite/hooks/hooks.c
