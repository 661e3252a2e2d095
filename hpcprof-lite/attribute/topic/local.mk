# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/topic/topic.h \
	hpcprof-lite/attribute/topic/topic_agree.c \
	hpcprof-lite/attribute/topic/topic_where.c
