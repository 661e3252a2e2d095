# SPDX-License-Identifier: BSD-3-Clause
# The back end for NVIDIA GPUs: a module that CUDA's driver loads. It links libc alone; CUPTI and the driver are found at run time.

# Without what the launcher asks: also linked into unit tests, with a fake CUPTI behind it.
cupti_sources = \
	hpcrun-lite/gpu/gpu.h \
	hpcrun-lite/gpu/hash128.c hpcrun-lite/gpu/hash128.h \
	hpcrun-lite/gpu/cupti/enter/nv_inject.c \
	hpcrun-lite/gpu/cupti/front/front.h hpcrun-lite/gpu/cupti/front/nv_headers.h \
	hpcrun-lite/gpu/cupti/nv.h \
	hpcrun-lite/gpu/cupti/nv_code.c \
	hpcrun-lite/gpu/cupti/nv_counter_list.c hpcrun-lite/gpu/cupti/nv_counter_list.h \
	hpcrun-lite/gpu/cupti/nv_cut.c hpcrun-lite/gpu/cupti/nv_cut.h \
	hpcrun-lite/gpu/cupti/nv_device.c \
	hpcrun-lite/gpu/cupti/nv_gpu_lock.c \
	hpcrun-lite/gpu/cupti/nv_guard.c \
	hpcrun-lite/gpu/cupti/nv_image.c hpcrun-lite/gpu/cupti/nv_image.h \
	hpcrun-lite/gpu/cupti/nv_library.c \
	hpcrun-lite/gpu/cupti/nv_map.c hpcrun-lite/gpu/cupti/nv_map.h \
	hpcrun-lite/gpu/cupti/nv_options.c hpcrun-lite/gpu/cupti/nv_options.h \
	hpcrun-lite/gpu/cupti/nv_part.c \
	hpcrun-lite/gpu/cupti/nv_shared.h \
	hpcrun-lite/gpu/cupti/nv_state.c \
	$(tape_sources)

# The recorder.
tape_sources = common/format/recording.h

include $(top_srcdir)/hpcrun-lite/gpu/cupti/counters/local.mk
include $(top_srcdir)/hpcrun-lite/gpu/cupti/energy/local.mk
include $(top_srcdir)/hpcrun-lite/gpu/cupti/front/local.mk
include $(top_srcdir)/hpcrun-lite/gpu/cupti/trace/local.mk
include $(top_srcdir)/hpcrun-lite/gpu/cupti/pc/local.mk
include $(top_srcdir)/hpcrun-lite/gpu/cupti/tape/local.mk

if HAVE_CUPTI
# The module and the player of recordings are made of the same objects.
noinst_LTLIBRARIES += libhlcupti.la
libhlcupti_la_SOURCES = $(cupti_sources)
libhlcupti_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS) -DNV_BUILT_WITH='"$(CUPTI_LIBDIR)"'
libhlcupti_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)

pkglib_LTLIBRARIES += libhpcrun-lite-cupti.la
libhpcrun_lite_cupti_la_SOURCES = \
	hpcrun-lite/gpu/gpu_probe.h \
	hpcrun-lite/gpu/cupti/enter/nv_probe.c
libhpcrun_lite_cupti_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
libhpcrun_lite_cupti_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
# Never unloaded: exit handlers and functions given to CUPTI lie in it.
libhpcrun_lite_cupti_la_LDFLAGS = -module -avoid-version -shared -Wc,-static-libgcc -Wl,-z,now -Wl,-z,defs -Wl,-z,nodelete
libhpcrun_lite_cupti_la_LIBADD = libhlcupti.la libhlsafe.la \
	libhlmodule.la libhldlsym.la libhllibc.la libhlstring.la
endif
