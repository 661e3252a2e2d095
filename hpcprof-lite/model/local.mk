# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/model/model.c hpcprof-lite/model/model.h \
	hpcprof-lite/model/private.h
