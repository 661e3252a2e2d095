# SPDX-License-Identifier: BSD-3-Clause
# The neutral core of GPU measurement; also linked into unit tests.

noinst_LTLIBRARIES += libhlgpu.la
libhlgpu_la_SOURCES = \
	hpcrun-lite/gpu/aggregate.c \
	hpcrun-lite/gpu/content.c hpcrun-lite/gpu/content.h \
	hpcrun-lite/gpu/core.c hpcrun-lite/gpu/core.h \
	hpcrun-lite/gpu/device_record.c \
	hpcrun-lite/gpu/extent_take.c \
	hpcrun-lite/gpu/gpu.h \
	hpcrun-lite/gpu/hash128.c hpcrun-lite/gpu/hash128.h \
	hpcrun-lite/gpu/host.c hpcrun-lite/gpu/host.h \
	hpcrun-lite/gpu/index.c hpcrun-lite/gpu/index.h \
	hpcrun-lite/gpu/core_internal.h \
	hpcrun-lite/gpu/launch.c \
	hpcrun-lite/gpu/lock.c hpcrun-lite/gpu/lock.h \
	hpcrun-lite/gpu/op.c \
	hpcrun-lite/gpu/pending.c hpcrun-lite/gpu/pending.h \
	hpcrun-lite/gpu/registry.c \
	hpcrun-lite/gpu/tally.c \
	hpcrun-lite/gpu/writer.c hpcrun-lite/gpu/writer.h
libhlgpu_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
