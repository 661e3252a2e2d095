# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/load/shared/load_devices.c hpcprof-lite/load/shared/load_devices.h \
	hpcprof-lite/load/shared/load_outline.c hpcprof-lite/load/shared/load_outline.h \
	hpcprof-lite/load/shared/load_share.c \
	hpcprof-lite/load/shared/load_split.c hpcprof-lite/load/shared/load_split.h
