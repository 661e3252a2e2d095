# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += hpcprof-lite/load/jobs/load_ranks.c hpcprof-lite/load/jobs/load_ranks.h
