# SPDX-License-Identifier: BSD-3-Clause
# hpcprof-lite. Each folder adds its files in its own local.mk.

# Everything but main() and the sinks: tests link it.
noinst_LTLIBRARIES += libhlprof.la
libhlprof_la_SOURCES =
libhlprof_la_LIBADD = libhlparts.la libhlbase.la -lm

# What reports show of the model. It calls the model's functions, as the sinks do.
noinst_LTLIBRARIES += libhlview.la
libhlview_la_SOURCES =

# The text, without the sinks that write files.
noinst_LTLIBRARIES += libhltext.la
libhltext_la_SOURCES = hpcprof-lite/sink/sink.h
libhltext_la_LIBADD = libhlview.la

# The sinks that write files. They call the model's functions; who links them brings those.
noinst_LTLIBRARIES += libhlsink.la
libhlsink_la_SOURCES =
libhlsink_la_CPPFLAGS = $(AM_CPPFLAGS) $(OTF2_CPPFLAGS) $(SQLITE3_CPPFLAGS) $(Z_CPPFLAGS)
libhlsink_la_LIBADD = libhlparts.la libhlview.la $(OTF2_LIBS) $(SQLITE3_LIBS) $(Z_LIBS) -lm

# Comparisons. They call the functions of the model and of the text.
noinst_LTLIBRARIES += libhlcompare.la
libhlcompare_la_SOURCES =

bin_PROGRAMS += hpcprof-lite/hpcprof-lite
hpcprof_lite_hpcprof_lite_SOURCES = \
	hpcprof-lite/archive.c hpcprof-lite/archive.h \
	hpcprof-lite/compare_main.c hpcprof-lite/compare_main.h \
	hpcprof-lite/database.c hpcprof-lite/database.h \
	hpcprof-lite/hpcprof_arguments.h \
	hpcprof-lite/hpcprof_main.c \
	hpcprof-lite/hpcprof_options.c \
	hpcprof-lite/hpcprof_outputs.c hpcprof-lite/hpcprof_outputs.h \
	hpcprof-lite/needed_structures.c hpcprof-lite/needed_structures.h \
	hpcprof-lite/sinks.c hpcprof-lite/sinks.h
hpcprof_lite_hpcprof_lite_CPPFLAGS = $(AM_CPPFLAGS) -DBINDIR='"$(bindir)"' \
	-DPKGLIBDIR='"$(pkglibdir)"'
hpcprof_lite_hpcprof_lite_LDADD = libhlcompare.la libhltext.la libhlsink.la libhlprof.la -lm

include $(top_srcdir)/hpcprof-lite/attribute/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/activity/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/describe/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/expand/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/known/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/merge/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/sum/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/topic/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/gpu/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/gpu/energy/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/gpu/idle/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/gpu/join/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/gpu/metrics/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/gpu/samples/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/mpi/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/nccl/local.mk
include $(top_srcdir)/hpcprof-lite/attribute/nvtx/local.mk
include $(top_srcdir)/hpcprof-lite/compare/local.mk
include $(top_srcdir)/hpcprof-lite/filter/local.mk
include $(top_srcdir)/hpcprof-lite/load/local.mk
include $(top_srcdir)/hpcprof-lite/load/jit/local.mk
include $(top_srcdir)/hpcprof-lite/load/job/local.mk
include $(top_srcdir)/hpcprof-lite/model/local.mk
include $(top_srcdir)/hpcprof-lite/parts/local.mk
include $(top_srcdir)/hpcprof-lite/record/local.mk
include $(top_srcdir)/hpcprof-lite/sink/local.mk
include $(top_srcdir)/hpcprof-lite/sink/cctdb/local.mk
include $(top_srcdir)/hpcprof-lite/sink/html/local.mk
include $(top_srcdir)/hpcprof-lite/sink/json/local.mk
include $(top_srcdir)/hpcprof-lite/sink/otf2/local.mk
include $(top_srcdir)/hpcprof-lite/sink/perfetto/local.mk
include $(top_srcdir)/hpcprof-lite/sink/pprof/local.mk
include $(top_srcdir)/hpcprof-lite/sink/sqlite/local.mk
include $(top_srcdir)/hpcprof-lite/sink/text/local.mk
include $(top_srcdir)/hpcprof-lite/sink/text/counters/local.mk
include $(top_srcdir)/hpcprof-lite/sink/text/energy/local.mk
include $(top_srcdir)/hpcprof-lite/sink/text/advice/local.mk
include $(top_srcdir)/hpcprof-lite/sink/text/mpi/local.mk
include $(top_srcdir)/hpcprof-lite/sink/text/nccl/local.mk
include $(top_srcdir)/hpcprof-lite/sink/text/nvtx/local.mk
include $(top_srcdir)/hpcprof-lite/sink/text/parallel/local.mk
include $(top_srcdir)/hpcprof-lite/view/local.mk
include $(top_srcdir)/hpcprof-lite/view/counters/local.mk
include $(top_srcdir)/hpcprof-lite/view/advice/local.mk
include $(top_srcdir)/hpcprof-lite/view/parallel/local.mk
