# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/jobs/spawned_jobs.c hpcprof-lite/attribute/jobs/spawned_jobs.h
