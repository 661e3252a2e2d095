# SPDX-License-Identifier: BSD-3-Clause
# Code that programs make while they run: perf maps and jitdumps.

check_PROGRAMS += tests/workload/prof/jit
tests_workload_prof_jit_SOURCES = tests/workload/prof/jit.c
tests_workload_prof_jit_CFLAGS = $(HL_CFLAGS)
tests_workload_prof_jit_LDFLAGS =

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/prof/test_jit
TESTS += tests/unit/prof/test_jit
tests_unit_prof_test_jit_SOURCES = tests/unit/prof/test_jit.c
tests_unit_prof_test_jit_LDADD = libhlprof.la libhlbase.la $(CMOCKA_LIBS) -lm
endif

check_PROGRAMS += tests/fuzz/fuzz_jit
tests_fuzz_fuzz_jit_SOURCES = tests/fuzz/fuzz_jit.c tests/fuzz/mutate.h
tests_fuzz_fuzz_jit_LDADD = libhlprof.la libhlbase.la -lm

jit_tests = \
	tests/cli/jit/jit_files.sh \
	tests/cli/jit/jit_names.sh \
	tests/cli/jit/jit_programs.sh
TESTS += $(jit_tests)
EXTRA_DIST += $(jit_tests) tests/golden/jit
