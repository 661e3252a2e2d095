# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/waits/blame.c hpcrun-lite/runtime/waits/blame.h \
	hpcrun-lite/runtime/waits/wait_object.c hpcrun-lite/runtime/waits/wait_object.h \
	hpcrun-lite/runtime/waits/wait_object_name.c \
	hpcrun-lite/runtime/waits/wait_sample.c hpcrun-lite/runtime/waits/wait_sample.h
