# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/expand/expand.c hpcprof-lite/attribute/expand/expand.h \
	hpcprof-lite/attribute/expand/expand_fold.c hpcprof-lite/attribute/expand/expand_fold.h \
	hpcprof-lite/attribute/expand/expand_gpu.c \
	hpcprof-lite/attribute/expand/expand_intern.c \
	hpcprof-lite/attribute/expand/expand_run.h \
	hpcprof-lite/attribute/expand/nvtx_tree.c hpcprof-lite/attribute/expand/nvtx_tree.h \
	hpcprof-lite/attribute/expand/omp_regions.c hpcprof-lite/attribute/expand/omp_regions.h \
	hpcprof-lite/attribute/expand/order.c hpcprof-lite/attribute/expand/order.h \
	hpcprof-lite/attribute/expand/share_contexts.c \
	hpcprof-lite/attribute/expand/share_contexts.h \
	hpcprof-lite/attribute/expand/torch_fold.c hpcprof-lite/attribute/expand/torch_fold.h \
	hpcprof-lite/attribute/expand/waits.c hpcprof-lite/attribute/expand/waits.h
