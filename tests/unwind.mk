# SPDX-License-Identifier: BSD-3-Clause
# Tests of hpcrun-lite/unwind and common/safe/load.

TESTS += tests/cli/unwind_steps.sh
EXTRA_DIST += tests/cli/unwind_steps.sh \
	tests/workload/unwind_steps.c tests/workload/unwind_steps.h tests/workload/unwind_code.c \
	tests/workload/unwind_code_cxx.cc tests/workload/unwind_plugin.c

BENCHES += tests/bench/bench_unwind
EXTRA_PROGRAMS += tests/bench/bench_unwind
tests_bench_bench_unwind_SOURCES = tests/bench/bench_unwind.c
tests_bench_bench_unwind_CPPFLAGS = $(AM_CPPFLAGS) $(UNWIND_CPPFLAGS)
tests_bench_bench_unwind_LDADD = libhlunwind.la libhlsafe.la
