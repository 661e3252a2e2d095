# SPDX-License-Identifier: BSD-3-Clause
# Parallel regions of OpenMP, and marks on stacks. Also linked into unit tests.

noinst_LTLIBRARIES += libhlregions.la
libhlregions_la_SOURCES = \
	hpcrun-lite/regions/region.c hpcrun-lite/regions/region.h \
	hpcrun-lite/regions/region_path.c hpcrun-lite/regions/region_path.h \
	hpcrun-lite/regions/region_sums.c hpcrun-lite/regions/region_sums.h \
	hpcrun-lite/regions/stack_marks.c hpcrun-lite/regions/stack_marks.h
libhlregions_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
