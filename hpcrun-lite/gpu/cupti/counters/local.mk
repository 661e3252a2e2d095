# SPDX-License-Identifier: BSD-3-Clause
cupti_sources += \
	hpcrun-lite/gpu/cupti/counters/nv_counter_replay.c \
	hpcrun-lite/gpu/cupti/counters/nv_counter_replay.h \
	hpcrun-lite/gpu/cupti/counters/nv_counter_session.c \
	hpcrun-lite/gpu/cupti/counters/nv_counter_session.h \
	hpcrun-lite/gpu/cupti/counters/nv_counters.c hpcrun-lite/gpu/cupti/counters/nv_counters.h \
	hpcrun-lite/gpu/cupti/counters/nv_profiler_host.c \
	hpcrun-lite/gpu/cupti/counters/nv_profiler_host.h
