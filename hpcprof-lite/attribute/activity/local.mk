# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/activity/activity.c hpcprof-lite/attribute/activity/activity.h \
	hpcprof-lite/attribute/activity/activity_metrics.c \
	hpcprof-lite/attribute/activity/activity_metrics.h \
	hpcprof-lite/attribute/activity/activity_time.c \
	hpcprof-lite/attribute/activity/phases.c hpcprof-lite/attribute/activity/phases.h
