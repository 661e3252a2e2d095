# SPDX-License-Identifier: BSD-3-Clause
# Parallel regions of OpenMP. The primitive is also linked into unit tests.

noinst_LTLIBRARIES += libhlopenmp.la
libhlopenmp_la_SOURCES = \
	hpcrun-lite/openmp/region.c hpcrun-lite/openmp/region.h \
	hpcrun-lite/openmp/region_path.c hpcrun-lite/openmp/region_path.h \
	hpcrun-lite/openmp/region_sums.c hpcrun-lite/openmp/region_sums.h \
	hpcrun-lite/openmp/stack_marks.c hpcrun-lite/openmp/stack_marks.h
libhlopenmp_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/openmp/gomp_loops.c hpcrun-lite/openmp/gomp_loops.h \
	hpcrun-lite/openmp/gomp_hooks.c hpcrun-lite/openmp/gomp_hooks.h \
	hpcrun-lite/openmp/gomp_real.c hpcrun-lite/openmp/gomp_real.h \
	hpcrun-lite/openmp/ompt.h hpcrun-lite/openmp/ompt_api.h \
	hpcrun-lite/openmp/ompt_region.c \
	hpcrun-lite/openmp/ompt_start.c
