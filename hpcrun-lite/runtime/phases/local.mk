# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/phases/phase.c hpcrun-lite/runtime/phases/phase.h
