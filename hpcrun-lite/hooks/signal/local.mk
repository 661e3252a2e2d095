# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/hooks/signal/hook_altstack.c \
	hpcrun-lite/hooks/signal/hook_fatal.c hpcrun-lite/hooks/signal/hook_fatal.h \
	hpcrun-lite/hooks/signal/hook_jump.c \
	hpcrun-lite/hooks/signal/hook_mask.c hpcrun-lite/hooks/signal/hook_own.c \
	hpcrun-lite/hooks/signal/hook_signal.c hpcrun-lite/hooks/signal/hook_signal.h \
	hpcrun-lite/hooks/signal/hook_signal_bus.c \
	hpcrun-lite/hooks/signal/hook_signal_internal.h
