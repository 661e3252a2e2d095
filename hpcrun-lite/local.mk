# SPDX-License-Identifier: BSD-3-Clause
# The launcher and the preloaded library. Each folder adds its files in its own local.mk.

bin_PROGRAMS += hpcrun-lite/hpcrun-lite
hpcrun_lite_hpcrun_lite_SOURCES = $(launch_sources)
hpcrun_lite_hpcrun_lite_CPPFLAGS = $(AM_CPPFLAGS) -DBINDIR='"$(bindir)"' -DPKGLIBDIR='"$(pkglibdir)"'
hpcrun_lite_hpcrun_lite_LDADD = libhlbase.la -ldl
# What the launcher shares with the library.
launch_sources = \
	common/safe/clock.c common/safe/clock.h \
	common/safe/exec_image.c common/safe/exec_image.h \
	common/safe/text.c common/safe/text.h \
	hpcrun-lite/gpu/cupti/nv_options.c hpcrun-lite/gpu/cupti/nv_options.h \
	hpcrun-lite/gpu/cupti/nv_counter_list.c \
	hpcrun-lite/gpu/cupti/nv_counter_list.h \
	hpcrun-lite/gpu/gpu_probe.h \
	hpcrun-lite/source/papi_probe.h hpcrun-lite/source/source.h

# Store, tree and sources: also linked into unit tests.
noinst_LTLIBRARIES += libhlcct.la
libhlcct_la_SOURCES =
libhlcct_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)

pkglib_LTLIBRARIES += libhpcrun-lite.la
libhpcrun_lite_la_SOURCES = common/safe/exec_image.c common/safe/exec_image.h
libhpcrun_lite_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
# Bound at once: a lazy binding inside a signal handler would enter the loader. Symbolic: our calls
# of our hooks reach ours, whatever the program defines. Static linking of libgcc: libc is all we
# need.
libhpcrun_lite_la_LDFLAGS = -module -avoid-version -shared -Wc,-static-libgcc \
	-Wl,-z,now -Wl,-z,defs -Wl,-z,nodelete -Wl,-Bsymbolic \
	-Wl,--version-script=$(srcdir)/hpcrun-lite/exports.map
libhpcrun_lite_la_LIBADD = libhlgpu.la libhlcct.la libhlregions.la libhlpython.la libhlunwind.la \
	libhlsafe.la libhldlsym.la libhllibc.la libhlstring.la
libhpcrun_lite_la_DEPENDENCIES = $(libhpcrun_lite_la_LIBADD) hpcrun-lite/exports.map
EXTRA_DIST += hpcrun-lite/exports.map

include $(top_srcdir)/hpcrun-lite/api/local.mk
include $(top_srcdir)/hpcrun-lite/cct/local.mk
include $(top_srcdir)/hpcrun-lite/config/local.mk
include $(top_srcdir)/hpcrun-lite/gpu/local.mk
include $(top_srcdir)/hpcrun-lite/gpu/cupti/local.mk
include $(top_srcdir)/hpcrun-lite/gpu/opencl/local.mk
include $(top_srcdir)/hpcrun-lite/hooks/local.mk
include $(top_srcdir)/hpcrun-lite/hooks/signal/local.mk
include $(top_srcdir)/hpcrun-lite/hooks/wait/local.mk
include $(top_srcdir)/hpcrun-lite/launch/local.mk
include $(top_srcdir)/hpcrun-lite/mpi/local.mk
include $(top_srcdir)/hpcrun-lite/openmp/local.mk
include $(top_srcdir)/hpcrun-lite/python/local.mk
include $(top_srcdir)/hpcrun-lite/regions/local.mk
include $(top_srcdir)/hpcrun-lite/replay/local.mk
include $(top_srcdir)/hpcrun-lite/runtime/local.mk
include $(top_srcdir)/hpcrun-lite/runtime/code/local.mk
include $(top_srcdir)/hpcrun-lite/runtime/control/local.mk
include $(top_srcdir)/hpcrun-lite/runtime/glue/local.mk
include $(top_srcdir)/hpcrun-lite/runtime/life/local.mk
include $(top_srcdir)/hpcrun-lite/runtime/nvtx/local.mk
include $(top_srcdir)/hpcrun-lite/runtime/report/local.mk
include $(top_srcdir)/hpcrun-lite/runtime/sample/local.mk
include $(top_srcdir)/hpcrun-lite/runtime/sums/local.mk
include $(top_srcdir)/hpcrun-lite/runtime/waits/local.mk
include $(top_srcdir)/hpcrun-lite/source/local.mk
include $(top_srcdir)/hpcrun-lite/store/local.mk
include $(top_srcdir)/hpcrun-lite/torch/local.mk
include $(top_srcdir)/hpcrun-lite/unwind/local.mk
