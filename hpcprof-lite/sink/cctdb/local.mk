# SPDX-License-Identifier: BSD-3-Clause
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/cctdb/cctdb.c hpcprof-lite/sink/cctdb/cctdb.h \
	hpcprof-lite/sink/cctdb/cctdb_cct.c \
	hpcprof-lite/sink/cctdb/cctdb_format.c hpcprof-lite/sink/cctdb/cctdb_format.h \
	hpcprof-lite/sink/cctdb/cctdb_identity.c \
	hpcprof-lite/sink/cctdb/cctdb_meta.c \
	hpcprof-lite/sink/cctdb/cctdb_profile.c \
	hpcprof-lite/sink/cctdb/cctdb_sink.h \
	hpcprof-lite/sink/cctdb/cctdb_share.c hpcprof-lite/sink/cctdb/cctdb_share.h \
	hpcprof-lite/sink/cctdb/cctdb_source.c \
	hpcprof-lite/sink/cctdb/cctdb_statistics.c hpcprof-lite/sink/cctdb/cctdb_statistics.h \
	hpcprof-lite/sink/cctdb/cctdb_trace.c \
	hpcprof-lite/sink/cctdb/cctdb_yaml.c
