# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/shared/share_contexts.c \
	hpcprof-lite/attribute/shared/share_contexts.h \
	hpcprof-lite/attribute/shared/share_records.c \
	hpcprof-lite/attribute/shared/share_records.h \
	hpcprof-lite/attribute/shared/share_trees.c hpcprof-lite/attribute/shared/share_trees.h \
	hpcprof-lite/attribute/shared/share_values.c hpcprof-lite/attribute/shared/share_values.h
