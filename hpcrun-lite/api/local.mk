# SPDX-License-Identifier: BSD-3-Clause
# What a program is built with that starts and stops its measurement. A static library alone: the program then needs nothing of ours to run. It may go into shared libraries as well.

include_HEADERS = hpcrun-lite/api/hpctoolkit.h
lib_LTLIBRARIES += libhpctoolkit.la
libhpctoolkit_la_SOURCES = hpcrun-lite/api/hpctoolkit.c hpcrun-lite/api/hpctoolkit_private.h
libhpctoolkit_la_CFLAGS = $(HL_CFLAGS)
libhpctoolkit_la_LDFLAGS = -static
