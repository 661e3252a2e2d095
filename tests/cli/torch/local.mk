# SPDX-License-Identifier: BSD-3-Clause
# hpcrun-lite --torch: backward passes below the forward line.

check_PROGRAMS += tests/workload/torch/torch_program
tests_workload_torch_torch_program_SOURCES = tests/workload/torch/torch_program.c \
	tests/workload/torch/torch_fake.h
tests_workload_torch_torch_program_CFLAGS = $(HL_CFLAGS)
tests_workload_torch_torch_program_LDFLAGS =
tests_workload_torch_torch_program_LDADD = -ldl -lpthread

# The name is one by which hpcprof-lite knows PyTorch.
check_LTLIBRARIES += tests/workload/torch/libtorch_cpu.la
tests_workload_torch_libtorch_cpu_la_SOURCES = tests/workload/torch/torch_fake.cc \
	tests/workload/torch/torch_fake.h
tests_workload_torch_libtorch_cpu_la_CXXFLAGS = -O1 -g
tests_workload_torch_libtorch_cpu_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

torch_tests = tests/cli/torch/torch_backward.sh tests/cli/torch/torch_golden.sh \
	tests/cli/torch/torch_gpu_golden.sh tests/cli/torch/torch_launches.sh
TESTS += $(torch_tests)
# Takes a real PyTorch.
FULL_TESTS += tests/cli/torch/torch_training.sh
EXTRA_DIST += tests/cli/torch/torch_training.sh
EXTRA_DIST += $(torch_tests) tests/cli/torch/torch_training.py tests/golden/torch_backward \
	tests/golden/torch_gpu

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/torch/test_torch_nodes
TESTS += tests/unit/torch/test_torch_nodes
tests_unit_torch_test_torch_nodes_SOURCES = tests/unit/torch/test_torch_nodes.c \
	hpcrun-lite/torch/torch_nodes.c
tests_unit_torch_test_torch_nodes_LDADD = libhlsafe.la $(CMOCKA_LIBS) -lpthread
endif
