# SPDX-License-Identifier: BSD-3-Clause
# Operators of PyTorch.

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/prof_torch/test_known_torch tests/unit/prof_torch/test_torch_fold
TESTS += tests/unit/prof_torch/test_known_torch tests/unit/prof_torch/test_torch_fold
tests_unit_prof_torch_test_known_torch_SOURCES = tests/unit/prof_torch/test_known_torch.c
tests_unit_prof_torch_test_known_torch_LDADD = libhlprof.la $(CMOCKA_LIBS)
tests_unit_prof_torch_test_torch_fold_SOURCES = tests/unit/prof_torch/test_torch_fold.c
tests_unit_prof_torch_test_torch_fold_LDADD = $(PROF_UNIT_LDADD)
endif
