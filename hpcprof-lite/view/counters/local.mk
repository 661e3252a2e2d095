# SPDX-License-Identifier: BSD-3-Clause
libhlview_la_SOURCES += \
	hpcprof-lite/view/counters/view_counters.c hpcprof-lite/view/counters/view_counters.h \
	hpcprof-lite/view/counters/view_roofs.c hpcprof-lite/view/counters/view_roofs.h
