# SPDX-License-Identifier: BSD-3-Clause
# The neutral core of GPU measurement, with a vendor that does not exist.

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/gpu/test_gpu_core tests/unit/gpu/test_gpu_launch \
	tests/unit/gpu/test_gpu_define tests/unit/gpu/test_gpu_hash tests/unit/gpu/test_gpu_index
TESTS += tests/unit/gpu/test_gpu_core tests/unit/gpu/test_gpu_launch \
	tests/unit/gpu/test_gpu_define tests/unit/gpu/test_gpu_hash tests/unit/gpu/test_gpu_index
tests_unit_gpu_test_gpu_index_SOURCES = tests/unit/gpu/test_gpu_index.c
tests_unit_gpu_test_gpu_index_LDADD = libhlgpu.la libhlcct.la libhlsafe.la $(CMOCKA_LIBS) -lpthread
tests_unit_gpu_test_gpu_core_SOURCES = tests/unit/gpu/test_gpu_core.c \
	tests/unit/gpu/core_fixture.c tests/unit/gpu/core_fixture.h
tests_unit_gpu_test_gpu_core_LDADD = libhlgpu.la libhlcct.la libhlsafe.la $(CMOCKA_LIBS) -lpthread
tests_unit_gpu_test_gpu_launch_SOURCES = tests/unit/gpu/test_gpu_launch.c \
	tests/unit/gpu/core_fixture.c tests/unit/gpu/core_fixture.h
tests_unit_gpu_test_gpu_launch_LDADD = $(tests_unit_gpu_test_gpu_core_LDADD)
tests_unit_gpu_test_gpu_define_SOURCES = tests/unit/gpu/test_gpu_define.c \
	tests/unit/gpu/core_fixture.c tests/unit/gpu/core_fixture.h
tests_unit_gpu_test_gpu_define_LDADD = $(tests_unit_gpu_test_gpu_core_LDADD)
tests_unit_gpu_test_gpu_hash_SOURCES = tests/unit/gpu/test_gpu_hash.c
tests_unit_gpu_test_gpu_hash_LDADD = libhlgpu.la $(CMOCKA_LIBS)
endif

check_PROGRAMS += tests/workload/gpu/gpu_fake
tests_workload_gpu_gpu_fake_SOURCES = tests/workload/gpu/gpu_fake.c tests/workload/gpu/gpu_fake.h
tests_workload_gpu_gpu_fake_CFLAGS = $(HL_CFLAGS)
tests_workload_gpu_gpu_fake_LDFLAGS =
tests_workload_gpu_gpu_fake_LDADD = -ldl -lpthread
check_LTLIBRARIES += tests/workload/gpu/gpu_fake_backend.la
tests_workload_gpu_gpu_fake_backend_la_SOURCES = tests/workload/gpu/gpu_fake_backend.c
tests_workload_gpu_gpu_fake_backend_la_CFLAGS = $(HL_CFLAGS)
tests_workload_gpu_gpu_fake_backend_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

# Reads the GPU part of measurement files and checks all identities.
check_PROGRAMS += tests/workload/gpu/gpu_check
tests_workload_gpu_gpu_check_SOURCES = tests/workload/gpu/gpu_check.c
tests_workload_gpu_gpu_check_LDADD = libhlsafe.la

gpu_core_tests = tests/cli/gpu/gpu_core.sh
TESTS += $(gpu_core_tests)
EXTRA_DIST += $(gpu_core_tests)

EXTRA_PROGRAMS += tests/bench/bench_gpu
tests_bench_bench_gpu_SOURCES = tests/bench/bench_gpu.c
tests_bench_bench_gpu_CFLAGS = $(HL_CFLAGS)
tests_bench_bench_gpu_LDFLAGS =
tests_bench_bench_gpu_LDADD = -ldl -lpthread
BENCH_NEEDS += tests/bench/bench_gpu$(EXEEXT) tests/workload/gpu/gpu_fake_backend.la
BENCHES += tests/bench/bench_gpu.sh
EXTRA_DIST += tests/bench/bench_gpu.sh
