# SPDX-License-Identifier: BSD-3-Clause
libhlstruct_la_SOURCES += \
	hpcstruct-lite/depend/chains.c \
	hpcstruct-lite/depend/depend.c hpcstruct-lite/depend/depend.h \
	hpcstruct-lite/depend/depend_internal.h \
	hpcstruct-lite/depend/holders.c \
	hpcstruct-lite/depend/latency.c \
	hpcstruct-lite/depend/paths.c
