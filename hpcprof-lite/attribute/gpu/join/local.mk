# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/gpu/join/gpu_clock.c hpcprof-lite/attribute/gpu/join/gpu_clock.h \
	hpcprof-lite/attribute/gpu/join/gpu_graph.c hpcprof-lite/attribute/gpu/join/gpu_graph.h \
	hpcprof-lite/attribute/gpu/join/gpu_join.c hpcprof-lite/attribute/gpu/join/gpu_join.h \
	hpcprof-lite/attribute/gpu/join/gpu_launches.c \
	hpcprof-lite/attribute/gpu/join/gpu_launches.h \
	hpcprof-lite/attribute/gpu/join/gpu_line.c hpcprof-lite/attribute/gpu/join/gpu_line.h \
	hpcprof-lite/attribute/gpu/join/gpu_ranges.c hpcprof-lite/attribute/gpu/join/gpu_ranges.h
