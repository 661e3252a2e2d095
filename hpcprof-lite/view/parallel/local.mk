# SPDX-License-Identifier: BSD-3-Clause
libhlview_la_SOURCES += \
	hpcprof-lite/view/parallel/view_pop.c hpcprof-lite/view/parallel/view_pop.h \
	hpcprof-lite/view/parallel/view_pop_internal.h \
	hpcprof-lite/view/parallel/view_pop_lines.c \
	hpcprof-lite/view/parallel/view_pop_ranks.c \
	hpcprof-lite/view/parallel/view_pop_transfer.c \
	hpcprof-lite/view/parallel/view_processors.c \
	hpcprof-lite/view/parallel/view_processors.h \
	hpcprof-lite/view/parallel/view_quota.c hpcprof-lite/view/parallel/view_quota.h \
	hpcprof-lite/view/parallel/view_ranks.c hpcprof-lite/view/parallel/view_ranks.h \
	hpcprof-lite/view/parallel/view_regions.c hpcprof-lite/view/parallel/view_regions.h
