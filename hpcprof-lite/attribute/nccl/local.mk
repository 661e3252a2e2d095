# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/nccl/nccl_attribute.c hpcprof-lite/attribute/nccl/nccl_attribute.h \
	hpcprof-lite/attribute/nccl/nccl_match.c hpcprof-lite/attribute/nccl/nccl_match.h \
	hpcprof-lite/attribute/nccl/nccl_names.c hpcprof-lite/attribute/nccl/nccl_names.h \
	hpcprof-lite/attribute/nccl/nccl_times.c hpcprof-lite/attribute/nccl/nccl_times.h
