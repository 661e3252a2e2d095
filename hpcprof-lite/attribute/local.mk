# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/attribute.c hpcprof-lite/attribute/attribute.h
