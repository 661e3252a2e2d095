# SPDX-License-Identifier: BSD-3-Clause

# Everything but main() and the sinks: tests link it.
noinst_LTLIBRARIES += libhlprof.la
libhlprof_la_SOURCES = \
	hpcprof-lite/attribute/attribute.c hpcprof-lite/attribute/attribute.h \
	hpcprof-lite/attribute/children.c hpcprof-lite/attribute/children.h \
	hpcprof-lite/attribute/describe.c hpcprof-lite/attribute/describe.h \
	hpcprof-lite/attribute/expand.c hpcprof-lite/attribute/expand.h \
	hpcprof-lite/attribute/gpu.c hpcprof-lite/attribute/gpu.h \
	hpcprof-lite/attribute/gpu_calls.c hpcprof-lite/attribute/gpu_calls.h \
	hpcprof-lite/attribute/gpu_clock.c hpcprof-lite/attribute/gpu_clock.h \
	hpcprof-lite/attribute/gpu_describe.c \
	hpcprof-lite/attribute/gpu_graph.c hpcprof-lite/attribute/gpu_graph.h \
	hpcprof-lite/attribute/gpu_join.c hpcprof-lite/attribute/gpu_join.h \
	hpcprof-lite/attribute/gpu_launches.c hpcprof-lite/attribute/gpu_launches.h \
	hpcprof-lite/attribute/gpu_ledger.c hpcprof-lite/attribute/gpu_ledger.h \
	hpcprof-lite/attribute/gpu_line.c hpcprof-lite/attribute/gpu_line.h \
	hpcprof-lite/attribute/gpu_metrics.c hpcprof-lite/attribute/gpu_metrics.h \
	hpcprof-lite/attribute/gpu_occupancy.c hpcprof-lite/attribute/gpu_occupancy.h \
	hpcprof-lite/attribute/gpu_ranges.c hpcprof-lite/attribute/gpu_ranges.h \
	hpcprof-lite/attribute/gpu_samples.c hpcprof-lite/attribute/gpu_samples.h \
	hpcprof-lite/attribute/gpu_samples_measure.c hpcprof-lite/attribute/gpu_samples_run.h \
	hpcprof-lite/attribute/gpu_sampling.c hpcprof-lite/attribute/gpu_sampling.h \
	hpcprof-lite/attribute/gpu_shares.c hpcprof-lite/attribute/gpu_shares.h \
	hpcprof-lite/attribute/gpu_stalls.c hpcprof-lite/attribute/gpu_stalls.h \
	hpcprof-lite/attribute/gpu_yardstick.c hpcprof-lite/attribute/gpu_yardstick.h \
	hpcprof-lite/attribute/jit.c hpcprof-lite/attribute/jit.h \
	hpcprof-lite/attribute/jit_split.c \
	hpcprof-lite/attribute/ledger.c hpcprof-lite/attribute/ledger.h \
	hpcprof-lite/attribute/merge.c hpcprof-lite/attribute/merge.h \
	hpcprof-lite/attribute/merge_modules.c hpcprof-lite/attribute/merge_modules.h \
	hpcprof-lite/attribute/order.c hpcprof-lite/attribute/order.h \
	hpcprof-lite/attribute/python.c hpcprof-lite/attribute/python.h \
	hpcprof-lite/attribute/sum.c hpcprof-lite/attribute/sum.h \
	hpcprof-lite/load/binary.c \
	hpcprof-lite/load/gpu.c hpcprof-lite/load/gpu.h \
	hpcprof-lite/load/jit.c hpcprof-lite/load/jit.h \
	hpcprof-lite/load/jit_dump.c \
	hpcprof-lite/load/jit_files.c \
	hpcprof-lite/load/job.c hpcprof-lite/load/job.h \
	hpcprof-lite/load/measurement.c hpcprof-lite/load/measurement.h \
	hpcprof-lite/load/python_lines.c hpcprof-lite/load/python_lines.h \
	hpcprof-lite/load/records.c hpcprof-lite/load/records.h \
	hpcprof-lite/load/structures.c hpcprof-lite/load/structures.h \
	hpcprof-lite/model/model.c hpcprof-lite/model/model.h hpcprof-lite/model/private.h
libhlprof_la_LIBADD = libhlbase.la -lm

# The text, without the sinks that write files: those are libhlsink.la of sink/local.mk.
noinst_LTLIBRARIES += libhltext.la
libhltext_la_SOURCES = \
	hpcprof-lite/sink/sink.h \
	hpcprof-lite/sink/text.c hpcprof-lite/sink/text.h \
	hpcprof-lite/sink/text_all.c hpcprof-lite/sink/text_all.h \
	hpcprof-lite/sink/text_all_fields.c \
	hpcprof-lite/sink/text_all_gpu.c \
	hpcprof-lite/sink/text_balance.c \
	hpcprof-lite/sink/text_flat.c \
	hpcprof-lite/sink/text_gpu.c hpcprof-lite/sink/text_gpu.h \
	hpcprof-lite/sink/text_gpu_hot.c hpcprof-lite/sink/text_gpu_hot.h \
	hpcprof-lite/sink/text_gpu_report.c \
	hpcprof-lite/sink/text_gpu_samples.c \
	hpcprof-lite/sink/text_print.c hpcprof-lite/sink/text_print.h \
	hpcprof-lite/sink/text_report.c hpcprof-lite/sink/text_report.h \
	hpcprof-lite/sink/text_sampling.c hpcprof-lite/sink/text_sampling.h \
	hpcprof-lite/sink/text_style.c hpcprof-lite/sink/text_style.h \
	hpcprof-lite/sink/text_table.c hpcprof-lite/sink/text_table.h \
	hpcprof-lite/sink/text_fold.c hpcprof-lite/sink/text_fold.h \
	hpcprof-lite/sink/text_tree.c

bin_PROGRAMS += hpcprof-lite/hpcprof-lite
hpcprof_lite_hpcprof_lite_SOURCES = \
	hpcprof-lite/archive.c hpcprof-lite/archive.h \
	hpcprof-lite/database.c hpcprof-lite/database.h \
	hpcprof-lite/main.c \
	hpcprof-lite/sink/sinks.c hpcprof-lite/sink/sinks.h
hpcprof_lite_hpcprof_lite_LDADD = libhltext.la libhlsink.la libhlprof.la -lm

include $(top_srcdir)/hpcprof-lite/sink/local.mk
