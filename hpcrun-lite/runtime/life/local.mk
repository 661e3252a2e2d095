# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/life/deliver.c hpcrun-lite/runtime/life/deliver.h \
	hpcrun-lite/runtime/life/end.c \
	hpcrun-lite/runtime/life/entries.c \
	hpcrun-lite/runtime/life/fork.c \
	hpcrun-lite/runtime/life/life.h \
	hpcrun-lite/runtime/life/parts.c hpcrun-lite/runtime/life/parts.h \
	hpcrun-lite/runtime/life/process_record.c hpcrun-lite/runtime/life/process_record.h \
	hpcrun-lite/runtime/life/sources.c hpcrun-lite/runtime/life/sources.h \
	hpcrun-lite/runtime/life/start.c \
	hpcrun-lite/runtime/life/thread.c
