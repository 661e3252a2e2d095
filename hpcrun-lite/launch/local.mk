# SPDX-License-Identifier: BSD-3-Clause
# The launcher, the hooks (added to hpcrun_hooks) and the PAPI module.

bin_PROGRAMS += hpcrun-lite/hpcrun-lite
hpcrun_lite_hpcrun_lite_SOURCES = \
	hpcrun-lite/launch/main.c \
	$(launch_sources)
hpcrun_lite_hpcrun_lite_CPPFLAGS = $(AM_CPPFLAGS) -DBINDIR='"$(bindir)"' -DPKGLIBDIR='"$(pkglibdir)"'
hpcrun_lite_hpcrun_lite_LDADD = libhlbase.la -ldl

# Without main: also linked into the unit test.
launch_sources = \
	hpcrun-lite/launch/event.c hpcrun-lite/launch/event.h \
	hpcrun-lite/launch/event_check.c \
	hpcrun-lite/launch/job.c hpcrun-lite/launch/job.h \
	hpcrun-lite/launch/list.c hpcrun-lite/launch/list.h \
	hpcrun-lite/launch/papi_client.c hpcrun-lite/launch/papi_client.h \
	hpcrun-lite/launch/place.c hpcrun-lite/launch/place.h \
	hpcrun-lite/launch/program.c hpcrun-lite/launch/program.h \
	hpcrun-lite/launch/rundir.c hpcrun-lite/launch/rundir.h \
	hpcrun-lite/runtime/config.c hpcrun-lite/runtime/config.h \
	hpcrun-lite/runtime/config_rank.c \
	hpcrun-lite/source/papi_probe.h hpcrun-lite/source/source.h
