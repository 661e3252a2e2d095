# SPDX-License-Identifier: BSD-3-Clause
# Parallel regions: the primitive, and programs of GCC's libgomp beyond plain regions.

gomp_workloads = \
	tests/workload/gomp/build.sh \
	tests/workload/gomp/gomp_host.c \
	tests/workload/gomp/gomp_jit.c \
	tests/workload/gomp/gomp_odd.c \
	tests/workload/gomp/gomp_plugin.c \
	tests/workload/gomp/gomp_unload.c
EXTRA_DIST += $(gomp_workloads)

check_DATA += tests/workload/gomp/gomp_programs.stamp
CLEANFILES += tests/workload/gomp/gomp_programs.stamp tests/workload/gomp/*.so \
	tests/workload/gomp/*.so.1 tests/workload/gomp/gomp_host tests/workload/gomp/gomp_jit \
	tests/workload/gomp/gomp_odd tests/workload/gomp/gomp_unload
tests/workload/gomp/gomp_programs.stamp: $(gomp_workloads)
	$(AM_V_GEN)CLANG='$(CLANG)' $(SHELL) $(srcdir)/tests/workload/gomp/build.sh \
		'$(srcdir)/tests/workload/gomp' tests/workload/gomp
	@echo done >$@

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/openmp/test_region tests/unit/openmp/test_region_sums
TESTS += tests/unit/openmp/test_region tests/unit/openmp/test_region_sums
tests_unit_openmp_test_region_SOURCES = tests/unit/openmp/test_region.c
tests_unit_openmp_test_region_LDADD = libhlregions.la libhlpython.la libhlunwind.la libhlcct.la \
	libhlsafe.la $(CMOCKA_LIBS) -lpthread
tests_unit_openmp_test_region_sums_SOURCES = tests/unit/openmp/test_region_sums.c
tests_unit_openmp_test_region_sums_LDADD = libhlregions.la libhlpython.la libhlunwind.la \
	libhlcct.la libhlsafe.la $(CMOCKA_LIBS)
endif

check_PROGRAMS += tests/workload/gomp/gomp_check
tests_workload_gomp_gomp_check_SOURCES = tests/workload/gomp/gomp_check.c
tests_workload_gomp_gomp_check_LDADD = libhlsafe.la

TESTS += tests/cli/openmp/gomp_odd.sh tests/cli/openmp/gomp_python.sh \
	tests/cli/openmp/gomp_two.sh
EXTRA_DIST += tests/cli/openmp/gomp_odd.sh tests/cli/openmp/gomp_python.sh \
	tests/cli/openmp/gomp_two.sh
