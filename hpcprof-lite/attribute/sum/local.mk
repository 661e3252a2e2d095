# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/sum/share_values.c hpcprof-lite/attribute/sum/share_values.h \
	hpcprof-lite/attribute/sum/sum.c hpcprof-lite/attribute/sum/sum.h \
	hpcprof-lite/attribute/sum/sum_profile.c \
	hpcprof-lite/attribute/sum/sum_run.h \
	hpcprof-lite/attribute/sum/totals.c hpcprof-lite/attribute/sum/totals.h
