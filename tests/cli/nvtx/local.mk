# SPDX-License-Identifier: BSD-3-Clause
# Ranges of NVTX.

check_PROGRAMS += tests/workload/nvtx/nvtx_program
tests_workload_nvtx_nvtx_program_SOURCES = tests/workload/nvtx/nvtx_program.c \
	tests/workload/nvtx/nvtx_client.h
tests_workload_nvtx_nvtx_program_CFLAGS = $(HL_CFLAGS)
tests_workload_nvtx_nvtx_program_LDFLAGS =
tests_workload_nvtx_nvtx_program_LDADD = -lpthread -ldl

check_PROGRAMS += tests/workload/nvtx/nvtx_misuse
tests_workload_nvtx_nvtx_misuse_SOURCES = tests/workload/nvtx/nvtx_misuse.c \
	tests/workload/nvtx/nvtx_client.h
tests_workload_nvtx_nvtx_misuse_CFLAGS = $(HL_CFLAGS)
tests_workload_nvtx_nvtx_misuse_LDFLAGS =
tests_workload_nvtx_nvtx_misuse_LDADD = -lpthread -ldl

check_PROGRAMS += tests/workload/nvtx/nvtx_xla
tests_workload_nvtx_nvtx_xla_SOURCES = tests/workload/nvtx/nvtx_xla.c \
	tests/workload/nvtx/nvtx_client.h
tests_workload_nvtx_nvtx_xla_CFLAGS = $(HL_CFLAGS)
tests_workload_nvtx_nvtx_xla_LDFLAGS =
tests_workload_nvtx_nvtx_xla_LDADD = -ldl

TESTS += tests/cli/nvtx/nvtx_xla.sh tests/cli/nvtx/nvtx_outputs.sh
EXTRA_DIST += tests/cli/nvtx/nvtx_xla.sh tests/cli/nvtx/nvtx_outputs.sh

TESTS += tests/cli/nvtx/nvtx_misuse.sh tests/cli/nvtx/nvtx_tree.sh \
	tests/cli/nvtx/nvtx_jax_golden.sh
EXTRA_DIST += tests/cli/nvtx/nvtx_misuse.sh tests/cli/nvtx/nvtx_tree.sh \
	tests/cli/nvtx/nvtx_jax_golden.sh tests/golden/jax

TESTS += tests/cli/nvtx/nvtx_ranges.sh tests/cli/nvtx/nvtx_limits.sh tests/cli/nvtx/nvtx_lines.sh \
	tests/cli/nvtx/nvtx_page.sh
EXTRA_DIST += tests/cli/nvtx/nvtx_ranges.sh tests/cli/nvtx/nvtx_limits.sh \
	tests/cli/nvtx/nvtx_lines.sh tests/cli/nvtx/nvtx_page.sh \
	tests/cli/nvtx/perfetto_ranges.py

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/nvtx/test_nvtx_sums
TESTS += tests/unit/nvtx/test_nvtx_sums
tests_unit_nvtx_test_nvtx_sums_SOURCES = tests/unit/nvtx/test_nvtx_sums.c \
	hpcrun-lite/runtime/sums/nvtx_sums.c
tests_unit_nvtx_test_nvtx_sums_LDADD = libhlcct.la libhlsafe.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/nvtx/test_known_xla
TESTS += tests/unit/nvtx/test_known_xla
tests_unit_nvtx_test_known_xla_SOURCES = tests/unit/nvtx/test_known_xla.c
tests_unit_nvtx_test_known_xla_LDADD = $(PROF_UNIT_LDADD)

check_PROGRAMS += tests/unit/nvtx/test_nvtx_tree
TESTS += tests/unit/nvtx/test_nvtx_tree
tests_unit_nvtx_test_nvtx_tree_SOURCES = tests/unit/nvtx/test_nvtx_tree.c \
	tests/unit/prof_gpu/gpu_fixture.h
tests_unit_nvtx_test_nvtx_tree_LDADD = $(PROF_UNIT_LDADD)
endif
