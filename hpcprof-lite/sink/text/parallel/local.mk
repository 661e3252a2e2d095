# SPDX-License-Identifier: BSD-3-Clause
libhltext_la_SOURCES += \
	hpcprof-lite/sink/text/parallel/text_pop.c \
	hpcprof-lite/sink/text/parallel/text_processors.c \
	hpcprof-lite/sink/text/parallel/text_ranks.c \
	hpcprof-lite/sink/text/parallel/text_regions.c
