# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/code/elf_note.c hpcrun-lite/runtime/code/elf_note.h \
	hpcrun-lite/runtime/code/jit_code.c hpcrun-lite/runtime/code/jit_code.h \
	hpcrun-lite/runtime/code/keep.c hpcrun-lite/runtime/code/keep.h \
	hpcrun-lite/runtime/code/keep_copy.c \
	hpcrun-lite/runtime/code/keep_internal.h \
	hpcrun-lite/runtime/code/maps.c hpcrun-lite/runtime/code/maps.h \
	hpcrun-lite/runtime/code/module.c hpcrun-lite/runtime/code/module.h \
	hpcrun-lite/runtime/code/module_content.c \
	hpcrun-lite/runtime/code/module_internal.h \
	hpcrun-lite/runtime/code/split_stack.c \
	hpcrun-lite/runtime/code/unload.c hpcrun-lite/runtime/code/unload.h
