# SPDX-License-Identifier: BSD-3-Clause
libhlstruct_la_SOURCES += \
	hpcstruct-lite/flow/blocks.c \
	hpcstruct-lite/flow/flow.h \
	hpcstruct-lite/flow/flow_loops.c
