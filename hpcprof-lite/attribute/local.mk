# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/attribute.c hpcprof-lite/attribute/attribute.h \
	hpcprof-lite/attribute/attribute_contexts.c \
	hpcprof-lite/attribute/attribute_merge.c \
	hpcprof-lite/attribute/attribute_profiles.c \
	hpcprof-lite/attribute/attribute_steps.h \
	hpcprof-lite/attribute/attribute_sum.c \
	hpcprof-lite/attribute/topics.c hpcprof-lite/attribute/topics.h
