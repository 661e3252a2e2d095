# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/gpu/gpu_attribute.c hpcprof-lite/attribute/gpu/gpu_attribute.h \
	hpcprof-lite/attribute/gpu/gpu_describe.c \
	hpcprof-lite/attribute/gpu/gpu_ledger.c hpcprof-lite/attribute/gpu/gpu_ledger.h \
	hpcprof-lite/attribute/gpu/gpu_share.c hpcprof-lite/attribute/gpu/gpu_share.h \
	hpcprof-lite/attribute/gpu/gpu_topic.c
