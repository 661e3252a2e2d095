# SPDX-License-Identifier: BSD-3-Clause
# hpcstruct-lite: all but main is a library, so that tests link what is shipped.

bin_PROGRAMS += hpcstruct-lite/hpcstruct-lite
hpcstruct_lite_hpcstruct_lite_LDADD = libhlstruct.la

noinst_LTLIBRARIES += libhlstruct.la
libhlstruct_la_SOURCES =
libhlstruct_la_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CPPFLAGS) $(ELF_CPPFLAGS) $(IBERTY_CPPFLAGS) $(ZYDIS_CPPFLAGS) $(ZSTD_CPPFLAGS) $(LZ4_CPPFLAGS)
libhlstruct_la_LIBADD = libhlbase.la $(DWARF_LIBS) $(ELF_LIBS) $(IBERTY_LIBS) $(ZYDIS_LIBS) $(ZSTD_LIBS) $(LZ4_LIBS) -lpthread

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
	hpcstruct-lite/debug/source_path.c hpcstruct-lite/debug/source_path.h \
	hpcstruct-lite/depend/chains.c \
	hpcstruct-lite/depend/depend.c hpcstruct-lite/depend/depend.h \
	hpcstruct-lite/depend/depend_internal.h \
	hpcstruct-lite/depend/holders.c \
	hpcstruct-lite/depend/latency.c \
	hpcstruct-lite/depend/paths.c \
	hpcstruct-lite/driver/analyse.c hpcstruct-lite/driver/analyse.h \
	hpcstruct-lite/driver/gpu_code.c hpcstruct-lite/driver/gpu_code.h \
	hpcstruct-lite/driver/jobs.c hpcstruct-lite/driver/jobs.h \
	hpcstruct-lite/driver/print.c hpcstruct-lite/driver/print.h \
	hpcstruct-lite/driver/run_modules.c hpcstruct-lite/driver/run_modules.h \
	hpcstruct-lite/driver/struct_cache.c hpcstruct-lite/driver/struct_cache.h \
	hpcstruct-lite/driver/tokens.c hpcstruct-lite/driver/tokens.h
hpcstruct_lite_hpcstruct_lite_SOURCES = hpcstruct-lite/driver/hpcstruct_main.c

libhlstruct_la_SOURCES += \
	hpcstruct-lite/flow/blocks.c \
	hpcstruct-lite/flow/flow.h \
	hpcstruct-lite/flow/flow_loops.c \
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
	hpcstruct-lite/image/image_unpack.c \
	hpcstruct-lite/isa/isa.c hpcstruct-lite/isa/isa.h \
	hpcstruct-lite/isa/a64.h hpcstruct-lite/isa/aarch64_table.c \
	hpcstruct-lite/isa/isa_aarch64.c \
	hpcstruct-lite/isa/isa_sass.c \
	hpcstruct-lite/isa/sass.c hpcstruct-lite/isa/sass.h \
	hpcstruct-lite/isa/sass_table.c
if HAVE_ZYDIS
libhlstruct_la_SOURCES += \
	hpcstruct-lite/isa/isa_x86.c \
	hpcstruct-lite/isa/x86_table.c hpcstruct-lite/isa/x86_table.h \
	hpcstruct-lite/isa/zydis.h
else
libhlstruct_la_SOURCES += \
	hpcstruct-lite/isa/isa_x86_none.c
endif

libhlstruct_la_SOURCES += \
	hpcstruct-lite/scope/branches.c hpcstruct-lite/scope/branches.h \
	hpcstruct-lite/scope/calls.c \
	hpcstruct-lite/scope/code_decoder.h hpcstruct-lite/scope/code_needed.c \
	hpcstruct-lite/scope/code_tables.c \
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
