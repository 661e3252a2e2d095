# SPDX-License-Identifier: BSD-3-Clause
# The OpenCL back end before a made-up implementation; its entrances.

if HAVE_CMOCKA
if HAVE_OPENCL
opencl_unit_tests = tests/unit/test_opencl_layer
check_PROGRAMS += $(opencl_unit_tests)
TESTS += $(opencl_unit_tests)
tests_unit_test_opencl_layer_SOURCES = tests/unit/test_opencl_layer.c tests/unit/fake_opencl.c tests/unit/fake_opencl.h tests/unit/fake_host.c $(opencl_sources)
tests_unit_test_opencl_layer_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_unit_test_opencl_layer_LDFLAGS = $(AM_LDFLAGS) -Wl,--export-dynamic
tests_unit_test_opencl_layer_LDADD = libhlsafe.la $(CMOCKA_LIBS) -ldl -lpthread
endif
endif

opencl_tests = tests/cli/launch_gpu.sh tests/cli/ocl_entrance.sh
TESTS += $(opencl_tests)
EXTRA_DIST += $(opencl_tests)

# A layer of the user's own.
if HAVE_OPENCL
check_LTLIBRARIES += tests/workload/ocl_user_layer.la
tests_workload_ocl_user_layer_la_SOURCES = tests/workload/ocl_user_layer.c
tests_workload_ocl_user_layer_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_workload_ocl_user_layer_la_CFLAGS = $(HL_CFLAGS)
tests_workload_ocl_user_layer_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
endif
