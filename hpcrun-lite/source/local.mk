# SPDX-License-Identifier: BSD-3-Clause
# Sources of samples. Those of PAPI are a module, which is loaded for its events alone.
libhlcct_la_SOURCES += \
	hpcrun-lite/source/cputime.c \
	hpcrun-lite/source/ktimer.h \
	hpcrun-lite/source/offcpu.c \
	hpcrun-lite/source/offcpu_wait.c hpcrun-lite/source/offcpu_wait.h \
	hpcrun-lite/source/perf.c \
	hpcrun-lite/source/perf_event.c hpcrun-lite/source/perf_event.h \
	hpcrun-lite/source/realtime.c \
	hpcrun-lite/source/source.h

if HAVE_PAPI
pkglib_LTLIBRARIES += libhpcrun-lite-papi.la
libhpcrun_lite_papi_la_SOURCES = \
	hpcrun-lite/source/papi.c \
	hpcrun-lite/source/papi_probe.c hpcrun-lite/source/papi_probe.h \
	hpcrun-lite/source/papi_set.c hpcrun-lite/source/papi_set.h \
	hpcrun-lite/source/source.h
libhpcrun_lite_papi_la_CPPFLAGS = $(AM_CPPFLAGS) $(PAPI_CPPFLAGS)
libhpcrun_lite_papi_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
libhpcrun_lite_papi_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,now -Wl,-z,defs
libhpcrun_lite_papi_la_LIBADD = libhlstring.la $(PAPI_LIBS)
endif
