# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/spawned_jobs.c hpcprof-lite/attribute/spawned_jobs.h \
	hpcprof-lite/attribute/attribute.c hpcprof-lite/attribute/attribute.h \
	hpcprof-lite/attribute/child_processes.c hpcprof-lite/attribute/child_processes.h \
	hpcprof-lite/attribute/describe.c hpcprof-lite/attribute/describe.h \
	hpcprof-lite/attribute/expand.c hpcprof-lite/attribute/expand.h \
	hpcprof-lite/attribute/expand_fold.c hpcprof-lite/attribute/expand_fold.h \
	hpcprof-lite/attribute/expand_gpu.c \
	hpcprof-lite/attribute/expand_intern.c \
	hpcprof-lite/attribute/expand_run.h \
	hpcprof-lite/attribute/jit_names.c hpcprof-lite/attribute/jit_names.h \
	hpcprof-lite/attribute/jit_split.c \
	hpcprof-lite/attribute/known_code.c hpcprof-lite/attribute/known_code.h \
	hpcprof-lite/attribute/ledger.c hpcprof-lite/attribute/ledger.h \
	hpcprof-lite/attribute/merge.c hpcprof-lite/attribute/merge.h \
	hpcprof-lite/attribute/merge_modules.c hpcprof-lite/attribute/merge_modules.h \
	hpcprof-lite/attribute/order.c hpcprof-lite/attribute/order.h \
	hpcprof-lite/attribute/python_frames.c hpcprof-lite/attribute/python_frames.h \
	hpcprof-lite/attribute/sum.c hpcprof-lite/attribute/sum.h
