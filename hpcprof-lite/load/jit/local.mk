# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/load/jit/jit_dump.c \
	hpcprof-lite/load/jit/jit_files.c \
	hpcprof-lite/load/jit/load_jit.c hpcprof-lite/load/jit/load_jit.h
