# SPDX-License-Identifier: BSD-3-Clause
cupti_sources += \
	hpcrun-lite/gpu/cupti/trace/nv_buffer.c \
	hpcrun-lite/gpu/cupti/trace/nv_callback.c \
	hpcrun-lite/gpu/cupti/trace/nv_calls.c \
	hpcrun-lite/gpu/cupti/trace/nv_client.c \
	hpcrun-lite/gpu/cupti/trace/nv_enable.c \
	hpcrun-lite/gpu/cupti/trace/nv_flush.c \
	hpcrun-lite/gpu/cupti/trace/nv_graph.c \
	hpcrun-lite/gpu/cupti/trace/nv_kernel.c \
	hpcrun-lite/gpu/cupti/trace/nv_open.c \
	hpcrun-lite/gpu/cupti/trace/nv_record.c \
	hpcrun-lite/gpu/cupti/trace/nv_switch.c \
	hpcrun-lite/gpu/cupti/trace/nv_trace.c hpcrun-lite/gpu/cupti/trace/nv_trace.h \
	hpcrun-lite/gpu/cupti/trace/nv_yield.c
