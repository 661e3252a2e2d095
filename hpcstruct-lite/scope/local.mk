# SPDX-License-Identifier: BSD-3-Clause
libhlstruct_la_SOURCES += \
	hpcstruct-lite/scope/branches.c hpcstruct-lite/scope/branches.h \
	hpcstruct-lite/scope/calls.c \
	hpcstruct-lite/scope/code_needed.c \
	hpcstruct-lite/scope/code_ranges.c hpcstruct-lite/scope/code_ranges.h \
	hpcstruct-lite/scope/dead_ends.c hpcstruct-lite/scope/dead_ends.h \
	hpcstruct-lite/scope/demangle.c \
	hpcstruct-lite/scope/fill.c \
	hpcstruct-lite/scope/finish.c \
	hpcstruct-lite/scope/flatten.c \
	hpcstruct-lite/scope/join.c \
	hpcstruct-lite/scope/library_calls.c \
	hpcstruct-lite/scope/narrow.c \
	hpcstruct-lite/scope/nest.c \
	hpcstruct-lite/scope/pieces.c hpcstruct-lite/scope/pieces.h \
	hpcstruct-lite/scope/reach.c hpcstruct-lite/scope/reach.h \
	hpcstruct-lite/scope/scope.h \
	hpcstruct-lite/scope/scope_internal.h \
	hpcstruct-lite/scope/scope_loops.c hpcstruct-lite/scope/scope_loops.h \
	hpcstruct-lite/scope/scope_map.c \
	hpcstruct-lite/scope/scope_symbols.c \
	hpcstruct-lite/scope/gpu_waits.c hpcstruct-lite/scope/gpu_waits.h \
	hpcstruct-lite/scope/unsized.c \
	hpcstruct-lite/scope/write.c
