# SPDX-License-Identifier: BSD-3-Clause
# Loops: unit tests of flow and isa.

if HAVE_CMOCKA
loops_unit_tests = tests/unit/test_flow tests/unit/test_isa
check_PROGRAMS += $(loops_unit_tests)
TESTS += $(loops_unit_tests)
tests_unit_test_flow_SOURCES = tests/unit/test_flow.c
tests_unit_test_flow_LDADD = $(STRUCT_LDADD) $(CMOCKA_LIBS)
tests_unit_test_isa_SOURCES = tests/unit/test_isa.c
tests_unit_test_isa_LDADD = $(STRUCT_LDADD) $(CMOCKA_LIBS)
endif
