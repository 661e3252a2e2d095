# SPDX-License-Identifier: BSD-3-Clause
# Calls of MPI. The programs are built by the scripts, once for each MPI that is installed.

mpi_tests = \
	tests/cli/mpi/mpi_callers.sh \
	tests/cli/mpi/mpi_fortran.sh \
	tests/cli/mpi/mpi_harmless.sh \
	tests/cli/mpi/mpi_late.sh \
	tests/cli/mpi/mpi_memo.sh \
	tests/cli/mpi/mpi_polls.sh \
	tests/cli/mpi/mpi_python.sh \
	tests/cli/mpi/mpi_spawn.sh \
	tests/cli/mpi/mpi_truth.sh
TESTS += $(mpi_tests)
EXTRA_DIST += $(mpi_tests) tests/cli/mpi/mpi_lib.sh \
	tests/workload/mpi/mpi_arrive.c \
	tests/workload/mpi/mpi_callers.c \
	tests/workload/mpi/mpi_calls.py \
	tests/workload/mpi/mpi_count.c \
	tests/workload/mpi/mpi_errors.c \
	tests/workload/mpi/mpi_fortran_f08.f90 \
	tests/workload/mpi/mpi_fortran_inc.f90 \
	tests/workload/mpi/mpi_fortran_mod.f90 \
	tests/workload/mpi/mpi_inter.c \
	tests/workload/mpi/mpi_late.c \
	tests/workload/mpi/mpi_memo.cc \
	tests/workload/mpi/mpi_mix.c \
	tests/workload/mpi/mpi_polls.c \
	tests/workload/mpi/mpi_omp.c \
	tests/workload/mpi/mpi_spawn.c \
	tests/workload/mpi/mpi_spawn.py \
	tests/workload/mpi/mpi_speed.c \
	tests/workload/mpi/mpi_tail.c

BENCHES += tests/bench/bench_mpi.sh
EXTRA_DIST += tests/bench/bench_mpi.sh

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/mpi/test_mpi_bytes tests/unit/mpi/test_mpi_poll \
	tests/unit/mpi/test_mpi_sums \
	tests/unit/prof_mpi/test_mpi_model tests/unit/prof_mpi/test_mpi_waits
TESTS += tests/unit/mpi/test_mpi_bytes tests/unit/mpi/test_mpi_poll \
	tests/unit/mpi/test_mpi_sums \
	tests/unit/prof_mpi/test_mpi_model tests/unit/prof_mpi/test_mpi_waits
tests_unit_mpi_test_mpi_bytes_SOURCES = tests/unit/mpi/test_mpi_bytes.c \
	hpcrun-lite/mpi/mpi_bytes.c hpcrun-lite/mpi/mpi_objects.c
tests_unit_mpi_test_mpi_bytes_LDADD = libhlbase.la $(CMOCKA_LIBS)
tests_unit_mpi_test_mpi_poll_SOURCES = tests/unit/mpi/test_mpi_poll.c \
	hpcrun-lite/mpi/mpi_poll.c
tests_unit_mpi_test_mpi_poll_LDADD = libhlbase.la $(CMOCKA_LIBS)
tests_unit_mpi_test_mpi_sums_SOURCES = tests/unit/mpi/test_mpi_sums.c \
	hpcrun-lite/runtime/sums/mpi_sums.c
tests_unit_mpi_test_mpi_sums_LDADD = libhlcct.la libhlsafe.la $(CMOCKA_LIBS)
tests_unit_prof_mpi_test_mpi_model_SOURCES = tests/unit/prof_mpi/test_mpi_model.c
tests_unit_prof_mpi_test_mpi_model_LDADD = libhlview.la $(PROF_UNIT_LDADD)
tests_unit_prof_mpi_test_mpi_waits_SOURCES = tests/unit/prof_mpi/test_mpi_waits.c
tests_unit_prof_mpi_test_mpi_waits_LDADD = libhlprof.la libhlbase.la $(CMOCKA_LIBS) -lm
endif
