# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/control/control.c hpcrun-lite/runtime/control/control.h \
	hpcrun-lite/runtime/control/phase.c hpcrun-lite/runtime/control/phase.h
