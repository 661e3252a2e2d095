# SPDX-License-Identifier: BSD-3-Clause
# Kernels of NCCL: ranks, times, who came last.

check_PROGRAMS += tests/gen/gen_nccl_main
tests_gen_gen_nccl_main_SOURCES = tests/gen/gen_nccl_main.c
tests_gen_gen_nccl_main_LDADD = tests/gen/libgen.la

TESTS += tests/cli/nccl/nccl_ranks.sh
EXTRA_DIST += tests/cli/nccl/nccl_ranks.sh tests/golden/nccl

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/prof_nccl/test_nccl
TESTS += tests/unit/prof_nccl/test_nccl
tests_unit_prof_nccl_test_nccl_SOURCES = tests/unit/prof_nccl/test_nccl.c
tests_unit_prof_nccl_test_nccl_LDADD = libhlview.la $(PROF_UNIT_LDADD)
endif
