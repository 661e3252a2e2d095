# SPDX-License-Identifier: BSD-3-Clause
# hpcprof-lite in parts: ranks of an MPI program, and threads in unit tests.

parts_tests = \
	tests/cli/parts/parts_alone.sh tests/cli/parts/parts_faults.sh \
	tests/cli/parts/parts_golden.sh tests/cli/parts/parts_ranks.sh \
	tests/cli/parts/parts_slurm.sh
TESTS += $(parts_tests)
EXTRA_DIST += $(parts_tests) tests/cli/parts/parts_lib.sh

if HAVE_CMOCKA
parts_units = tests/unit/prof_parts/test_comm tests/unit/prof_parts/test_parts \
	tests/unit/prof_parts/test_parts_gpu tests/unit/prof_parts/test_start_guard
check_PROGRAMS += $(parts_units)
TESTS += $(parts_units)
tests_unit_prof_parts_test_comm_SOURCES = tests/unit/prof_parts/test_comm.c \
	hpcprof-lite/parts/comm_threads.c hpcprof-lite/parts/comm_threads.h
tests_unit_prof_parts_test_comm_LDADD = $(PROF_UNIT_LDADD)
parts_job = tests/unit/prof_parts/parts_job.c tests/unit/prof_parts/parts_job.h \
	hpcprof-lite/parts/comm_threads.c hpcprof-lite/parts/comm_threads.h
tests_unit_prof_parts_test_parts_SOURCES = tests/unit/prof_parts/test_parts.c $(parts_job)
tests_unit_prof_parts_test_parts_LDADD = libhlsink.la $(PROF_UNIT_LDADD)
tests_unit_prof_parts_test_parts_gpu_SOURCES = tests/unit/prof_parts/test_parts_gpu.c $(parts_job)
tests_unit_prof_parts_test_parts_gpu_LDADD = libhlsink.la $(PROF_UNIT_LDADD)
tests_unit_prof_parts_test_start_guard_LDADD = $(PROF_UNIT_LDADD)
endif
