# SPDX-License-Identifier: BSD-3-Clause
# Loops: unit tests of flow and isa, annotated sources, fuzz target.

if HAVE_CMOCKA
loops_unit_tests = tests/unit/struct/test_depend tests/unit/struct/test_flow \
	tests/unit/struct/test_isa
check_PROGRAMS += $(loops_unit_tests)
TESTS += $(loops_unit_tests)
tests_unit_struct_test_depend_SOURCES = tests/unit/struct/test_depend.c
tests_unit_struct_test_depend_LDADD = $(STRUCT_LDADD) $(CMOCKA_LIBS)
tests_unit_struct_test_flow_SOURCES = tests/unit/struct/test_flow.c
tests_unit_struct_test_flow_LDADD = $(STRUCT_LDADD) $(CMOCKA_LIBS)
tests_unit_struct_test_isa_SOURCES = tests/unit/struct/test_isa.c
tests_unit_struct_test_isa_LDADD = $(STRUCT_LDADD) $(CMOCKA_LIBS)
endif

check_PROGRAMS += tests/fuzz/fuzz_flow
tests_fuzz_fuzz_flow_SOURCES = tests/fuzz/fuzz_flow.c tests/fuzz/mutate.h
tests_fuzz_fuzz_flow_LDADD = $(STRUCT_LDADD)

TESTS += tests/cli/struct/struct_loops.sh tests/cli/prof/prof_loops.sh
EXTRA_DIST += tests/cli/struct/struct_loops.sh tests/cli/prof/prof_loops.sh tests/golden/loops \
	tests/workload/prof/loops_run.c
