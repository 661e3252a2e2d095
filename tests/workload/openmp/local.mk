# SPDX-License-Identifier: BSD-3-Clause
# OpenMP: workloads with known answers, built with gcc for libgomp and with clang for libomp.

openmp_workloads = \
	tests/workload/openmp/build.sh \
	tests/workload/openmp/omp_both.c \
	tests/workload/openmp/omp_fortran.f90 \
	tests/workload/openmp/omp_paths.c \
	tests/workload/openmp/omp_schedule.c \
	tests/workload/openmp/omp_throw.cc \
	tests/workload/openmp/omp_tool.c \
	tests/workload/openmp/omp_truth.h \
	tests/workload/openmp/omp_waits.c
EXTRA_DIST += $(openmp_workloads)

check_DATA += tests/workload/openmp/openmp_programs.stamp
CLEANFILES += tests/workload/openmp/openmp_programs.stamp tests/workload/openmp/*.libgomp \
	tests/workload/openmp/*.libomp tests/workload/openmp/*.compat \
	tests/workload/openmp/*.so
tests/workload/openmp/openmp_programs.stamp: $(openmp_workloads) tests/workload/e2e/shares.h
	$(AM_V_GEN)CLANG='$(CLANG)' $(SHELL) $(srcdir)/tests/workload/openmp/build.sh \
		'$(srcdir)/tests/workload/openmp' tests/workload/openmp
	@echo done >$@

openmp_tests = \
	tests/cli/openmp/omp_paths.sh \
	tests/cli/openmp/omp_report.sh \
	tests/cli/openmp/omp_same.sh \
	tests/cli/openmp/omp_schedule.sh \
	tests/cli/openmp/omp_tasks.sh \
	tests/cli/openmp/omp_tools.sh \
	tests/cli/openmp/omp_waits.sh
TESTS += $(openmp_tests)
EXTRA_DIST += $(openmp_tests) tests/cli/openmp/openmp.sh tests/cli/openmp/openmp_paths.awk

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/openmp/test_ompt
TESTS += tests/unit/openmp/test_ompt
tests_unit_openmp_test_ompt_SOURCES = tests/unit/openmp/test_ompt.c \
	hpcrun-lite/openmp/ompt_region.c
tests_unit_openmp_test_ompt_LDADD = libhlregions.la libhlpython.la libhlunwind.la libhlcct.la \
	libhlsafe.la $(CMOCKA_LIBS)
endif

EXTRA_DIST += tests/bench/omp_regions.c tests/bench/bench_openmp.sh
BENCHES += tests/bench/bench_openmp.sh
