# SPDX-License-Identifier: BSD-3-Clause
# libhlsink: the sinks cctdb and otf2. They call the model's functions; who links them brings those.

noinst_LTLIBRARIES += libhlsink.la
libhlsink_la_SOURCES = \
	hpcprof-lite/sink/cctdb.c hpcprof-lite/sink/cctdb.h \
	hpcprof-lite/sink/cctdb_cct.c \
	hpcprof-lite/sink/cctdb_format.c hpcprof-lite/sink/cctdb_format.h \
	hpcprof-lite/sink/cctdb_identity.c \
	hpcprof-lite/sink/cctdb_meta.c \
	hpcprof-lite/sink/cctdb_profile.c \
	hpcprof-lite/sink/cctdb_source.c \
	hpcprof-lite/sink/cctdb_statistics.c hpcprof-lite/sink/cctdb_statistics.h \
	hpcprof-lite/sink/cctdb_trace.c \
	hpcprof-lite/sink/cctdb_yaml.c \
	hpcprof-lite/sink/names.c hpcprof-lite/sink/names.h \
	hpcprof-lite/sink/otf2_tree.c hpcprof-lite/sink/otf2_tree.h \
	hpcprof-lite/sink/outfile.c hpcprof-lite/sink/outfile.h \
	hpcprof-lite/sink/progress.h \
	hpcprof-lite/sink/sampling_facts.c hpcprof-lite/sink/sampling_facts.h \
	hpcprof-lite/sink/sink.h \
	hpcprof-lite/sink/source_rights.c hpcprof-lite/sink/source_rights.h

if HAVE_OTF2
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/otf2.c hpcprof-lite/sink/otf2.h \
	hpcprof-lite/sink/otf2_define.c \
	hpcprof-lite/sink/otf2_defs.c \
	hpcprof-lite/sink/otf2_error.c \
	hpcprof-lite/sink/otf2_events.c \
	hpcprof-lite/sink/otf2_gpu.c \
	hpcprof-lite/sink/otf2_gpu_defs.c \
	hpcprof-lite/sink/otf2_ledgers.c
endif
libhlsink_la_CPPFLAGS = $(AM_CPPFLAGS) $(OTF2_CPPFLAGS)
libhlsink_la_LIBADD = $(OTF2_LIBS)
