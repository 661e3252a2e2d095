# SPDX-License-Identifier: BSD-3-Clause
# What a processor must give; also in the folders of the run time that have its name.
machine_headers = common/machine/machine.h \
	common/machine/aarch64/aarch64.h common/machine/aarch64/aarch64_code.h \
	common/machine/aarch64/aarch64_unwind.h \
	common/machine/x86_64/x86_64.h common/machine/x86_64/x86_64_code.h \
	common/machine/x86_64/x86_64_unwind.h

# libhlbase: for the tools. libhlsafe: async-signal-safe, for the run-time library (never
# sanitized).

noinst_LTLIBRARIES += libhlbase.la libhlsafe.la libhlstring.la libhllibc.la libhldlsym.la \
	libhlmodule.la
libhlbase_la_SOURCES =
libhlsafe_la_SOURCES = $(machine_headers)
libhlsafe_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
libhlstring_la_SOURCES =
libhlstring_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS) -ffreestanding -fno-builtin

libhllibc_la_SOURCES =
libhllibc_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
libhldlsym_la_SOURCES =
libhldlsym_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
libhlmodule_la_SOURCES =
libhlmodule_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)

# Code inside the measured process: hidden symbols, static TLS, no instrumentation.
SAFE_CFLAGS = -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector

libhlbase_la_SOURCES += \
	common/base/capped.h \
	common/base/cursor.c common/base/cursor.h \
	common/base/cutguard.c common/base/cutguard.h \
	common/base/foreign.c common/base/foreign.h \
	common/base/iberty.h \
	common/base/library_place.c common/base/library_place.h \
	common/base/log.c common/base/log.h \
	common/base/map.c common/base/map.h \
	common/base/mapfile.c common/base/mapfile.h \
	common/base/now.h \
	common/base/options.c common/base/options.h \
	common/base/pool.c common/base/pool.h \
	common/base/sorted.h \
	common/base/space.c common/base/space.h \
	common/base/standard_files.c common/base/standard_files.h \
	common/base/status.h \
	common/base/strtab.c common/base/strtab.h \
	common/base/vec.c common/base/vec.h \
	common/format/ends.c common/format/ends.h \
	common/format/local_data.c common/format/local_data.h \
	common/format/measurement.c common/format/measurement.h \
	common/format/measurement_gpu.c common/format/measurement_gpu.h \
	common/format/measurement_memory.h \
	common/format/measurement_mpi.h \
	common/format/measurement_nvtx.h \
	common/format/mpi_calls.c common/format/mpi_calls.h \
	common/format/recording.c common/format/recording.h \
	common/format/structure.c common/format/structure.h \
	common/format/structure_cache.c common/format/structure_cache.h \
	common/format/structure_internal.h \
	common/format/structure_layout.c common/format/structure_layout.h \
	common/format/structure_names.c \
	common/format/structure_open.c \
	common/format/structure_waits.c \
	common/format/structure_write.c common/format/structure_write.h
# What the run time needs of it.
libhlsafe_la_SOURCES += \
	common/format/measurement.c common/format/measurement.h \
	common/format/measurement_gpu.c common/format/measurement_gpu.h

libhlbase_la_SOURCES += \
	common/rights/inside.c common/rights/inside.h \
	common/rights/rights.c common/rights/rights.h

# exec_image is in the launcher and in the preloaded library, text also in the launcher.
libhlsafe_la_SOURCES += \
	common/safe/cgroup.c common/safe/cgroup.h \
	common/safe/clock.c common/safe/clock.h \
	common/safe/content_hash.c common/safe/content_hash.h \
	common/safe/find_object.c common/safe/find_object.h \
	common/safe/fnv.h \
	common/safe/launcher.c common/safe/launcher.h \
	common/safe/library_symbol.c common/safe/library_symbol.h \
	common/safe/load.c common/safe/load.h \
	common/safe/loader.c common/safe/loader.h \
	common/safe/newer.h \
	common/safe/patience.c common/safe/patience.h \
	common/safe/printable.c common/safe/printable.h \
	common/safe/quiet.h \
	common/safe/room.c common/safe/room.h \
	common/safe/sys.h \
	common/safe/text.c common/safe/text.h \
	common/safe/usage.c common/safe/usage.h \
	common/safe/forked.h common/safe/one_writer.h common/safe/trylock.h
libhlbase_la_SOURCES += common/safe/content_hash.c common/safe/content_hash.h \
	common/safe/fnv.h common/safe/launcher.c common/safe/launcher.h \
	common/safe/printable.c common/safe/printable.h
# Hidden memcpy and the like, for the shared libraries alone: a program keeps libc's.
libhlstring_la_SOURCES += common/safe/string.c
# Hidden dlsym and the like, for the same libraries.
libhllibc_la_SOURCES += common/safe/libc.c common/safe/libc.h
libhldlsym_la_SOURCES += common/safe/libc_dlsym.c
libhlmodule_la_SOURCES += common/safe/libc_module.c
