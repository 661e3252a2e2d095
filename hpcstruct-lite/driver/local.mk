# SPDX-License-Identifier: BSD-3-Clause
libhlstruct_la_SOURCES += \
	hpcstruct-lite/driver/analyse.c hpcstruct-lite/driver/analyse.h \
	hpcstruct-lite/driver/gpu_code.c hpcstruct-lite/driver/gpu_code.h \
	hpcstruct-lite/driver/jobs.c hpcstruct-lite/driver/jobs.h \
	hpcstruct-lite/driver/print.c hpcstruct-lite/driver/print.h \
	hpcstruct-lite/driver/run_modules.c hpcstruct-lite/driver/run_modules.h \
	hpcstruct-lite/driver/struct_cache.c hpcstruct-lite/driver/struct_cache.h \
	hpcstruct-lite/driver/tokens.c hpcstruct-lite/driver/tokens.h
hpcstruct_lite_hpcstruct_lite_SOURCES = hpcstruct-lite/driver/hpcstruct_main.c
