# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/report/gpu_sums.c hpcrun-lite/runtime/report/gpu_sums.h \
	hpcrun-lite/runtime/report/report.c hpcrun-lite/runtime/report/report.h \
	hpcrun-lite/runtime/report/report_children.c \
	hpcrun-lite/runtime/report/report_files.c
