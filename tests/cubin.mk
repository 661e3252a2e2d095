# SPDX-License-Identifier: BSD-3-Clause
# Cubins: golden structures, three judges, damage.

check_PROGRAMS += tests/struct/judge_cupti
tests_struct_judge_cupti_SOURCES = tests/struct/judge_cupti.c
tests_struct_judge_cupti_LDADD = $(ELF_LIBS) -ldl

check_PROGRAMS += tests/struct/cubin_chains
tests_struct_cubin_chains_SOURCES = tests/struct/cubin_chains.c
tests_struct_cubin_chains_LDADD = $(STRUCT_LDADD)

check_PROGRAMS += tests/struct/judge_sass
tests_struct_judge_sass_SOURCES = tests/struct/judge_sass.c
tests_struct_judge_sass_LDADD = $(STRUCT_LDADD)

if HAVE_DW
check_PROGRAMS += tests/struct/judge_cubin
tests_struct_judge_cubin_SOURCES = tests/struct/judge_cubin.c
tests_struct_judge_cubin_LDADD = $(DW_LIBS) $(ELF_LIBS)
endif

check_PROGRAMS += tests/fuzz/fuzz_cubin
tests_fuzz_fuzz_cubin_SOURCES = tests/fuzz/fuzz_cubin.c tests/fuzz/mutate.h
tests_fuzz_fuzz_cubin_LDADD = $(STRUCT_LDADD)

TESTS += tests/cli/struct/struct_cubin.sh tests/cli/struct/struct_depend.sh
EXTRA_DIST += tests/cli/struct/struct_cubin.sh tests/cli/struct/struct_depend.sh tests/golden/cubin

check_PROGRAMS += tests/fuzz/fuzz_fatbin
tests_fuzz_fuzz_fatbin_SOURCES = tests/fuzz/fuzz_fatbin.c tests/fuzz/mutate.h
tests_fuzz_fuzz_fatbin_LDADD = $(STRUCT_LDADD)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/struct/test_fatbin
TESTS += tests/unit/struct/test_fatbin
tests_unit_struct_test_fatbin_SOURCES = tests/unit/struct/test_fatbin.c
tests_unit_struct_test_fatbin_LDADD = $(STRUCT_LDADD) $(CMOCKA_LIBS)
endif
TESTS += tests/cli/struct/struct_fatbin.sh
EXTRA_DIST += tests/cli/struct/struct_fatbin.sh

BENCHES += tests/bench/bench_cubin.sh
EXTRA_DIST += tests/bench/bench_cubin.sh tests/bench/grow_cubin.py
