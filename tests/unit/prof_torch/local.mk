# SPDX-License-Identifier: BSD-3-Clause
# PyTorch: operators, and what processes are for.

if HAVE_CMOCKA
prof_torch_unit = tests/unit/prof_torch/test_forward_paths \
	tests/unit/prof_torch/test_known_torch \
	tests/unit/prof_torch/test_process_roles tests/unit/prof_torch/test_torch_fold \
	tests/unit/prof_torch/test_torch_modules
check_PROGRAMS += $(prof_torch_unit)
TESTS += $(prof_torch_unit)
tests_unit_prof_torch_test_forward_paths_SOURCES = tests/unit/prof_torch/test_forward_paths.c
tests_unit_prof_torch_test_forward_paths_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_torch_test_known_torch_SOURCES = tests/unit/prof_torch/test_known_torch.c
tests_unit_prof_torch_test_known_torch_LDADD = libhlprof.la $(CMOCKA_LIBS)
tests_unit_prof_torch_test_process_roles_SOURCES = tests/unit/prof_torch/test_process_roles.c
tests_unit_prof_torch_test_process_roles_LDADD = libhlprof.la $(CMOCKA_LIBS)
tests_unit_prof_torch_test_torch_fold_SOURCES = tests/unit/prof_torch/test_torch_fold.c
tests_unit_prof_torch_test_torch_fold_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_torch_test_torch_modules_SOURCES = tests/unit/prof_torch/test_torch_modules.c
tests_unit_prof_torch_test_torch_modules_LDADD = libhlprof.la $(CMOCKA_LIBS)
endif
