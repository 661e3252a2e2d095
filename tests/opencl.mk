# SPDX-License-Identifier: BSD-3-Clause
# The OpenCL back end before a fake implementation; its entrances.

if HAVE_CMOCKA
if HAVE_OPENCL
# The back end and what it needs, built once for all of these.
check_LTLIBRARIES += libhlopencltests.la
libhlopencltests_la_SOURCES = tests/unit/opencl/fake_opencl.c tests/unit/opencl/fake_opencl.h \
	tests/unit/opencl/fake_host.c $(opencl_sources)
libhlopencltests_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
opencl_libs = libhlopencltests.la libhlsafe.la $(CMOCKA_LIBS) -ldl -lpthread
opencl_unit_tests = tests/unit/opencl/test_opencl_clock tests/unit/opencl/test_opencl_hidden \
	tests/unit/opencl/test_opencl_layer tests/unit/opencl/test_opencl_life \
	tests/unit/opencl/test_opencl_map
check_PROGRAMS += $(opencl_unit_tests)
TESTS += $(opencl_unit_tests)
tests_unit_opencl_test_opencl_hidden_SOURCES = tests/unit/opencl/test_opencl_hidden.c \
	tests/unit/opencl/opencl_fixture.h
tests_unit_opencl_test_opencl_hidden_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_unit_opencl_test_opencl_hidden_LDFLAGS = $(AM_LDFLAGS) -Wl,--export-dynamic
tests_unit_opencl_test_opencl_hidden_LDADD = $(opencl_libs)
tests_unit_opencl_test_opencl_layer_SOURCES = tests/unit/opencl/test_opencl_layer.c \
	tests/unit/opencl/opencl_fixture.h
tests_unit_opencl_test_opencl_layer_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_unit_opencl_test_opencl_layer_LDFLAGS = $(AM_LDFLAGS) -Wl,--export-dynamic
tests_unit_opencl_test_opencl_layer_LDADD = $(opencl_libs)
tests_unit_opencl_test_opencl_life_SOURCES = tests/unit/opencl/test_opencl_life.c \
	tests/unit/opencl/opencl_fixture.h
tests_unit_opencl_test_opencl_life_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_unit_opencl_test_opencl_life_LDFLAGS = $(AM_LDFLAGS) -Wl,--export-dynamic
tests_unit_opencl_test_opencl_life_LDADD = $(opencl_libs)
tests_unit_opencl_test_opencl_clock_SOURCES = tests/unit/opencl/test_opencl_clock.c
tests_unit_opencl_test_opencl_clock_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_unit_opencl_test_opencl_clock_LDFLAGS = $(AM_LDFLAGS) -Wl,--export-dynamic
tests_unit_opencl_test_opencl_clock_LDADD = $(opencl_libs)
tests_unit_opencl_test_opencl_map_SOURCES = tests/unit/opencl/test_opencl_map.c \
	hpcrun-lite/gpu/opencl/ocl_map.c hpcrun-lite/gpu/opencl/ocl_map.h \
	hpcrun-lite/gpu/opencl/ocl_memory.c hpcrun-lite/gpu/opencl/ocl_memory.h
tests_unit_opencl_test_opencl_map_LDADD = $(CMOCKA_LIBS) -lpthread
endif

# The library's name makes it an OpenCL loader.
check_PROGRAMS += tests/unit/run/test_getenv
TESTS += tests/unit/run/test_getenv
tests_unit_run_test_getenv_SOURCES = tests/unit/run/test_getenv.c \
	common/safe/launcher.c common/safe/launcher.h hpcrun-lite/config/config.c \
	hpcrun-lite/config/config.h hpcrun-lite/hooks/hook_getenv.c \
	hpcrun-lite/hooks/hook_getenv.h \
	hpcrun-lite/runtime/next.c hpcrun-lite/runtime/next.h
tests_unit_run_test_getenv_CFLAGS = $(HL_CFLAGS)
tests_unit_run_test_getenv_LDFLAGS = -Wl,--export-dynamic
tests_unit_run_test_getenv_LDADD = libhlsafe.la $(CMOCKA_LIBS) -ldl
check_LTLIBRARIES += tests/unit/run/libOpenCL_asker.la
tests_unit_run_libOpenCL_asker_la_SOURCES = tests/unit/run/opencl_asker.c
tests_unit_run_libOpenCL_asker_la_CFLAGS = $(HL_CFLAGS)
tests_unit_run_libOpenCL_asker_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
endif

opencl_tests = tests/cli/launch/launch_gpu.sh tests/cli/opencl/ocl_entrance.sh
TESTS += $(opencl_tests)
EXTRA_DIST += $(opencl_tests)

# A layer of the user's own.
if HAVE_OPENCL
check_LTLIBRARIES += tests/workload/opencl/ocl_user_layer.la
tests_workload_opencl_ocl_user_layer_la_SOURCES = tests/workload/opencl/ocl_user_layer.c
tests_workload_opencl_ocl_user_layer_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_workload_opencl_ocl_user_layer_la_CFLAGS = $(HL_CFLAGS)
tests_workload_opencl_ocl_user_layer_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
endif
