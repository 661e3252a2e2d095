# SPDX-License-Identifier: BSD-3-Clause
# Tests of hpcrun-lite/unwind and common/safe/load.

# With the tests' own flags, so that a sanitizer sees the parsers.
UNWIND_TESTED = $(UNWIND_SOURCES) common/safe/load.c common/safe/load.h \
	common/safe/find_object.c common/safe/find_object.h \
	common/safe/library_symbol.c common/safe/library_symbol.h \
	common/safe/loader.c common/safe/loader.h \
	common/safe/patience.c common/safe/patience.h common/safe/clock.c common/safe/clock.h

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/common/test_safe_load tests/unit/unwind/test_unwind_cfi \
	tests/unit/unwind/test_unwind tests/unit/unwind/test_unwind_odd \
	tests/unit/unwind/test_unwind_memo tests/unit/unwind/test_unwind_proof
TESTS += tests/unit/common/test_safe_load tests/unit/unwind/test_unwind_cfi \
	tests/unit/unwind/test_unwind tests/unit/unwind/test_unwind_odd \
	tests/unit/unwind/test_unwind_memo tests/unit/unwind/test_unwind_proof
check_PROGRAMS += tests/unit/unwind/test_unwind_go
TESTS += tests/unit/unwind/test_unwind_go
tests_unit_common_test_safe_load_SOURCES = tests/unit/common/test_safe_load.c $(UNWIND_TESTED)
tests_unit_common_test_safe_load_LDADD = $(CMOCKA_LIBS)
tests_unit_unwind_test_unwind_proof_SOURCES = tests/unit/unwind/test_unwind_proof.c
tests_unit_unwind_test_unwind_proof_LDADD = $(CMOCKA_LIBS)
tests_unit_unwind_test_unwind_go_SOURCES = tests/unit/unwind/test_unwind_go.c $(UNWIND_TESTED)
tests_unit_unwind_test_unwind_go_LDADD = $(CMOCKA_LIBS)
tests_unit_unwind_test_unwind_cfi_SOURCES = tests/unit/unwind/test_unwind_cfi.c $(UNWIND_TESTED)
tests_unit_unwind_test_unwind_cfi_LDADD = $(CMOCKA_LIBS)
tests_unit_unwind_test_unwind_SOURCES = tests/unit/unwind/test_unwind.c \
	tests/unit/unwind/unwind_fixture.c tests/unit/unwind/unwind_fixture.h
tests_unit_unwind_test_unwind_LDADD = libhlunwind.la libhlsafe.la $(CMOCKA_LIBS) -ldl
tests_unit_unwind_test_unwind_odd_SOURCES = tests/unit/unwind/test_unwind_odd.c \
	tests/unit/unwind/unwind_fixture.c tests/unit/unwind/unwind_fixture.h
tests_unit_unwind_test_unwind_odd_LDADD = $(tests_unit_unwind_test_unwind_LDADD)
tests_unit_unwind_test_unwind_memo_SOURCES = tests/unit/unwind/test_unwind_memo.c \
	tests/unit/unwind/unwind_fixture.c tests/unit/unwind/unwind_fixture.h
tests_unit_unwind_test_unwind_memo_LDADD = $(tests_unit_unwind_test_unwind_LDADD)
check_LTLIBRARIES += tests/unit/unwind/libunwind_hole.la
tests_unit_unwind_libunwind_hole_la_SOURCES = tests/unit/unwind/unwind_hole.c
tests_unit_unwind_libunwind_hole_la_CFLAGS = $(HL_CFLAGS)
tests_unit_unwind_libunwind_hole_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere \
	-Wl,-z,max-page-size=65536
check_LTLIBRARIES += tests/unit/unwind/libunwind_frames.la tests/unit/unwind/libunwind_swapped.la
tests_unit_unwind_libunwind_frames_la_SOURCES = tests/unit/unwind/unwind_frames.c
tests_unit_unwind_libunwind_frames_la_CFLAGS = $(HL_CFLAGS)
tests_unit_unwind_libunwind_frames_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_unit_unwind_libunwind_swapped_la_SOURCES = $(tests_unit_unwind_libunwind_frames_la_SOURCES)
tests_unit_unwind_libunwind_swapped_la_CFLAGS = $(HL_CFLAGS) -DSWAPPED
tests_unit_unwind_libunwind_swapped_la_LDFLAGS = $(tests_unit_unwind_libunwind_frames_la_LDFLAGS)
check_PROGRAMS += tests/unit/unwind/test_unwind_code
TESTS += tests/unit/unwind/test_unwind_code
check_PROGRAMS += tests/unit/unwind/test_leave
TESTS += tests/unit/unwind/test_leave
check_PROGRAMS += tests/unit/unwind/test_generated
TESTS += tests/unit/unwind/test_generated
tests_unit_unwind_test_generated_SOURCES = tests/unit/unwind/test_generated.c \
	tests/unit/unwind/unwind_fixture.c tests/unit/unwind/unwind_fixture.h
tests_unit_unwind_test_generated_LDADD = $(tests_unit_unwind_test_unwind_LDADD)
tests_unit_unwind_test_leave_SOURCES = tests/unit/unwind/test_leave.c $(UNWIND_TESTED)
tests_unit_unwind_test_leave_LDADD = $(CMOCKA_LIBS)
tests_unit_unwind_test_unwind_code_SOURCES = tests/unit/unwind/test_unwind_code.c $(UNWIND_TESTED)
tests_unit_unwind_test_unwind_code_LDADD = $(CMOCKA_LIBS)
endif

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/unwind/test_insn_aarch64
TESTS += tests/unit/unwind/test_insn_aarch64
tests_unit_unwind_test_insn_aarch64_SOURCES = tests/unit/unwind/test_insn_aarch64.c \
	hpcrun-lite/unwind/aarch64/insn_aarch64.c
tests_unit_unwind_test_insn_aarch64_LDADD = $(CMOCKA_LIBS)
endif

check_PROGRAMS += tests/fuzz/fuzz_cfi
TESTS += tests/fuzz/fuzz_cfi
tests_fuzz_fuzz_cfi_SOURCES = tests/fuzz/fuzz_cfi.c $(UNWIND_TESTED)
EXTRA_DIST += tests/fuzz/cfi

TESTS += tests/cli/unwind/unwind_languages.sh
TESTS += tests/cli/unwind/unwind_steps.sh tests/cli/unwind/unwind_shadow.sh \
	tests/cli/unwind/unwind_complete.sh tests/cli/unwind/unwind_deep.sh \
	tests/cli/unwind/unwind_gaps.sh tests/cli/unwind/unwind_known.sh
EXTRA_DIST += tests/cli/unwind/unwind_languages.sh tests/workload/unwind/unwind_stale.c \
	tests/workload/unwind/unwind_go.go tests/workload/unwind/UnwindJava.java
EXTRA_DIST += tests/cli/unwind/unwind_steps.sh tests/cli/unwind/unwind_shadow.sh \
	tests/cli/unwind/unwind_deep.sh tests/workload/unwind/unwind_deep.c \
	tests/cli/unwind/unwind_complete.sh tests/cli/unwind/unwind_gaps.sh \
	tests/cli/unwind/unwind_known.sh tests/workload/machine/machine_paths.cc \
	tests/workload/unwind/unwind_complete.c tests/workload/unwind/unwind_load.cc \
	tests/workload/unwind/unwind_fiber.c tests/workload/unwind/unwind_load.rs \
	tests/workload/unwind/unwind_steps.c tests/workload/unwind/unwind_steps.h \
	tests/workload/unwind/unwind_code.c \
	tests/workload/unwind/unwind_code_cxx.cc tests/workload/unwind/unwind_plugin.c \
	tests/workload/unwind/unwind_shadow.cc tests/workload/unwind/unwind_shadow_plugin.c \
	tests/workload/machine/machine_paths.cc

BENCHES += tests/bench/bench_unwind
EXTRA_PROGRAMS += tests/bench/bench_unwind
tests_bench_bench_unwind_SOURCES = tests/bench/bench_unwind.c
tests_bench_bench_unwind_CPPFLAGS = $(AM_CPPFLAGS) $(UNWIND_CPPFLAGS)
tests_bench_bench_unwind_LDADD = libhlunwind.la libhlsafe.la
