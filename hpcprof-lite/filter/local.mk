# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/filter/filter.c hpcprof-lite/filter/filter.h \
	hpcprof-lite/filter/filter_choose.c \
	hpcprof-lite/filter/filter_metrics.c \
	hpcprof-lite/filter/filter_model.c \
	hpcprof-lite/filter/filter_options.c \
	hpcprof-lite/filter/filter_part.h \
	hpcprof-lite/filter/filter_queues.c \
	hpcprof-lite/filter/filter_recount.c \
	hpcprof-lite/filter/filter_text.c hpcprof-lite/filter/filter_text.h
