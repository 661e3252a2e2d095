# SPDX-License-Identifier: BSD-3-Clause
# Foreign text, and files of others.

TESTS += tests/lint/foreign.sh tests/fuzz/fuzz_printable tests/cli/prof_sources.sh
EXTRA_DIST += tests/lint/foreign.sh tests/cli/prof_sources.sh
check_PROGRAMS += tests/fuzz/fuzz_printable
tests_fuzz_fuzz_printable_SOURCES = tests/fuzz/fuzz_printable.c tests/fuzz/mutate.h
tests_fuzz_fuzz_printable_LDADD = libhlbase.la

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_printable
TESTS += tests/unit/test_printable
tests_unit_test_printable_SOURCES = tests/unit/test_printable.c
tests_unit_test_printable_LDADD = $(UNIT_LDADD)
endif
