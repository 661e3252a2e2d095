# SPDX-License-Identifier: BSD-3-Clause
# Programs that are measured while they run.

if HAVE_ATTACH
check_PROGRAMS += tests/workload/run/attach_phases
tests_workload_run_attach_phases_SOURCES = tests/workload/run/attach_phases.c
tests_workload_run_attach_phases_CFLAGS = $(HL_CFLAGS)
tests_workload_run_attach_phases_LDFLAGS = -pthread
attach_tests = tests/cli/attach/attach_job.sh tests/cli/attach/attach_killed.sh \
	tests/cli/attach/attach_known.sh tests/cli/attach/attach_refused.sh
TESTS += $(attach_tests)
FULL_TESTS += tests/cli/attach/attach_programs.sh
EXTRA_DIST += $(attach_tests) tests/cli/attach/attach_programs.sh tests/cli/attach/attach_lib.sh
endif
