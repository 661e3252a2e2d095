# SPDX-License-Identifier: BSD-3-Clause
# libhlbase: for the tools. libhlsafe: async-signal-safe, for the run-time library (never sanitized).

noinst_LTLIBRARIES += libhlbase.la libhlsafe.la libhlstring.la

libhlbase_la_SOURCES = \
	common/base/capped.h \
	common/base/cursor.c common/base/cursor.h \
	common/base/cutguard.c common/base/cutguard.h \
	common/base/foreign.c common/base/foreign.h \
	common/base/log.c common/base/log.h \
	common/base/map.c common/base/map.h \
	common/base/mapfile.c common/base/mapfile.h \
	common/base/options.c common/base/options.h \
	common/base/pool.c common/base/pool.h \
	common/base/space.c common/base/space.h \
	common/base/status.h \
	common/base/strtab.c common/base/strtab.h \
	common/base/sorted.h \
	common/base/vec.c common/base/vec.h \
	common/safe/printable.c common/safe/printable.h \
	common/cache/structure_cache.c common/cache/structure_cache.h \
	common/format/ends.c common/format/ends.h \
	common/format/measurement.c common/format/measurement.h \
	common/format/measurement_gpu.c common/format/measurement_gpu.h \
	common/format/structure.c common/format/structure.h \
	common/format/recording.c common/format/recording.h \
	common/format/structure_layout.h \
	common/format/structure_write.c common/format/structure_write.h

libhlsafe_la_SOURCES = \
	common/safe/clock.c common/safe/clock.h common/safe/sys.h common/safe/trylock.h \
	common/safe/fnv.h \
	common/safe/load.c common/safe/load.h \
	common/safe/printable.c common/safe/printable.h \
	common/safe/room.c common/safe/room.h \
	common/safe/text.c common/safe/text.h \
	common/format/measurement.c common/format/measurement.h \
	common/format/measurement_gpu.c common/format/measurement_gpu.h
libhlsafe_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)

# Hidden memcpy and the like, for the shared libraries alone: a program keeps libc's.
libhlstring_la_SOURCES = common/safe/string.c
libhlstring_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS) -ffreestanding -fno-builtin

# Code inside the measured process: hidden symbols, static TLS, no instrumentation.
SAFE_CFLAGS = -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector
