# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += hpcrun-lite/runtime/deliver/beside.c \
	hpcrun-lite/runtime/deliver/beside.h \
	hpcrun-lite/runtime/deliver/deliver.c hpcrun-lite/runtime/deliver/deliver.h
