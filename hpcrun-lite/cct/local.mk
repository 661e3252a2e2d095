# SPDX-License-Identifier: BSD-3-Clause
libhlcct_la_SOURCES += \
	hpcrun-lite/cct/cct.c hpcrun-lite/cct/cct.h \
	hpcrun-lite/cct/table.c hpcrun-lite/cct/table.h
