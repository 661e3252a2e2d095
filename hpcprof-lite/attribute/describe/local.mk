# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/describe/child_processes.c \
	hpcprof-lite/attribute/describe/child_processes.h \
	hpcprof-lite/attribute/describe/describe.c hpcprof-lite/attribute/describe/describe.h \
	hpcprof-lite/attribute/describe/describe_metrics.c \
	hpcprof-lite/attribute/describe/describe_whole.c \
	hpcprof-lite/attribute/describe/ledger.c hpcprof-lite/attribute/describe/ledger.h \
	hpcprof-lite/attribute/describe/process_roles.c \
	hpcprof-lite/attribute/describe/process_roles.h \
	hpcprof-lite/attribute/describe/spawned_jobs.c \
	hpcprof-lite/attribute/describe/spawned_jobs.h
