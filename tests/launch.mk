# SPDX-License-Identifier: BSD-3-Clause
# The launcher, the hooks, PAPI, and the sacredness of the measured program.

sacred_programs = \
	tests/workload/sacred/sacred_chain tests/workload/sacred/sacred_exec \
	tests/workload/sacred/sacred_exit tests/workload/sacred/sacred_fault \
	tests/workload/sacred/sacred_fd tests/workload/sacred/sacred_signal \
	tests/workload/sacred/sacred_cancel tests/workload/sacred/sacred_clock \
	tests/workload/sacred/sacred_file tests/workload/sacred/sacred_storm \
	tests/workload/sacred/sacred_state \
	tests/workload/sacred/sacred_syscall tests/workload/sacred/sacred_threads \
	tests/workload/sacred/sacred_wait tests/workload/sacred/sacred_winch
if HAVE_SPLIT_STACK
sacred_programs += tests/workload/sacred/sacred_split
endif
check_PROGRAMS += $(sacred_programs)
check_LTLIBRARIES += tests/workload/run/libpapi_pmu.la tests/workload/sacred/libsacred_library.la \
	tests/workload/sacred/libsacred_preload.la

# Not instrumented: they are measured, and compared with themselves.
sacred_cflags = $(HL_CFLAGS) -O1 -g -Wno-deprecated-declarations -Wno-null-dereference
tests_workload_sacred_sacred_chain_SOURCES = tests/workload/sacred/sacred_chain.c
tests_workload_sacred_sacred_chain_CFLAGS = $(sacred_cflags)
tests_workload_sacred_sacred_chain_LDFLAGS = -pthread
tests_workload_sacred_sacred_exec_SOURCES = tests/workload/sacred/sacred_exec.c
tests_workload_sacred_sacred_exec_CFLAGS = $(sacred_cflags)
tests_workload_sacred_sacred_exec_LDFLAGS =
tests_workload_sacred_sacred_exit_SOURCES = tests/workload/sacred/sacred_exit.c
tests_workload_sacred_sacred_exit_CFLAGS = $(sacred_cflags)
tests_workload_sacred_sacred_exit_LDFLAGS = -pthread
tests_workload_sacred_sacred_fault_SOURCES = tests/workload/sacred/sacred_fault.c
tests_workload_sacred_sacred_fault_CFLAGS = $(sacred_cflags)
tests_workload_sacred_sacred_fault_LDFLAGS =
tests_workload_sacred_sacred_fd_SOURCES = tests/workload/sacred/sacred_fd.c tests/workload/older.h
tests_workload_sacred_sacred_fd_CFLAGS = $(sacred_cflags)
tests_workload_sacred_sacred_fd_LDFLAGS =
tests_workload_sacred_sacred_signal_SOURCES = tests/workload/sacred/sacred_signal.c
tests_workload_sacred_sacred_signal_CFLAGS = $(sacred_cflags)
tests_workload_sacred_sacred_signal_LDFLAGS = -pthread
tests_workload_sacred_sacred_storm_SOURCES = tests/workload/sacred/sacred_storm.cc
tests_workload_sacred_sacred_storm_LDFLAGS = -pthread
tests_workload_sacred_sacred_storm_LDADD = -ldl
tests_workload_sacred_sacred_syscall_SOURCES = tests/workload/sacred/sacred_syscall.c
tests_workload_sacred_sacred_syscall_CFLAGS = $(sacred_cflags)
tests_workload_sacred_sacred_syscall_LDFLAGS =
tests_workload_sacred_sacred_threads_SOURCES = tests/workload/sacred/sacred_threads.c
tests_workload_sacred_sacred_threads_CFLAGS = $(sacred_cflags)
tests_workload_sacred_sacred_threads_LDFLAGS = -pthread
tests_workload_sacred_sacred_threads_LDADD = -ldl
tests_workload_sacred_sacred_cancel_SOURCES = tests/workload/sacred/sacred_cancel.c
tests_workload_sacred_sacred_cancel_CFLAGS = $(sacred_cflags)
tests_workload_sacred_sacred_cancel_LDFLAGS = -pthread
tests_workload_sacred_sacred_clock_SOURCES = tests/workload/sacred/sacred_clock.c
tests_workload_sacred_sacred_clock_CFLAGS = $(sacred_cflags) -fno-builtin
tests_workload_sacred_sacred_clock_LDFLAGS = -pthread -Wl,--export-dynamic
tests_workload_sacred_sacred_file_SOURCES = tests/workload/sacred/sacred_file.c
tests_workload_sacred_sacred_file_CFLAGS = $(sacred_cflags)
tests_workload_sacred_sacred_file_LDFLAGS = -pthread
tests_workload_sacred_sacred_split_SOURCES = tests/workload/sacred/sacred_split.c
tests_workload_sacred_sacred_split_CFLAGS = $(sacred_cflags) -fsplit-stack -fno-sanitize=all
tests_workload_sacred_sacred_split_LDFLAGS = -pthread
tests_workload_sacred_sacred_state_SOURCES = tests/workload/sacred/sacred_state.c
tests_workload_sacred_sacred_state_CFLAGS = $(sacred_cflags)
tests_workload_sacred_sacred_state_LDFLAGS = -pthread -Wl,-z,now # no look-up on a small stack
tests_workload_sacred_sacred_wait_SOURCES = tests/workload/sacred/sacred_wait.c
tests_workload_sacred_sacred_wait_CFLAGS = $(sacred_cflags)
tests_workload_sacred_sacred_wait_LDFLAGS = -pthread
tests_workload_sacred_sacred_winch_SOURCES = tests/workload/sacred/sacred_winch.c
tests_workload_sacred_sacred_winch_CFLAGS = $(sacred_cflags)
tests_workload_sacred_sacred_winch_LDFLAGS = -pthread
tests_workload_sacred_sacred_winch_LDADD = -ldl
tests_workload_run_libpapi_pmu_la_SOURCES = tests/workload/run/papi_pmu.c
tests_workload_run_libpapi_pmu_la_CFLAGS = $(sacred_cflags)
tests_workload_run_libpapi_pmu_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_workload_run_libpapi_pmu_la_LIBADD = -ldl
tests_workload_sacred_libsacred_library_la_SOURCES = tests/workload/sacred/sacred_library.cc
tests_workload_sacred_libsacred_library_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_workload_sacred_libsacred_preload_la_SOURCES = tests/workload/sacred/sacred_preload.c
tests_workload_sacred_libsacred_preload_la_CFLAGS = $(sacred_cflags)
tests_workload_sacred_libsacred_preload_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_workload_sacred_libsacred_preload_la_LIBADD = -ldl

launch_tests = \
	tests/cli/launch/launch_cli.sh \
	tests/cli/launch/launch_dir.sh \
	tests/cli/launch/launch_events.sh \
	tests/cli/launch/launch_papi.sh \
	tests/cli/launch/launch_place.sh \
	tests/cli/launch/launch_rights.sh \
	tests/cli/launch/launch_together.sh \
	tests/cli/sacred/sacred_env.sh \
	tests/cli/sacred/sacred_exec.sh \
	tests/cli/sacred/sacred_exit.sh \
	tests/cli/sacred/sacred_fault.sh \
	tests/cli/sacred/sacred_fd.sh \
	tests/cli/sacred/sacred_file.sh \
	tests/cli/sacred/sacred_gdb.sh \
	tests/cli/sacred/sacred_kernel.sh \
	tests/cli/sacred/sacred_purity.sh \
	tests/cli/sacred/sacred_report.sh \
	tests/cli/sacred/sacred_signal.sh \
	tests/cli/sacred/sacred_state.sh \
	tests/cli/sacred/sacred_storm.sh \
	tests/cli/sacred/sacred_syscall.sh \
	tests/cli/sacred/sacred_cancel.sh \
	tests/cli/sacred/sacred_clock.sh \
	tests/cli/sacred/sacred_wait.sh \
	tests/cli/sacred/sacred_winch.sh
TESTS += $(launch_tests)
EXTRA_DIST += $(launch_tests) tests/sacred.sh tests/workload/sacred/sacred_static.c

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/run/test_follow tests/unit/run/test_launch
TESTS += tests/unit/run/test_follow tests/unit/run/test_launch
tests_unit_run_test_follow_SOURCES = tests/unit/run/test_follow.c \
	hpcrun-lite/launch/copy/follow_chain.c hpcrun-lite/launch/copy/follow_part.c
tests_unit_run_test_follow_LDADD = libhlsafe.la $(UNIT_LDADD)
tests_unit_run_test_launch_SOURCES = tests/unit/run/test_launch.c $(launch_sources)
tests_unit_run_test_launch_CPPFLAGS = $(AM_CPPFLAGS) -DBINDIR='"$(bindir)"' \
	-DPKGLIBDIR='"$(pkglibdir)"'
tests_unit_run_test_launch_LDADD = $(UNIT_LDADD) -ldl
endif
