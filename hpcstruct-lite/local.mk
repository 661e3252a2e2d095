# SPDX-License-Identifier: BSD-3-Clause
# hpcstruct-lite: all but main is a library, so that tests link what is shipped.

bin_PROGRAMS += hpcstruct-lite/hpcstruct-lite
noinst_LTLIBRARIES += libhlstruct.la

libhlstruct_la_SOURCES = \
	hpcstruct-lite/analyse.c hpcstruct-lite/analyse.h \
	hpcstruct-lite/cache.c hpcstruct-lite/cache.h \
	hpcstruct-lite/gpu_code.c hpcstruct-lite/gpu_code.h \
	hpcstruct-lite/jobs.c hpcstruct-lite/jobs.h \
	hpcstruct-lite/print.c hpcstruct-lite/print.h \
	hpcstruct-lite/rundir.c hpcstruct-lite/rundir.h \
	hpcstruct-lite/tokens.c hpcstruct-lite/tokens.h \
	hpcstruct-lite/debug/cubin.c hpcstruct-lite/debug/cubin.h \
	hpcstruct-lite/debug/cubin_functions.c hpcstruct-lite/debug/cubin_internal.h \
	hpcstruct-lite/debug/cubin_resources.c \
	hpcstruct-lite/debug/debug.h hpcstruct-lite/debug/debug_internal.h \
	hpcstruct-lite/debug/debug_complain.c \
	hpcstruct-lite/debug/debug_dies.c \
	hpcstruct-lite/debug/debug_facts.c \
	hpcstruct-lite/debug/debug_lines.c \
	hpcstruct-lite/debug/debug_object.c \
	hpcstruct-lite/debug/debug_session.c \
	hpcstruct-lite/debug/go_find.c hpcstruct-lite/debug/go_internal.h \
	hpcstruct-lite/debug/go_table.c hpcstruct-lite/debug/go_table.h \
	hpcstruct-lite/debug/line_program.c hpcstruct-lite/debug/line_program.h \
	hpcstruct-lite/debug/opencl_source.c hpcstruct-lite/debug/opencl_source.h \
	hpcstruct-lite/debug/range_list.c hpcstruct-lite/debug/range_list.h \
	hpcstruct-lite/debug/section_bytes.h \
	hpcstruct-lite/flow/flow.h \
	hpcstruct-lite/flow/blocks.c \
	hpcstruct-lite/flow/loops.c \
	hpcstruct-lite/debug/source_path.c hpcstruct-lite/debug/source_path.h \
	hpcstruct-lite/image/fatbin.c hpcstruct-lite/image/fatbin.h \
	hpcstruct-lite/image/image.c hpcstruct-lite/image/image.h \
	hpcstruct-lite/image/image_cubin.c hpcstruct-lite/image/image_cubin.h \
	hpcstruct-lite/image/image_elf.c hpcstruct-lite/image/image_elf.h \
	hpcstruct-lite/image/image_find.c \
	hpcstruct-lite/image/image_frames.c \
	hpcstruct-lite/image/image_position.c \
	hpcstruct-lite/image/image_source.c hpcstruct-lite/image/image_source.h \
	hpcstruct-lite/image/image_start.c \
	hpcstruct-lite/image/image_stubs.c \
	hpcstruct-lite/image/image_unpack.c \
	hpcstruct-lite/image/image_symbols.c \
	hpcstruct-lite/isa/isa.c hpcstruct-lite/isa/isa.h \
	hpcstruct-lite/isa/isa_sass.c \
	hpcstruct-lite/scope/scope.h hpcstruct-lite/scope/scope_internal.h \
	hpcstruct-lite/scope/code.c hpcstruct-lite/scope/code.h \
	hpcstruct-lite/scope/dead_ends.c hpcstruct-lite/scope/dead_ends.h \
	hpcstruct-lite/scope/branches.c hpcstruct-lite/scope/branches.h \
	hpcstruct-lite/scope/calls.c \
	hpcstruct-lite/scope/demangle.c \
	hpcstruct-lite/scope/fill.c \
	hpcstruct-lite/scope/finish.c \
	hpcstruct-lite/scope/flatten.c \
	hpcstruct-lite/scope/join.c \
	hpcstruct-lite/scope/loops.c hpcstruct-lite/scope/loops.h \
	hpcstruct-lite/scope/map.c \
	hpcstruct-lite/scope/nest.c \
	hpcstruct-lite/scope/symbols.c \
	hpcstruct-lite/scope/write.c
if HAVE_ZYDIS
libhlstruct_la_SOURCES += \
	hpcstruct-lite/isa/isa_x86.c \
	hpcstruct-lite/isa/x86_table.c hpcstruct-lite/isa/x86_table.h hpcstruct-lite/isa/zydis.h
else
libhlstruct_la_SOURCES += hpcstruct-lite/isa/isa_x86_none.c
endif
libhlstruct_la_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CPPFLAGS) $(ELF_CPPFLAGS) $(IBERTY_CPPFLAGS) $(ZYDIS_CPPFLAGS) $(ZSTD_CPPFLAGS) $(LZ4_CPPFLAGS)
libhlstruct_la_LIBADD = libhlbase.la $(DWARF_LIBS) $(ELF_LIBS) $(IBERTY_LIBS) $(ZYDIS_LIBS) $(ZSTD_LIBS) $(LZ4_LIBS) -lpthread

hpcstruct_lite_hpcstruct_lite_SOURCES = hpcstruct-lite/main.c
hpcstruct_lite_hpcstruct_lite_LDADD = libhlstruct.la
