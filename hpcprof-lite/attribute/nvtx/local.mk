# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/nvtx/nvtx_attribute.c hpcprof-lite/attribute/nvtx/nvtx_attribute.h \
	hpcprof-lite/attribute/nvtx/nvtx_events.c hpcprof-lite/attribute/nvtx/nvtx_events.h \
	hpcprof-lite/attribute/nvtx/nvtx_others.c hpcprof-lite/attribute/nvtx/nvtx_others.h \
	hpcprof-lite/attribute/nvtx/nvtx_topic.c
