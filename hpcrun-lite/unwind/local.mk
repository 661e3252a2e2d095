# SPDX-License-Identifier: BSD-3-Clause
# libhlunwind: part of the run-time library (never sanitized). The library that contains it is
# linked with -z now.

noinst_LTLIBRARIES += libhlunwind.la
UNWIND_SOURCES = \
	hpcrun-lite/unwind/arch.h \
	hpcrun-lite/unwind/bytes.h \
	hpcrun-lite/unwind/cfi.c hpcrun-lite/unwind/cfi.h hpcrun-lite/unwind/cfi_internal.h \
	hpcrun-lite/unwind/cfi_search.c \
	hpcrun-lite/unwind/compute.c \
	hpcrun-lite/unwind/ctx_x86_64.c \
	hpcrun-lite/unwind/deep.c hpcrun-lite/unwind/deep.h \
	hpcrun-lite/unwind/expr.c \
	hpcrun-lite/unwind/go.c hpcrun-lite/unwind/go.h hpcrun-lite/unwind/go_switch.c \
	hpcrun-lite/unwind/heuristic.c \
	hpcrun-lite/unwind/unwind_image.c hpcrun-lite/unwind/unwind_image.h \
	hpcrun-lite/unwind/internal.h \
	hpcrun-lite/unwind/mem.c hpcrun-lite/unwind/mem.h \
	hpcrun-lite/unwind/memo.c hpcrun-lite/unwind/memo.h \
	hpcrun-lite/unwind/proof.h \
	hpcrun-lite/unwind/recipe.c hpcrun-lite/unwind/recipe.h \
	hpcrun-lite/unwind/regs.h \
	hpcrun-lite/unwind/step.c \
	hpcrun-lite/unwind/unwind.c hpcrun-lite/unwind/unwind.h \
	hpcrun-lite/unwind/walk.c
include $(top_srcdir)/hpcrun-lite/unwind/code/local.mk
libhlunwind_la_SOURCES = $(UNWIND_SOURCES)
libhlunwind_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
