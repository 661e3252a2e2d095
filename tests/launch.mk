# SPDX-License-Identifier: BSD-3-Clause
# The launcher, the hooks, PAPI, and the sacredness of the measured program.

sacred_programs = \
	tests/workload/sacred_chain tests/workload/sacred_exec tests/workload/sacred_exit tests/workload/sacred_fault tests/workload/sacred_fd tests/workload/sacred_signal \
	tests/workload/sacred_cancel tests/workload/sacred_clock tests/workload/sacred_file tests/workload/sacred_storm tests/workload/sacred_syscall tests/workload/sacred_wait
check_PROGRAMS += $(sacred_programs)
check_LTLIBRARIES += tests/workload/libpapi_pmu.la tests/workload/libsacred_library.la tests/workload/libsacred_preload.la

# Not instrumented: they are measured, and compared with themselves.
sacred_cflags = $(HL_CFLAGS) -O1 -g -Wno-deprecated-declarations -Wno-null-dereference
tests_workload_sacred_chain_SOURCES = tests/workload/sacred_chain.c
tests_workload_sacred_chain_CFLAGS = $(sacred_cflags)
tests_workload_sacred_chain_LDFLAGS = -pthread
tests_workload_sacred_exec_SOURCES = tests/workload/sacred_exec.c
tests_workload_sacred_exec_CFLAGS = $(sacred_cflags)
tests_workload_sacred_exec_LDFLAGS =
tests_workload_sacred_exit_SOURCES = tests/workload/sacred_exit.c
tests_workload_sacred_exit_CFLAGS = $(sacred_cflags)
tests_workload_sacred_exit_LDFLAGS = -pthread
tests_workload_sacred_fault_SOURCES = tests/workload/sacred_fault.c
tests_workload_sacred_fault_CFLAGS = $(sacred_cflags)
tests_workload_sacred_fault_LDFLAGS =
tests_workload_sacred_fd_SOURCES = tests/workload/sacred_fd.c
tests_workload_sacred_fd_CFLAGS = $(sacred_cflags)
tests_workload_sacred_fd_LDFLAGS =
tests_workload_sacred_signal_SOURCES = tests/workload/sacred_signal.c
tests_workload_sacred_signal_CFLAGS = $(sacred_cflags)
tests_workload_sacred_signal_LDFLAGS = -pthread
tests_workload_sacred_storm_SOURCES = tests/workload/sacred_storm.cc
tests_workload_sacred_storm_LDFLAGS = -pthread
tests_workload_sacred_storm_LDADD = -ldl
tests_workload_sacred_syscall_SOURCES = tests/workload/sacred_syscall.c
tests_workload_sacred_syscall_CFLAGS = $(sacred_cflags)
tests_workload_sacred_syscall_LDFLAGS =
tests_workload_sacred_cancel_SOURCES = tests/workload/sacred_cancel.c
tests_workload_sacred_cancel_CFLAGS = $(sacred_cflags)
tests_workload_sacred_cancel_LDFLAGS = -pthread
tests_workload_sacred_clock_SOURCES = tests/workload/sacred_clock.c
tests_workload_sacred_clock_CFLAGS = $(sacred_cflags) -fno-builtin
tests_workload_sacred_clock_LDFLAGS = -pthread -Wl,--export-dynamic
tests_workload_sacred_file_SOURCES = tests/workload/sacred_file.c
tests_workload_sacred_file_CFLAGS = $(sacred_cflags)
tests_workload_sacred_file_LDFLAGS = -pthread
tests_workload_sacred_wait_SOURCES = tests/workload/sacred_wait.c
tests_workload_sacred_wait_CFLAGS = $(sacred_cflags)
tests_workload_sacred_wait_LDFLAGS = -pthread
tests_workload_libpapi_pmu_la_SOURCES = tests/workload/papi_pmu.c
tests_workload_libpapi_pmu_la_CFLAGS = $(sacred_cflags)
tests_workload_libpapi_pmu_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_workload_libpapi_pmu_la_LIBADD = -ldl
tests_workload_libsacred_library_la_SOURCES = tests/workload/sacred_library.cc
tests_workload_libsacred_library_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_workload_libsacred_preload_la_SOURCES = tests/workload/sacred_preload.c
tests_workload_libsacred_preload_la_CFLAGS = $(sacred_cflags)
tests_workload_libsacred_preload_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_workload_libsacred_preload_la_LIBADD = -ldl

launch_tests = \
	tests/cli/launch_cli.sh \
	tests/cli/launch_dir.sh \
	tests/cli/launch_events.sh \
	tests/cli/launch_papi.sh \
	tests/cli/launch_place.sh \
	tests/cli/launch_rights.sh \
	tests/cli/launch_together.sh \
	tests/cli/sacred_env.sh \
	tests/cli/sacred_exec.sh \
	tests/cli/sacred_exit.sh \
	tests/cli/sacred_fault.sh \
	tests/cli/sacred_fd.sh \
	tests/cli/sacred_file.sh \
	tests/cli/sacred_purity.sh \
	tests/cli/sacred_report.sh \
	tests/cli/sacred_signal.sh \
	tests/cli/sacred_storm.sh \
	tests/cli/sacred_syscall.sh \
	tests/cli/sacred_cancel.sh \
	tests/cli/sacred_clock.sh \
	tests/cli/sacred_wait.sh
TESTS += $(launch_tests)
EXTRA_DIST += $(launch_tests) tests/sacred.sh tests/workload/sacred_static.c

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_launch
TESTS += tests/unit/test_launch
tests_unit_test_launch_SOURCES = tests/unit/test_launch.c $(launch_sources)
tests_unit_test_launch_CPPFLAGS = $(AM_CPPFLAGS) -DBINDIR='"$(bindir)"' -DPKGLIBDIR='"$(pkglibdir)"'
tests_unit_test_launch_LDADD = $(UNIT_LDADD) -ldl
endif
