# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/activity/activity.c hpcprof-lite/attribute/activity/activity.h \
	hpcprof-lite/attribute/activity/activity_metrics.c \
	hpcprof-lite/attribute/activity/activity_metrics.h \
	hpcprof-lite/attribute/activity/known_runtime.c \
	hpcprof-lite/attribute/activity/known_runtime.h \
	hpcprof-lite/attribute/activity/known_waits.c \
	hpcprof-lite/attribute/activity/known_waits.h \
	hpcprof-lite/attribute/activity/omp_regions.c \
	hpcprof-lite/attribute/activity/omp_regions.h \
	hpcprof-lite/attribute/activity/phases.c hpcprof-lite/attribute/activity/phases.h \
	hpcprof-lite/attribute/activity/process_roles.c \
	hpcprof-lite/attribute/activity/process_roles.h \
	hpcprof-lite/attribute/activity/waits.c hpcprof-lite/attribute/activity/waits.h \
	hpcprof-lite/attribute/activity/wait_objects.c \
	hpcprof-lite/attribute/activity/wait_objects.h
