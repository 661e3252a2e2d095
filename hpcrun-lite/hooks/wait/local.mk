# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/hooks/wait/hook_sleep.c \
	hpcrun-lite/hooks/wait/hook_wait.h \
	hpcrun-lite/hooks/wait/hook_wait_number.c hpcrun-lite/hooks/wait/hook_wait_number.h \
	hpcrun-lite/hooks/wait/hook_wait_restart.c
