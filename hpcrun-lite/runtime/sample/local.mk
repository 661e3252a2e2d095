# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/sample/call_path.c hpcrun-lite/runtime/sample/call_path.h \
	hpcrun-lite/runtime/sample/sample.c hpcrun-lite/runtime/sample/sample.h \
	hpcrun-lite/runtime/sample/sample_entry.c hpcrun-lite/runtime/sample/sample_entry.h \
	hpcrun-lite/runtime/sample/sample_hold.c \
	hpcrun-lite/runtime/sample/sample_internal.h \
	hpcrun-lite/runtime/sample/sample_record.c
