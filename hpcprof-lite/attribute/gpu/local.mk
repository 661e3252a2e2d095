# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/gpu/gpu_attribute.c hpcprof-lite/attribute/gpu/gpu_attribute.h \
	hpcprof-lite/attribute/gpu/gpu_calls.c hpcprof-lite/attribute/gpu/gpu_calls.h \
	hpcprof-lite/attribute/gpu/gpu_clock.c hpcprof-lite/attribute/gpu/gpu_clock.h \
	hpcprof-lite/attribute/gpu/gpu_describe.c \
	hpcprof-lite/attribute/gpu/gpu_graph.c hpcprof-lite/attribute/gpu/gpu_graph.h \
	hpcprof-lite/attribute/gpu/gpu_join.c hpcprof-lite/attribute/gpu/gpu_join.h \
	hpcprof-lite/attribute/gpu/gpu_launches.c hpcprof-lite/attribute/gpu/gpu_launches.h \
	hpcprof-lite/attribute/gpu/gpu_ledger.c hpcprof-lite/attribute/gpu/gpu_ledger.h \
	hpcprof-lite/attribute/gpu/gpu_line.c hpcprof-lite/attribute/gpu/gpu_line.h \
	hpcprof-lite/attribute/gpu/gpu_metrics.c hpcprof-lite/attribute/gpu/gpu_metrics.h \
	hpcprof-lite/attribute/gpu/gpu_metrics_cell.c \
	hpcprof-lite/attribute/gpu/gpu_metrics_model.c \
	hpcprof-lite/attribute/gpu/gpu_metrics_table.c \
	hpcprof-lite/attribute/gpu/gpu_metrics_table.h \
	hpcprof-lite/attribute/gpu/gpu_share.c hpcprof-lite/attribute/gpu/gpu_share.h
