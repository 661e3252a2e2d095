# SPDX-License-Identifier: BSD-3-Clause

# Everything but main() and the sinks: tests link it.
noinst_LTLIBRARIES += libhlprof.la
libhlprof_la_SOURCES = \
	hpcprof-lite/attribute/attribute.c hpcprof-lite/attribute/attribute.h \
	hpcprof-lite/attribute/describe.c hpcprof-lite/attribute/describe.h \
	hpcprof-lite/attribute/expand.c hpcprof-lite/attribute/expand.h \
	hpcprof-lite/attribute/ledger.c hpcprof-lite/attribute/ledger.h \
	hpcprof-lite/attribute/merge.c hpcprof-lite/attribute/merge.h \
	hpcprof-lite/attribute/order.c hpcprof-lite/attribute/order.h \
	hpcprof-lite/attribute/sum.c hpcprof-lite/attribute/sum.h \
	hpcprof-lite/load/job.c hpcprof-lite/load/job.h \
	hpcprof-lite/load/measurement.c hpcprof-lite/load/measurement.h \
	hpcprof-lite/model/model.c hpcprof-lite/model/model.h hpcprof-lite/model/private.h
libhlprof_la_LIBADD = libhlbase.la -lm

include $(top_srcdir)/hpcprof-lite/sink/local.mk
