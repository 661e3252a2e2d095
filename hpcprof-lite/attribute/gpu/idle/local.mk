# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/gpu/idle/gpu_idle.c hpcprof-lite/attribute/gpu/idle/gpu_idle.h \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_account.c \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_device.c \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_queue.c \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_sweep.c \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_sweep.h \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_thread.c \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_topic.c
