# SPDX-License-Identifier: BSD-3-Clause
# The preloaded library. Hook files are added to hpcrun_hooks by hpcrun-lite/launch/local.mk.

noinst_LTLIBRARIES += libhlcct.la
pkglib_LTLIBRARIES += libhpcrun-lite.la
hpcrun_hooks =

# Store, tree and sources: also linked into unit tests.
libhlcct_la_SOURCES = \
	hpcrun-lite/cct/cct.c hpcrun-lite/cct/cct.h \
	hpcrun-lite/cct/table.c hpcrun-lite/cct/table.h \
	hpcrun-lite/source/cputime.c \
	hpcrun-lite/source/ktimer.h \
	hpcrun-lite/source/perf.c \
	hpcrun-lite/source/perf_event.c hpcrun-lite/source/perf_event.h \
	hpcrun-lite/source/realtime.c \
	hpcrun-lite/source/source.h \
	hpcrun-lite/store/extent.c hpcrun-lite/store/extent.h \
	hpcrun-lite/store/nursery.c hpcrun-lite/store/nursery.h \
	hpcrun-lite/store/space.c hpcrun-lite/store/space.h \
	hpcrun-lite/store/store.c hpcrun-lite/store/store.h
libhlcct_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)

libhpcrun_lite_la_SOURCES = \
	hpcrun-lite/runtime/children.c hpcrun-lite/runtime/children.h \
	hpcrun-lite/runtime/config.c hpcrun-lite/runtime/config.h \
	hpcrun-lite/runtime/config_rank.c hpcrun-lite/runtime/config_rank.h \
	hpcrun-lite/runtime/control.c hpcrun-lite/runtime/control.h \
	hpcrun-lite/runtime/elf_note.c hpcrun-lite/runtime/elf_note.h \
	hpcrun-lite/runtime/gpu_glue.c hpcrun-lite/runtime/gpu_glue.h \
	hpcrun-lite/runtime/hook_thread.c hpcrun-lite/runtime/hook_thread.h \
	hpcrun-lite/runtime/hooks.c hpcrun-lite/runtime/hooks.h \
	hpcrun-lite/runtime/jit.c hpcrun-lite/runtime/jit.h \
	hpcrun-lite/runtime/module.c hpcrun-lite/runtime/module.h \
	hpcrun-lite/runtime/process.c hpcrun-lite/runtime/process.h \
	hpcrun-lite/runtime/records.c hpcrun-lite/runtime/records.h \
	hpcrun-lite/runtime/report.c \
	hpcrun-lite/runtime/report_children.c \
	hpcrun-lite/runtime/report_files.c \
	hpcrun-lite/runtime/runtime.h \
	hpcrun-lite/runtime/sample.c hpcrun-lite/runtime/sample.h \
	hpcrun-lite/runtime/say.c hpcrun-lite/runtime/say.h \
	hpcrun-lite/runtime/sources.c \
	hpcrun-lite/runtime/thread.c hpcrun-lite/runtime/thread.h \
	hpcrun-lite/runtime/watch.c hpcrun-lite/runtime/watch.h \
	$(hpcrun_hooks)
libhpcrun_lite_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
# Bound at once: a lazy binding inside a signal handler would enter the loader. Symbolic: our calls of our hooks reach ours, whatever the program
# defines. Static linking of libgcc: libc is all we need.
libhpcrun_lite_la_LDFLAGS = -module -avoid-version -shared -Wc,-static-libgcc \
	-Wl,-z,now -Wl,-z,defs -Wl,-z,nodelete -Wl,-Bsymbolic -Wl,--version-script=$(srcdir)/hpcrun-lite/runtime/exports.map
libhpcrun_lite_la_LIBADD = libhlgpu.la libhlcct.la libhlpython.la libhlunwind.la libhlsafe.la libhlstring.la
libhpcrun_lite_la_DEPENDENCIES = $(libhpcrun_lite_la_LIBADD) hpcrun-lite/runtime/exports.map
EXTRA_DIST += hpcrun-lite/runtime/exports.map
