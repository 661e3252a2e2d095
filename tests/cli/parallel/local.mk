# SPDX-License-Identifier: BSD-3-Clause
# Efficiencies of parallel programs: phases, serialisation and transfer, in text and in the page.

parallel_tests = \
	tests/cli/parallel/phases.sh \
	tests/cli/parallel/pop_html.sh \
	tests/cli/parallel/pop_mpi.sh
TESTS += $(parallel_tests)
EXTRA_DIST += $(parallel_tests) tests/workload/parallel/pop_mpi.c

check_PROGRAMS += tests/workload/parallel/phases
tests_workload_parallel_phases_SOURCES = tests/workload/parallel/phases.c
tests_workload_parallel_phases_LDADD = libhpctoolkit.la -lpthread

if HAVE_CMOCKA
parallel_unit_tests = tests/unit/prof_parallel/test_view_phases \
	tests/unit/prof_parallel/test_view_ranks \
	tests/unit/prof_parallel/test_view_transfer
check_PROGRAMS += $(parallel_unit_tests)
TESTS += $(parallel_unit_tests)
tests_unit_prof_parallel_test_view_phases_SOURCES = tests/unit/prof_parallel/test_view_phases.c
tests_unit_prof_parallel_test_view_phases_LDADD = libhlview.la $(PROF_UNIT_LDADD)
tests_unit_prof_parallel_test_view_ranks_SOURCES = tests/unit/prof_parallel/test_view_ranks.c
tests_unit_prof_parallel_test_view_ranks_LDADD = libhlview.la $(PROF_UNIT_LDADD)
tests_unit_prof_parallel_test_view_transfer_SOURCES = \
	tests/unit/prof_parallel/test_view_transfer.c
tests_unit_prof_parallel_test_view_transfer_LDADD = libhlview.la $(PROF_UNIT_LDADD)
endif
