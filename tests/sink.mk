# SPDX-License-Identifier: BSD-3-Clause
# The sinks that write files. They run on a hand-made model (model_fixture.c) and on the synthetic
# measurements.

SINK_LDADD = libhlsink.la libhlbase.la
model_fixture = tests/unit/sink/model_fixture.c tests/unit/sink/model_fixture.h \
	tests/unit/sink/model_fixture_private.h tests/unit/sink/model_fixture_tree.c \
	tests/unit/sink/model_fixture_gpu.c

check_PROGRAMS += tests/unit/sink/sink_fixture
tests_unit_sink_sink_fixture_SOURCES = tests/unit/sink/sink_fixture.c $(model_fixture)
tests_unit_sink_sink_fixture_LDADD = libhltext.la $(SINK_LDADD)

check_PROGRAMS += tests/unit/sink/describe_records
tests_unit_sink_describe_records_SOURCES = tests/unit/sink/describe_records.c
tests_unit_sink_describe_records_LDADD = libhlview.la libhlprof.la

if HAVE_CMOCKA
sink_unit_tests = \
	tests/unit/sink/test_protobuf \
	tests/unit/sink/test_sink_alloc \
	tests/unit/sink/test_sink_cctdb \
	tests/unit/code/test_disassemble \
	tests/unit/sink/test_sink_html \
	tests/unit/sink/test_sink_folded \
	tests/unit/sink/test_sink_json \
	tests/unit/sink/test_sink_names \
	tests/unit/sink/test_sink_otf2 \
	tests/unit/sink/test_sink_outfile \
	tests/unit/sink/test_text_gpu \
	tests/unit/prof/test_view_gpu \
	tests/unit/prof_gpu/test_advice
check_PROGRAMS += $(sink_unit_tests)
TESTS += $(sink_unit_tests)
tests_unit_sink_test_protobuf_SOURCES = tests/unit/sink/test_protobuf.c
tests_unit_sink_test_protobuf_LDADD = $(SINK_LDADD) $(CMOCKA_LIBS)
tests_unit_sink_test_sink_outfile_SOURCES = tests/unit/sink/test_sink_outfile.c
tests_unit_sink_test_sink_outfile_LDADD = $(SINK_LDADD) $(CMOCKA_LIBS)
tests_unit_sink_test_sink_cctdb_SOURCES = tests/unit/sink/test_sink_cctdb.c $(model_fixture)
tests_unit_sink_test_sink_cctdb_LDADD = $(SINK_LDADD) $(CMOCKA_LIBS)
tests_unit_code_test_disassemble_SOURCES = tests/unit/code/test_disassemble.c
tests_unit_code_test_disassemble_LDADD = tests/gen/libgen.la libhlcode.la libhlprof.la \
	$(CMOCKA_LIBS)
tests_unit_sink_test_sink_html_SOURCES = tests/unit/sink/test_sink_html.c $(model_fixture)
tests_unit_sink_test_sink_html_LDADD = $(SINK_LDADD) $(CMOCKA_LIBS)
tests_unit_sink_test_sink_alloc_SOURCES = tests/unit/sink/test_sink_alloc.c $(model_fixture)
tests_unit_sink_test_sink_alloc_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_unit_sink_test_sink_alloc_LDADD = libhltext.la $(SINK_LDADD) $(CMOCKA_LIBS)
tests_unit_sink_test_sink_folded_SOURCES = tests/unit/sink/test_sink_folded.c $(model_fixture)
tests_unit_sink_test_sink_folded_LDADD = $(SINK_LDADD) $(CMOCKA_LIBS)
tests_unit_sink_test_sink_json_SOURCES = tests/unit/sink/test_sink_json.c
tests_unit_sink_test_sink_json_LDADD = $(SINK_LDADD) $(CMOCKA_LIBS)
tests_unit_sink_test_sink_names_SOURCES = tests/unit/sink/test_sink_names.c
tests_unit_sink_test_sink_names_LDADD = $(SINK_LDADD) $(CMOCKA_LIBS)
tests_unit_sink_test_sink_otf2_SOURCES = tests/unit/sink/test_sink_otf2.c $(model_fixture)
tests_unit_sink_test_text_gpu_SOURCES = tests/unit/sink/test_text_gpu.c $(model_fixture)
tests_unit_sink_test_text_gpu_LDADD = libhltext.la $(SINK_LDADD) $(CMOCKA_LIBS)
tests_unit_prof_test_view_gpu_SOURCES = tests/unit/prof/test_view_gpu.c $(model_fixture)
tests_unit_prof_test_view_gpu_LDADD = libhlview.la $(SINK_LDADD) $(CMOCKA_LIBS)
tests_unit_prof_gpu_test_advice_SOURCES = tests/unit/prof_gpu/test_advice.c $(model_fixture)
tests_unit_prof_gpu_test_advice_LDADD = libhlview.la $(SINK_LDADD) $(CMOCKA_LIBS) -lm
tests_unit_sink_test_sink_otf2_CPPFLAGS = $(AM_CPPFLAGS) $(OTF2_CPPFLAGS)
tests_unit_sink_test_sink_otf2_LDADD = $(SINK_LDADD) $(OTF2_LIBS) $(CMOCKA_LIBS)
endif

sink_cli_tests = tests/cli/sink/sink_agree.sh tests/cli/sink/sink_cctdb.sh \
	tests/cli/sink/sink_code.sh \
	tests/cli/sink/sink_folded.sh tests/cli/sink/sink_gpu.sh tests/cli/sink/sink_html.sh \
	tests/cli/sink/sink_json.sh tests/cli/sink/sink_otf2.sh tests/cli/sink/sink_perfetto.sh \
	tests/cli/sink/sink_pprof.sh tests/cli/sink/sink_records.sh tests/cli/sink/sink_sqlite.sh \
	tests/cli/sink/sink_tables.sh
TESTS += $(sink_cli_tests)
EXTRA_DIST += $(sink_cli_tests) tests/golden/sink tests/golden/parallel \
	tests/judge/browse_report.py tests/judge/browse_agree.py tests/judge/browse_keys.py \
	tests/judge/browse_look.py \
	tests/judge/browse_times.py \
	tests/judge/browser.sh tests/judge/compare_tables.py tests/judge/check_sums.py \
	tests/judge/compare_facts.py tests/judge/compare_folded.py \
	tests/judge/compare_perfetto.py tests/judge/compare_pprof.py tests/judge/facts.py \
	tests/judge/perfetto.proto tests/judge/pprof.proto tests/judge/read_cctdb.py \
	tests/judge/read_json.py tests/judge/read_otf2.py tests/judge/read_sqlite.py \
	tests/judge/read_text.py tests/judge/text_records.py tests/judge/compare_exports.py \
	tests/judge/fake_nvdisasm.py tests/judge/judge_code.py tests/judge/read_code.py
