# SPDX-License-Identifier: BSD-3-Clause
libhltext_la_SOURCES += \
	hpcprof-lite/sink/text/text_all.c hpcprof-lite/sink/text/text_all.h \
	hpcprof-lite/sink/text/text_all_words.c \
	hpcprof-lite/sink/text/text_balance.c \
	hpcprof-lite/sink/text/text_flat.c \
	hpcprof-lite/sink/text/text_gpu.c hpcprof-lite/sink/text/text_gpu.h \
	hpcprof-lite/sink/text/text_gpu_idle.c \
	hpcprof-lite/sink/text/text_gpu_report.c \
	hpcprof-lite/sink/text/text_gpu_blame.c \
	hpcprof-lite/sink/text/text_gpu_samples.c \
	hpcprof-lite/sink/text/text_ledger.c \
	hpcprof-lite/sink/text/text_lines.c hpcprof-lite/sink/text/text_lines.h \
	hpcprof-lite/sink/text/text_options.c hpcprof-lite/sink/text/text_options.h \
	hpcprof-lite/sink/text/text_print.c hpcprof-lite/sink/text/text_print.h \
	hpcprof-lite/sink/text/text_report.c hpcprof-lite/sink/text/text_report.h \
	hpcprof-lite/sink/text/text_sampling.c hpcprof-lite/sink/text/text_sampling.h \
	hpcprof-lite/sink/text/text_sink.c hpcprof-lite/sink/text/text_sink.h \
	hpcprof-lite/sink/text/text_style.c hpcprof-lite/sink/text/text_style.h \
	hpcprof-lite/sink/text/text_tree.c hpcprof-lite/sink/text/text_tree.h \
	hpcprof-lite/sink/text/text_tree_rows.c
