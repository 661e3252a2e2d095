# SPDX-License-Identifier: BSD-3-Clause
# Time off the processor: OFFCPU, its causes, and who held the locks.

check_PROGRAMS += tests/workload/offcpu/offcpu_halts tests/workload/offcpu/offcpu_locks \
	tests/workload/offcpu/offcpu_shared tests/workload/offcpu/offcpu_threads \
	tests/workload/offcpu/offcpu_waits
tests_workload_offcpu_offcpu_halts_SOURCES = tests/workload/offcpu/offcpu_halts.c
tests_workload_offcpu_offcpu_halts_CFLAGS = $(HL_CFLAGS)
tests_workload_offcpu_offcpu_halts_LDFLAGS =
tests_workload_offcpu_offcpu_halts_LDADD = libhpctoolkit.la -lpthread
tests_workload_offcpu_offcpu_shared_SOURCES = tests/workload/offcpu/offcpu_shared.c
tests_workload_offcpu_offcpu_shared_CFLAGS = $(HL_CFLAGS)
tests_workload_offcpu_offcpu_shared_LDFLAGS =
tests_workload_offcpu_offcpu_shared_LDADD = -lpthread
tests_workload_offcpu_offcpu_locks_SOURCES = tests/workload/offcpu/offcpu_locks.c
tests_workload_offcpu_offcpu_locks_CFLAGS = $(HL_CFLAGS)
tests_workload_offcpu_offcpu_locks_LDFLAGS =
tests_workload_offcpu_offcpu_locks_LDADD = -lpthread
tests_workload_offcpu_offcpu_threads_SOURCES = tests/workload/offcpu/offcpu_threads.c
tests_workload_offcpu_offcpu_threads_CFLAGS = $(HL_CFLAGS)
tests_workload_offcpu_offcpu_threads_LDFLAGS =
tests_workload_offcpu_offcpu_threads_LDADD = -lpthread
tests_workload_offcpu_offcpu_waits_SOURCES = tests/workload/offcpu/offcpu_waits.c
tests_workload_offcpu_offcpu_waits_CFLAGS = $(HL_CFLAGS)
tests_workload_offcpu_offcpu_waits_LDFLAGS =
tests_workload_offcpu_offcpu_waits_LDADD = -lpthread

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/run/test_offcpu tests/unit/run/test_offcpu_wait \
	tests/unit/run/test_waits \
	tests/unit/prof/test_data_symbols tests/unit/prof/test_load_waits
TESTS += tests/unit/run/test_offcpu tests/unit/run/test_offcpu_wait tests/unit/run/test_waits \
	tests/unit/prof/test_data_symbols tests/unit/prof/test_load_waits
tests_unit_prof_test_data_symbols_SOURCES = tests/unit/prof/test_data_symbols.c
tests_unit_prof_test_data_symbols_LDADD = libhlprof.la libhlbase.la $(CMOCKA_LIBS) -lm
tests_unit_run_test_waits_SOURCES = tests/unit/run/test_waits.c \
	hpcrun-lite/runtime/waits/blame.c hpcrun-lite/runtime/waits/wait_object.c \
	hpcrun-lite/runtime/waits/wait_object_name.c
tests_unit_run_test_waits_LDADD = libhlsafe.la $(CMOCKA_LIBS)
tests_unit_run_test_offcpu_SOURCES = tests/unit/run/test_offcpu.c
tests_unit_run_test_offcpu_LDADD = libhlcct.la libhlsafe.la $(CMOCKA_LIBS)
tests_unit_run_test_offcpu_wait_SOURCES = tests/unit/run/test_offcpu_wait.c
tests_unit_run_test_offcpu_wait_LDADD = libhlcct.la libhlsafe.la $(CMOCKA_LIBS) -lpthread
tests_unit_prof_test_load_waits_SOURCES = tests/unit/prof/test_load_waits.c
tests_unit_prof_test_load_waits_LDADD = libhlprof.la libhlbase.la $(CMOCKA_LIBS) -lm
endif

offcpu_tests = \
	tests/cli/offcpu/offcpu_blame.sh \
	tests/cli/offcpu/offcpu_clock.sh \
	tests/cli/offcpu/offcpu_halts.sh \
	tests/cli/offcpu/offcpu_lines.sh \
	tests/cli/offcpu/offcpu_programs.sh \
	tests/cli/offcpu/offcpu_shared.sh \
	tests/cli/offcpu/offcpu_threads.sh
TESTS += $(offcpu_tests)
EXTRA_DIST += $(offcpu_tests) tests/cli/offcpu/offcpu_lib.sh
