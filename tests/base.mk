# SPDX-License-Identifier: BSD-3-Clause
lints = tests/lint/cycles.sh tests/lint/lines.sh tests/lint/links.sh tests/lint/marks.sh \
	tests/lint/names.sh tests/lint/needs.sh tests/lint/packages.sh tests/lint/rooms.sh \
	tests/lint/symbols.sh
TESTS += $(lints)
FULL_TESTS += tests/lint/breaks.sh
EXTRA_DIST += $(lints) tests/lint/breaks.sh tests/lint/cycles.txt tests/lint/files.sh \
	tests/lint/handlers.txt tests/lint/long-lines.txt tests/lint/other-names.txt \
	tests/lint/reach.py tests/lint/rooms.txt tests/lint/symbols.txt

if HAVE_CMOCKA
# Nothing needs it but a person who runs one case; see CONTRIBUTING.md.
EXTRA_LTLIBRARIES = tests/unit/one_case.la
tests_unit_one_case_la_SOURCES = tests/unit/one_case.c
tests_unit_one_case_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_unit_one_case_la_LIBADD = $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/common/test_base tests/unit/common/test_measurement
TESTS += tests/unit/common/test_base tests/unit/common/test_measurement
tests_unit_common_test_base_SOURCES = tests/unit/common/test_base.c
tests_unit_common_test_base_LDADD = $(UNIT_LDADD)
tests_unit_common_test_measurement_SOURCES = tests/unit/common/test_measurement.c
tests_unit_common_test_measurement_LDADD = $(UNIT_LDADD)
endif

# Benchmarks of the whole, beside peers.
EXTRA_PROGRAMS += tests/bench/pairs tests/bench/deep
BENCH_NEEDS += tests/bench/pairs$(EXEEXT) tests/bench/deep$(EXEEXT)
BENCHES += tests/bench/bench_peers.sh
EXTRA_DIST += tests/bench/bench_peers.sh
tests_bench_pairs_SOURCES = tests/bench/pairs.c
tests_bench_deep_SOURCES = tests/bench/deep.c

# Messages that doc/troubleshooting.md quotes are those of the sources.
TESTS += tests/lint/messages.sh
EXTRA_DIST += tests/lint/messages.sh
