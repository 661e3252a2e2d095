# SPDX-License-Identifier: BSD-3-Clause
# Adapters for the run times of OpenMP.
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/openmp/gomp_loops.c hpcrun-lite/openmp/gomp_loops.h \
	hpcrun-lite/openmp/gomp_hooks.c hpcrun-lite/openmp/gomp_hooks.h \
	hpcrun-lite/openmp/gomp_real.c hpcrun-lite/openmp/gomp_real.h \
	hpcrun-lite/openmp/ompt.h hpcrun-lite/openmp/ompt_api.h \
	hpcrun-lite/openmp/ompt_region.c \
	hpcrun-lite/openmp/ompt_start.c \
	hpcrun-lite/openmp/openmp_glue.c hpcrun-lite/openmp/openmp_glue.h
