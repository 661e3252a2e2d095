# SPDX-License-Identifier: BSD-3-Clause
# Store, tree, sources, threads and the life of the measured process.

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/common/test_find_object
TESTS += tests/unit/common/test_find_object
tests_unit_common_test_find_object_SOURCES = tests/unit/common/test_find_object.c
tests_unit_common_test_find_object_LDADD = libhlsafe.la $(CMOCKA_LIBS) -ldl -lpthread
check_PROGRAMS += tests/unit/common/test_cgroup tests/unit/common/test_usage tests/unit/common/test_safe tests/unit/run/test_store tests/unit/run/test_nursery tests/unit/run/test_cct tests/unit/run/test_config tests/unit/common/test_safe_string tests/unit/run/test_sample
TESTS += tests/unit/common/test_cgroup tests/unit/common/test_usage tests/unit/common/test_safe tests/unit/run/test_store tests/unit/run/test_nursery tests/unit/run/test_cct tests/unit/run/test_config tests/unit/common/test_safe_string tests/unit/run/test_sample
tests_unit_common_test_cgroup_SOURCES = tests/unit/common/test_cgroup.c
tests_unit_common_test_cgroup_LDADD = libhlsafe.la $(CMOCKA_LIBS)
tests_unit_common_test_usage_SOURCES = tests/unit/common/test_usage.c
tests_unit_common_test_usage_LDADD = libhlsafe.la $(CMOCKA_LIBS)
tests_unit_common_test_safe_string_SOURCES = tests/unit/common/test_safe_string.c
tests_unit_common_test_safe_string_CFLAGS = $(HL_CFLAGS) -fno-builtin
tests_unit_common_test_safe_string_LDADD = libhlstring.la $(CMOCKA_LIBS)
tests_unit_run_test_sample_SOURCES = tests/unit/run/test_sample.c \
	hpcrun-lite/runtime/sample/sample.c hpcrun-lite/runtime/sample/sample_hold.c \
	hpcrun-lite/runtime/sample/sample_record.c \
	hpcrun-lite/runtime/waits/wait_sample.c
tests_unit_run_test_sample_LDADD = libhlsafe.la libhlbase.la $(CMOCKA_LIBS) -ldl
tests_unit_run_test_config_SOURCES = tests/unit/run/test_config.c hpcrun-lite/config/config.c hpcrun-lite/config/config.h
tests_unit_run_test_config_LDADD = libhlsafe.la $(CMOCKA_LIBS)
tests_unit_common_test_safe_SOURCES = tests/unit/common/test_safe.c
tests_unit_common_test_safe_LDADD = libhlsafe.la $(CMOCKA_LIBS) -lpthread
tests_unit_run_test_nursery_SOURCES = tests/unit/run/test_nursery.c
tests_unit_run_test_nursery_LDADD = libhlcct.la libhlsafe.la $(CMOCKA_LIBS) -lpthread
tests_unit_run_test_store_SOURCES = tests/unit/run/test_store.c
tests_unit_run_test_store_LDADD = libhlcct.la libhlsafe.la $(CMOCKA_LIBS) -lpthread
tests_unit_run_test_cct_SOURCES = tests/unit/run/test_cct.c
tests_unit_run_test_cct_LDADD = libhlcct.la libhlsafe.la $(CMOCKA_LIBS)
endif

# Reads measurement files and checks all identities; see the shell tests.
check_PROGRAMS += tests/workload/run/run_check
tests_workload_run_run_check_SOURCES = tests/workload/run/run_check.c
tests_workload_run_run_check_LDADD = libhlsafe.la

# Programs that live and end in every way; a library that is opened and closed; one that starts a
# thread before main.
check_PROGRAMS += tests/workload/run/run_family tests/workload/run/run_family_go \
	tests/workload/run/run_life tests/workload/run/run_nomalloc tests/workload/run/run_deny \
	tests/workload/run/run_coroutine tests/workload/run/run_unseen
tests_workload_run_run_unseen_SOURCES = tests/workload/run/run_unseen.c
tests_workload_run_run_unseen_CFLAGS = $(HL_CFLAGS)
tests_workload_run_run_unseen_LDFLAGS =
tests_workload_run_run_unseen_LDADD = -ldl -lpthread
tests_workload_run_run_deny_SOURCES = tests/workload/run/run_deny.c
tests_workload_run_run_deny_CFLAGS = $(HL_CFLAGS)
tests_workload_run_run_deny_LDFLAGS =
tests_workload_run_run_coroutine_SOURCES = tests/workload/run/run_coroutine.c
tests_workload_run_run_coroutine_CFLAGS = $(HL_CFLAGS)
tests_workload_run_run_coroutine_LDFLAGS =
tests_workload_run_run_coroutine_LDADD = -lpthread
tests_workload_run_run_family_SOURCES = tests/workload/run/run_family.c
tests_workload_run_run_family_CFLAGS = $(HL_CFLAGS)
tests_workload_run_run_family_LDFLAGS =
tests_workload_run_run_family_LDADD = -lpthread
tests_workload_run_run_family_go_SOURCES = $(tests_workload_run_run_family_SOURCES)
tests_workload_run_run_family_go_CFLAGS = $(HL_CFLAGS) -DHAS_GO_NOTE
tests_workload_run_run_family_go_LDFLAGS =
tests_workload_run_run_family_go_LDADD = -lpthread
tests_workload_run_run_life_SOURCES = tests/workload/run/run_life.c
tests_workload_run_run_life_CFLAGS = $(HL_CFLAGS)
tests_workload_run_run_life_LDFLAGS =
tests_workload_run_run_life_LDADD = -ldl -lpthread
tests_workload_run_run_nomalloc_SOURCES = tests/workload/run/run_nomalloc.c
tests_workload_run_run_nomalloc_CFLAGS = $(HL_CFLAGS)
tests_workload_run_run_nomalloc_LDFLAGS =
tests_workload_run_run_nomalloc_LDADD = -ldl -lpthread
check_LTLIBRARIES += tests/workload/run/run_plugin.la tests/workload/run/run_constructor.la \
	tests/workload/run/run_noid1.la tests/workload/run/run_noid2.la
tests_workload_run_run_noid1_la_SOURCES = tests/workload/run/run_plugin.c
tests_workload_run_run_noid1_la_CFLAGS = $(HL_CFLAGS)
tests_workload_run_run_noid1_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere \
	-Wl,--build-id=none
tests_workload_run_run_noid2_la_SOURCES = tests/workload/run/run_plugin.c
tests_workload_run_run_noid2_la_CFLAGS = $(HL_CFLAGS)
tests_workload_run_run_noid2_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere \
	-Wl,--build-id=none
tests_workload_run_run_plugin_la_SOURCES = tests/workload/run/run_plugin.c
tests_workload_run_run_plugin_la_CFLAGS = $(HL_CFLAGS)
tests_workload_run_run_plugin_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_workload_run_run_constructor_la_SOURCES = tests/workload/run/run_plugin.c
tests_workload_run_run_constructor_la_CFLAGS = $(HL_CFLAGS) -DRUN_CONSTRUCTOR
tests_workload_run_run_constructor_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_workload_run_run_constructor_la_LIBADD = -lpthread

run_tests = \
	tests/cli/run/run_rate.sh \
	tests/cli/run/run_switches.sh \
	tests/cli/prof/prof_sampling.sh \
	tests/cli/run/run_children.sh \
	tests/cli/run/run_container.sh \
	tests/cli/run/run_ends.sh \
	tests/cli/run/run_threads.sh \
	tests/cli/run/run_unseen.sh \
	tests/cli/run/run_forks.sh \
	tests/cli/run/run_processes.sh \
	tests/cli/run/run_quota.sh \
	tests/cli/run/run_spawn.sh \
	tests/cli/run/run_kill.sh \
	tests/cli/run/run_space.sh \
	tests/cli/run/run_gone.sh \
	tests/cli/run/run_modules.sh \
	tests/cli/run/run_handler.sh \
	tests/cli/run/run_denied.sh
TESTS += $(run_tests)
EXTRA_DIST += $(run_tests) tests/run_lib.sh tests/workload/run/run_gone.c

EXTRA_PROGRAMS += tests/bench/bench_sample
tests_bench_bench_sample_SOURCES = tests/bench/bench_sample.c
tests_bench_bench_sample_CFLAGS = $(HL_CFLAGS)
tests_bench_bench_sample_LDFLAGS =
BENCH_NEEDS += tests/bench/bench_sample$(EXEEXT) tests/workload/run/run_check$(EXEEXT) \
	tests/workload/run/run_life$(EXEEXT)
BENCHES += tests/bench/bench_sample.sh
EXTRA_DIST += tests/bench/bench_sample.sh

EXTRA_PROGRAMS += tests/bench/blockers tests/bench/switchers
tests_bench_blockers_SOURCES = tests/bench/blockers.c
tests_bench_blockers_CFLAGS = $(HL_CFLAGS)
tests_bench_blockers_LDFLAGS =
tests_bench_blockers_LDADD = -lpthread
tests_bench_switchers_SOURCES = tests/bench/switchers.c
tests_bench_switchers_CFLAGS = $(HL_CFLAGS) $(OPENMP_CFLAGS) -O2
tests_bench_switchers_LDFLAGS = $(OPENMP_CFLAGS)
BENCH_NEEDS += tests/bench/blockers$(EXEEXT) tests/bench/switchers$(EXEEXT)
BENCHES += tests/bench/bench_switches.sh tests/bench/bench_apps.sh
EXTRA_DIST += tests/bench/bench_switches.sh tests/bench/bench_apps.sh

# A program that starts and stops its measurement, with the library that is installed for it.
check_PROGRAMS += tests/workload/run/control
tests_workload_run_control_SOURCES = tests/workload/run/control.c tests/workload/run/control.h
tests_workload_run_control_CFLAGS = $(HL_CFLAGS)
tests_workload_run_control_LDFLAGS =
tests_workload_run_control_LDADD = libhpctoolkit.la -lpthread
TESTS += tests/cli/run/control.sh
EXTRA_DIST += tests/cli/run/control.sh
