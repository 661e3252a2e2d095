# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/activity/waits.c hpcprof-lite/attribute/activity/waits.h
