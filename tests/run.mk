# SPDX-License-Identifier: BSD-3-Clause
# Store, tree, sources, threads and the life of the measured process.

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_safe tests/unit/test_store tests/unit/test_cct
TESTS += tests/unit/test_safe tests/unit/test_store tests/unit/test_cct
tests_unit_test_safe_SOURCES = tests/unit/test_safe.c
tests_unit_test_safe_LDADD = libhlsafe.la $(CMOCKA_LIBS) -lpthread
tests_unit_test_store_SOURCES = tests/unit/test_store.c
tests_unit_test_store_LDADD = libhlcct.la libhlsafe.la $(CMOCKA_LIBS) -lpthread
tests_unit_test_cct_SOURCES = tests/unit/test_cct.c
tests_unit_test_cct_LDADD = libhlcct.la libhlsafe.la $(CMOCKA_LIBS)
endif

# Reads measurement files and checks all identities; see the shell tests.
check_PROGRAMS += tests/workload/run_check
tests_workload_run_check_SOURCES = tests/workload/run_check.c
tests_workload_run_check_LDADD = libhlsafe.la
