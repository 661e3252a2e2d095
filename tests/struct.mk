# SPDX-License-Identifier: BSD-3-Clause
# Structure files: unit tests, golden structures, judges, fuzz targets, benchmark.

STRUCT_LDADD = libhlstruct.la libhlbase.la

if HAVE_CMOCKA
struct_unit_tests = tests/unit/common/test_structure tests/unit/struct/test_scope \
	tests/unit/struct/test_line_program tests/unit/struct/test_range_list \
	tests/unit/struct/test_opencl_source
check_PROGRAMS += $(struct_unit_tests)
TESTS += $(struct_unit_tests)
tests_unit_common_test_structure_SOURCES = tests/unit/common/test_structure.c
tests_unit_common_test_structure_LDADD = $(UNIT_LDADD)
tests_unit_struct_test_scope_SOURCES = tests/unit/struct/test_scope.c
tests_unit_struct_test_scope_LDADD = $(STRUCT_LDADD) $(CMOCKA_LIBS)
tests_unit_struct_test_line_program_SOURCES = tests/unit/struct/test_line_program.c
tests_unit_struct_test_line_program_LDADD = $(STRUCT_LDADD) $(CMOCKA_LIBS)
tests_unit_struct_test_range_list_SOURCES = tests/unit/struct/test_range_list.c
tests_unit_struct_test_range_list_LDADD = $(STRUCT_LDADD) $(CMOCKA_LIBS)
tests_unit_struct_test_opencl_source_SOURCES = tests/unit/struct/test_opencl_source.c
tests_unit_struct_test_opencl_source_LDADD = $(STRUCT_LDADD) $(CMOCKA_LIBS)
endif

EXTRA_PROGRAMS += tests/bench/bench_struct
BENCHES += tests/bench/bench_struct
CLEANFILES += tests/bench/bench_struct
EXTRA_DIST += tests/bench/gen_struct.sh
tests_bench_bench_struct_SOURCES = tests/bench/bench_struct.c
tests_bench_bench_struct_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CPPFLAGS)
tests_bench_bench_struct_LDADD = $(STRUCT_LDADD) $(DWARF_LIBS)

check_PROGRAMS += tests/struct/make_run
tests_struct_make_run_SOURCES = tests/struct/make_run.c
tests_struct_make_run_LDADD = $(STRUCT_LDADD)

struct_tests = \
	tests/cli/struct/struct_cache.sh \
	tests/cli/struct/struct_damage.sh \
	tests/cli/struct/struct_files.sh \
	tests/cli/struct/struct_go.sh \
	tests/cli/struct/struct_golden.sh \
	tests/cli/struct/struct_gpubins.sh \
	tests/cli/struct/struct_jobs.sh \
	tests/cli/struct/struct_needed.sh \
	tests/cli/struct/struct_openmp.sh \
	tests/cli/struct/struct_libc.sh \
	tests/cli/struct_memory.sh \
	tests/cli/struct/struct_start.sh \
	tests/cli/struct/struct_unsized.sh
TESTS += $(struct_tests)
EXTRA_DIST += $(struct_tests) tests/golden/struct tests/golden/opencl

# libdw exports libdwarf's names: a program of its own
if HAVE_DW
check_PROGRAMS += tests/struct/judge_dw
tests_struct_judge_dw_SOURCES = tests/struct/judge_dw.c
tests_struct_judge_dw_LDADD = libhlbase.la $(DW_LIBS) $(ELF_LIBS) -lpthread
endif
TESTS += tests/cli/struct/struct_judge.sh
EXTRA_DIST += tests/cli/struct/struct_judge.sh tests/struct/inlined_names.cpp
EXTRA_DIST += tests/struct/folded.cpp tests/struct/judge_llvm.py tests/struct/judge_llvm.sh

check_PROGRAMS += tests/fuzz/fuzz_structure tests/fuzz/fuzz_elf tests/fuzz/fuzz_source
tests_fuzz_fuzz_source_SOURCES = tests/fuzz/fuzz_source.c tests/fuzz/mutate.h
tests_fuzz_fuzz_source_LDADD = $(STRUCT_LDADD)
tests_fuzz_fuzz_structure_SOURCES = tests/fuzz/fuzz_structure.c tests/fuzz/mutate.h
tests_fuzz_fuzz_structure_LDADD = libhlbase.la
tests_fuzz_fuzz_elf_SOURCES = tests/fuzz/fuzz_elf.c tests/fuzz/mutate.h
tests_fuzz_fuzz_elf_LDADD = $(STRUCT_LDADD)

# preloaded: a libdwarf that crashes
check_LTLIBRARIES += tests/struct/crash_dwarf.la
tests_struct_crash_dwarf_la_SOURCES = tests/struct/crash_dwarf.c
tests_struct_crash_dwarf_la_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CPPFLAGS)
tests_struct_crash_dwarf_la_CFLAGS = $(HL_CFLAGS)
tests_struct_crash_dwarf_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_struct_crash_dwarf_la_LIBADD = -ldl

# preloaded: one allocation fails
check_LTLIBRARIES += tests/struct/fail_alloc.la
tests_struct_fail_alloc_la_SOURCES = tests/struct/fail_alloc.c
tests_struct_fail_alloc_la_CFLAGS = $(HL_CFLAGS)
tests_struct_fail_alloc_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
