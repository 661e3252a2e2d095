# SPDX-License-Identifier: BSD-3-Clause
# Python frames.

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/run/test_python tests/unit/run/test_python_ahead \
	tests/unit/run/test_python_call tests/unit/run/test_python_frames \
	tests/unit/prof/test_python_lines
TESTS += tests/unit/run/test_python tests/unit/run/test_python_ahead \
	tests/unit/run/test_python_call tests/unit/run/test_python_frames \
	tests/unit/prof/test_python_lines
tests_unit_run_test_python_SOURCES = tests/unit/run/test_python.c hpcrun-lite/python/layout.c \
	hpcrun-lite/python/reader.c hpcrun-lite/python/python_symbols.c \
	hpcrun-lite/python/python_tls.c
tests_unit_run_test_python_LDADD = libhlsafe.la $(CMOCKA_LIBS) -ldl
tests_unit_run_test_python_frames_SOURCES = tests/unit/run/test_python_frames.c \
	hpcrun-lite/python/frames.c hpcrun-lite/python/layout.c hpcrun-lite/python/reader.c
tests_unit_run_test_python_frames_LDADD = libhlsafe.la $(CMOCKA_LIBS)
tests_unit_run_test_python_call_SOURCES = tests/unit/run/test_python_call.c
tests_unit_run_test_python_call_LDADD = libhlpython.la libhlunwind.la libhlsafe.la \
	$(CMOCKA_LIBS) -ldl
tests_unit_run_test_python_ahead_SOURCES = tests/unit/run/test_python_ahead.c \
	hpcrun-lite/python/frames.c hpcrun-lite/python/layout.c hpcrun-lite/python/reader.c
tests_unit_run_test_python_ahead_LDADD = libhlsafe.la $(CMOCKA_LIBS)
tests_unit_prof_test_python_lines_SOURCES = tests/unit/prof/test_python_lines.c
tests_unit_prof_test_python_lines_LDADD = libhlprof.la $(CMOCKA_LIBS)
endif

check_PROGRAMS += tests/python/decode_lines
tests_python_decode_lines_SOURCES = tests/python/decode_lines.c
tests_python_decode_lines_LDADD = libhlprof.la

python_tests = tests/cli/python/python_frames.sh tests/cli/python/python_interpreters.sh \
	tests/cli/python/python_launches.sh tests/cli/python/python_lines.sh \
	tests/cli/python/python_memo.sh tests/cli/python/python_modules.sh \
	tests/cli/python/python_modules_report.sh tests/cli/python/python_report.sh \
	tests/cli/python/python_torch.sh
TESTS += $(python_tests)
# Takes a real PyTorch.
FULL_TESTS += tests/cli/python/python_torchrun.sh
EXTRA_DIST += tests/cli/python/python_torchrun.sh
EXTRA_DIST += $(python_tests) tests/python.sh tests/python/again.py tests/python/compare.py \
	tests/python/frames.py \
	tests/python/interpreters.py tests/python/launches.py tests/python/lines.py \
	tests/python/modules.py tests/python/ranks.py

BENCH_NEEDS += tests/workload/run/run_check$(EXEEXT)
BENCHES += tests/bench/bench_python.sh
EXTRA_DIST += tests/bench/bench_python.sh tests/python/warm.py
