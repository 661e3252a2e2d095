# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/totals/totals.c hpcprof-lite/attribute/totals/totals.h
