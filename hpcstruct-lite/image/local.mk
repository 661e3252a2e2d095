# SPDX-License-Identifier: BSD-3-Clause
libhlstruct_la_SOURCES += \
	hpcstruct-lite/image/fatbin.c hpcstruct-lite/image/fatbin.h \
	hpcstruct-lite/image/image.c hpcstruct-lite/image/image.h \
	hpcstruct-lite/image/image_cubin.c hpcstruct-lite/image/image_cubin.h \
	hpcstruct-lite/image/image_elf.c hpcstruct-lite/image/image_elf.h \
	hpcstruct-lite/image/image_find.c \
	hpcstruct-lite/image/image_frames.c \
	hpcstruct-lite/image/image_libc.c \
	hpcstruct-lite/image/image_position.c \
	hpcstruct-lite/image/image_source.c hpcstruct-lite/image/image_source.h \
	hpcstruct-lite/image/image_start.c \
	hpcstruct-lite/image/image_stubs.c \
	hpcstruct-lite/image/image_symbols.c \
	hpcstruct-lite/image/image_unpack.c
