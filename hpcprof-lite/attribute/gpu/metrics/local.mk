# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/gpu/metrics/gpu_metrics.c \
	hpcprof-lite/attribute/gpu/metrics/gpu_metrics.h \
	hpcprof-lite/attribute/gpu/metrics/gpu_metrics_cell.c \
	hpcprof-lite/attribute/gpu/metrics/gpu_metrics_model.c \
	hpcprof-lite/attribute/gpu/metrics/gpu_metrics_table.c \
	hpcprof-lite/attribute/gpu/metrics/gpu_metrics_table.h \
	hpcprof-lite/attribute/gpu/metrics/gpu_occupancy.c \
	hpcprof-lite/attribute/gpu/metrics/gpu_occupancy.h \
	hpcprof-lite/attribute/gpu/metrics/gpu_stalls.c \
	hpcprof-lite/attribute/gpu/metrics/gpu_stalls.h
