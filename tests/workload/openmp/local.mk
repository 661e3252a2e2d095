# SPDX-License-Identifier: BSD-3-Clause
# OpenMP: workloads with known answers, built with gcc for libgomp and with clang for libomp.

openmp_workloads = \
	tests/workload/openmp/build.sh \
	tests/workload/openmp/omp_both.c \
	tests/workload/openmp/omp_fortran.f90 \
	tests/workload/openmp/omp_paths.c \
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
