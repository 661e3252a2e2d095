# SPDX-License-Identifier: BSD-3-Clause
# The sinks cctdb and otf2. They run on a hand-made model (model_fixture.c) and on the synthetic measurements.

SINK_LDADD = libhlsink.la libhlbase.la $(OTF2_LDFLAGS) $(OTF2_LIBS)

check_PROGRAMS += tests/unit/sink_fixture
tests_unit_sink_fixture_SOURCES = tests/unit/sink_fixture.c tests/unit/model_fixture.c tests/unit/model_fixture.h
tests_unit_sink_fixture_LDADD = $(SINK_LDADD)

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_sink_outfile tests/unit/test_sink_cctdb
TESTS += tests/unit/test_sink_outfile tests/unit/test_sink_cctdb
tests_unit_test_sink_outfile_SOURCES = tests/unit/test_sink_outfile.c
tests_unit_test_sink_outfile_LDADD = $(SINK_LDADD) $(CMOCKA_LIBS)
tests_unit_test_sink_cctdb_SOURCES = tests/unit/test_sink_cctdb.c tests/unit/model_fixture.c tests/unit/model_fixture.h
tests_unit_test_sink_cctdb_LDADD = $(SINK_LDADD) $(CMOCKA_LIBS)
endif

TESTS += tests/cli/sink_cctdb.sh
EXTRA_DIST += tests/cli/sink_cctdb.sh tests/judge/read_cctdb.py tests/judge/compare_facts.py
