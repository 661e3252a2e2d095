# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/glue/gpu_glue.c hpcrun-lite/runtime/glue/gpu_glue.h \
	hpcrun-lite/runtime/glue/mpi_glue.c hpcrun-lite/runtime/glue/mpi_glue.h \
	hpcrun-lite/runtime/glue/python_glue.c hpcrun-lite/runtime/glue/python_glue.h
