# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/beside.c hpcrun-lite/runtime/beside.h \
	hpcrun-lite/runtime/children.c hpcrun-lite/runtime/children.h \
	hpcrun-lite/runtime/file_fault.c hpcrun-lite/runtime/file_fault.h \
	hpcrun-lite/runtime/next.c hpcrun-lite/runtime/next.h \
	hpcrun-lite/runtime/process.c hpcrun-lite/runtime/process.h \
	hpcrun-lite/runtime/records.c hpcrun-lite/runtime/records.h \
	hpcrun-lite/runtime/runtime.h \
	hpcrun-lite/runtime/say.c hpcrun-lite/runtime/say.h \
	hpcrun-lite/runtime/signal_table.c hpcrun-lite/runtime/signal_table.h \
	hpcrun-lite/runtime/thread.h \
	hpcrun-lite/runtime/thread_block.c \
	hpcrun-lite/runtime/thread_off.c hpcrun-lite/runtime/thread_off.h \
	hpcrun-lite/runtime/thread_parts.h \
	hpcrun-lite/runtime/thread_record.c hpcrun-lite/runtime/thread_record.h \
	hpcrun-lite/runtime/thread_sources.c hpcrun-lite/runtime/thread_sources.h \
	hpcrun-lite/runtime/watch.c hpcrun-lite/runtime/watch.h
