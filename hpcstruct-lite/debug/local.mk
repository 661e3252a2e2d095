# SPDX-License-Identifier: BSD-3-Clause
libhlstruct_la_SOURCES += \
	hpcstruct-lite/debug/cubin.c hpcstruct-lite/debug/cubin.h \
	hpcstruct-lite/debug/cubin_functions.c \
	hpcstruct-lite/debug/cubin_internal.h \
	hpcstruct-lite/debug/cubin_resources.c \
	hpcstruct-lite/debug/debug.h \
	hpcstruct-lite/debug/debug_complain.c \
	hpcstruct-lite/debug/debug_dies.c \
	hpcstruct-lite/debug/debug_facts.c \
	hpcstruct-lite/debug/debug_names.c \
	hpcstruct-lite/debug/debug_internal.h \
	hpcstruct-lite/debug/debug_lines.c \
	hpcstruct-lite/debug/debug_object.c \
	hpcstruct-lite/debug/debug_session.c \
	hpcstruct-lite/debug/debug_types.c \
	hpcstruct-lite/debug/line_program.c hpcstruct-lite/debug/line_program.h \
	hpcstruct-lite/debug/opencl_source.c hpcstruct-lite/debug/opencl_source.h \
	hpcstruct-lite/debug/range_list.c hpcstruct-lite/debug/range_list.h \
	hpcstruct-lite/debug/section_bytes.h \
	hpcstruct-lite/debug/source_path.c hpcstruct-lite/debug/source_path.h
