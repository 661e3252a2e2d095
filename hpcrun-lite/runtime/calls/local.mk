# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/calls/call_path.c hpcrun-lite/runtime/calls/call_path.h
