# SPDX-License-Identifier: BSD-3-Clause
# The synthetic measurements (tests/gen), hpcprof-lite's load, model, attribute and text.

check_LTLIBRARIES += tests/gen/libgen.la
tests_gen_libgen_la_SOURCES = \
	tests/gen/gen.c tests/gen/gen.h tests/gen/gen_extent.h \
	tests/gen/gen_mpi.c tests/gen/gen_mpi.h \
	tests/gen/gen_nvtx.c tests/gen/gen_nvtx.h \
	tests/gen/gen_gpu.c tests/gen/gen_gpu.h \
	tests/gen/gen_gpu_work.c \
	tests/gen/gen_job.c \
	tests/gen/gen_nccl.c tests/gen/gen_nccl.h \
	tests/gen/gen_program.c tests/gen/gen_program.h \
	tests/gen/gen_structure.c tests/gen/gen_structure.h
tests_gen_libgen_la_LIBADD = libhlbase.la

check_PROGRAMS += tests/gen/gen_measurement
tests_gen_gen_measurement_SOURCES = tests/gen/gen_main.c
tests_gen_gen_measurement_LDADD = tests/gen/libgen.la

check_PROGRAMS += tests/gen/gen_scale
tests_gen_gen_scale_SOURCES = tests/gen/gen_scale.c
tests_gen_gen_scale_LDADD = tests/gen/libgen.la

check_PROGRAMS += tests/gen/gen_compare
tests_gen_gen_compare_SOURCES = tests/gen/gen_compare.c
tests_gen_gen_compare_LDADD = tests/gen/libgen.la

check_PROGRAMS += tests/gen/gen_names
tests_gen_gen_names_SOURCES = tests/gen/gen_names.c
tests_gen_gen_names_LDADD = tests/gen/libgen.la

check_PROGRAMS += tests/gen/gen_ranges
tests_gen_gen_ranges_SOURCES = tests/gen/gen_ranges.c
tests_gen_gen_ranges_LDADD = tests/gen/libgen.la

check_PROGRAMS += tests/gen/gen_pc
tests_gen_gen_pc_SOURCES = tests/gen/gen_pc.c
tests_gen_gen_pc_LDADD = tests/gen/libgen.la

if HAVE_CMOCKA
check_LTLIBRARIES += tests/unit/prof/libproffixture.la
tests_unit_prof_libproffixture_la_SOURCES = \
	tests/unit/prof/findings_fixture.c tests/unit/prof/findings_fixture.h \
	tests/unit/prof/prof_fixture.c tests/unit/prof/prof_fixture.h
tests_unit_prof_libproffixture_la_LIBADD = libhltext.la libhlprof.la tests/gen/libgen.la
PROF_UNIT_LDADD = tests/unit/prof/libproffixture.la $(CMOCKA_LIBS) -lm

prof_unit_tests = \
	tests/unit/prof/test_load \
	tests/unit/prof/test_merge \
	tests/unit/prof/test_expand \
	tests/unit/prof/test_omp_regions \
	tests/unit/prof/test_order \
	tests/unit/prof/test_sum \
	tests/unit/prof/test_ledger \
	tests/unit/prof/test_children \
	tests/unit/prof/test_database \
	tests/unit/prof/test_filter \
	tests/unit/prof_gpu/test_blame_text \
	tests/unit/prof_gpu/test_counters \
	tests/unit/prof_gpu/test_gpu_blame \
	tests/unit/prof_gpu/test_gpu_calls \
	tests/unit/prof_gpu/test_gpu_join \
	tests/unit/prof_gpu/test_gpu_memory \
	tests/unit/prof_gpu/test_gpu_ledger \
	tests/unit/prof_gpu/test_gpu_model \
	tests/unit/prof_gpu/test_gpu_occupancy \
	tests/unit/prof_gpu/test_gpu_ranges \
	tests/unit/prof_gpu/test_gpu_samples \
	tests/unit/prof_gpu/test_gpu_energy tests/unit/prof_gpu/test_gpu_idle \
	tests/unit/prof_gpu/test_gpu_time \
	tests/unit/prof_gpu/test_load_gpu \
	tests/unit/common/test_space \
	tests/unit/prof/test_model \
	tests/unit/sink/test_report \
	tests/unit/prof/test_activity \
	tests/unit/prof/test_known_code \
	tests/unit/prof/test_known_runtime \
	tests/unit/sink/test_text \
	tests/unit/prof/test_view_balance \
	tests/unit/prof/test_view_calls \
	tests/unit/prof/test_view_fold \
	tests/unit/prof/test_view_launch \
	tests/unit/prof/test_view_pop \
	tests/unit/prof/test_findings \
	tests/unit/prof/test_findings_code \
	tests/unit/prof/test_findings_jobs \
	tests/unit/prof/test_findings_regions \
	tests/unit/prof/test_view_processors \
	tests/unit/prof/test_view_regions \
	tests/unit/test_view_run \
	tests/unit/prof/test_view_table \
	tests/unit/test_view_tree
compare_unit_tests = \
	tests/unit/compare/test_compare \
	tests/unit/compare/test_compare_alloc \
	tests/unit/compare/test_compare_condition \
	tests/unit/compare/test_compare_names \
	tests/unit/compare/test_compare_noise
COMPARE_LDADD = libhlcompare.la libhltext.la libhlsink.la libhlprof.la $(CMOCKA_LIBS) -lm
compare_fixture = tests/unit/compare/compare_fixture.c tests/unit/compare/compare_fixture.h
check_PROGRAMS += $(compare_unit_tests)
TESTS += $(compare_unit_tests)
tests_unit_compare_test_compare_SOURCES = tests/unit/compare/test_compare.c $(compare_fixture)
tests_unit_compare_test_compare_LDADD = $(COMPARE_LDADD)
tests_unit_compare_test_compare_alloc_SOURCES = tests/unit/compare/test_compare_alloc.c \
	$(compare_fixture)
tests_unit_compare_test_compare_alloc_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_unit_compare_test_compare_alloc_LDADD = $(COMPARE_LDADD)
tests_unit_compare_test_compare_noise_SOURCES = tests/unit/compare/test_compare_noise.c \
	$(compare_fixture)
tests_unit_compare_test_compare_noise_LDADD = $(COMPARE_LDADD)
tests_unit_compare_test_compare_condition_SOURCES = tests/unit/compare/test_compare_condition.c
tests_unit_compare_test_compare_condition_LDADD = $(COMPARE_LDADD)
tests_unit_compare_test_compare_names_SOURCES = tests/unit/compare/test_compare_names.c
tests_unit_compare_test_compare_names_LDADD = $(COMPARE_LDADD)

check_PROGRAMS += $(prof_unit_tests)
TESTS += $(prof_unit_tests)
tests_unit_prof_test_load_SOURCES = tests/unit/prof/test_load.c
tests_unit_prof_test_load_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_merge_SOURCES = tests/unit/prof/test_merge.c
tests_unit_prof_test_merge_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_expand_SOURCES = tests/unit/prof/test_expand.c
tests_unit_prof_test_expand_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_omp_regions_SOURCES = tests/unit/prof/test_omp_regions.c
tests_unit_prof_test_omp_regions_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_order_SOURCES = tests/unit/prof/test_order.c
tests_unit_prof_test_order_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_sum_SOURCES = tests/unit/prof/test_sum.c
tests_unit_prof_test_sum_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_children_SOURCES = tests/unit/prof/test_children.c
tests_unit_prof_test_children_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_database_SOURCES = tests/unit/prof/test_database.c \
	hpcprof-lite/database.c hpcprof-lite/database.h
tests_unit_prof_test_database_LDADD = libhlcode.la $(PROF_UNIT_LDADD)
tests_unit_prof_test_filter_SOURCES = tests/unit/prof/test_filter.c \
	tests/unit/prof_gpu/gpu_fixture.h
tests_unit_prof_test_filter_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_ledger_SOURCES = tests/unit/prof/test_ledger.c
tests_unit_prof_test_ledger_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_blame_text_SOURCES = tests/unit/prof_gpu/test_blame_text.c \
	tests/unit/prof_gpu/gpu_fixture.h tests/unit/prof_gpu/gpu_samples_fixture.h
tests_unit_prof_gpu_test_blame_text_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_gpu_blame_SOURCES = tests/unit/prof_gpu/test_gpu_blame.c \
	tests/unit/prof_gpu/gpu_fixture.h tests/unit/prof_gpu/gpu_samples_fixture.h
tests_unit_prof_gpu_test_gpu_blame_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_gpu_calls_SOURCES = tests/unit/prof_gpu/test_gpu_calls.c tests/unit/prof_gpu/gpu_fixture.h tests/unit/prof_gpu/gpu_samples_fixture.h
tests_unit_prof_gpu_test_gpu_calls_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_unit_prof_gpu_test_gpu_calls_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_gpu_memory_SOURCES = tests/unit/prof_gpu/test_gpu_memory.c
tests_unit_prof_gpu_test_gpu_memory_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_gpu_join_SOURCES = tests/unit/prof_gpu/test_gpu_join.c tests/unit/prof_gpu/gpu_fixture.h
tests_unit_prof_gpu_test_gpu_join_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_gpu_ledger_SOURCES = tests/unit/prof_gpu/test_gpu_ledger.c tests/unit/prof_gpu/gpu_fixture.h
tests_unit_prof_gpu_test_gpu_ledger_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_gpu_model_SOURCES = tests/unit/prof_gpu/test_gpu_model.c tests/unit/prof_gpu/gpu_fixture.h
tests_unit_prof_gpu_test_gpu_model_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_gpu_occupancy_SOURCES = tests/unit/prof_gpu/test_gpu_occupancy.c
tests_unit_prof_gpu_test_gpu_occupancy_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_unit_prof_gpu_test_gpu_occupancy_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_gpu_ranges_SOURCES = tests/unit/prof_gpu/test_gpu_ranges.c tests/unit/prof_gpu/gpu_fixture.h tests/unit/prof_gpu/gpu_samples_fixture.h
tests_unit_prof_gpu_test_gpu_ranges_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_gpu_samples_SOURCES = tests/unit/prof_gpu/test_gpu_samples.c tests/unit/prof_gpu/gpu_fixture.h tests/unit/prof_gpu/gpu_samples_fixture.h
tests_unit_prof_gpu_test_gpu_samples_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_counters_SOURCES = tests/unit/prof_gpu/test_counters.c
tests_unit_prof_gpu_test_counters_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_gpu_energy_SOURCES = tests/unit/prof_gpu/test_gpu_energy.c
tests_unit_prof_gpu_test_gpu_energy_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_gpu_idle_SOURCES = tests/unit/prof_gpu/test_gpu_idle.c
tests_unit_prof_gpu_test_gpu_idle_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_gpu_time_SOURCES = tests/unit/prof_gpu/test_gpu_time.c
tests_unit_prof_gpu_test_gpu_time_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_gpu_test_load_gpu_SOURCES = tests/unit/prof_gpu/test_load_gpu.c tests/unit/prof_gpu/gpu_fixture.h
tests_unit_prof_gpu_test_load_gpu_LDADD = $(PROF_UNIT_LDADD)
tests_unit_common_test_space_SOURCES = tests/unit/common/test_space.c
tests_unit_common_test_space_LDADD = $(UNIT_LDADD)
tests_unit_prof_test_model_SOURCES = tests/unit/prof/test_model.c
tests_unit_prof_test_model_LDADD = $(PROF_UNIT_LDADD)
tests_unit_sink_test_report_SOURCES = tests/unit/sink/test_report.c
tests_unit_sink_test_report_LDADD = $(PROF_UNIT_LDADD)
tests_unit_sink_test_text_SOURCES = tests/unit/sink/test_text.c
tests_unit_sink_test_text_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_view_balance_SOURCES = tests/unit/prof/test_view_balance.c
tests_unit_prof_test_view_balance_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_view_calls_SOURCES = tests/unit/prof/test_view_calls.c
tests_unit_prof_test_view_calls_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_view_fold_SOURCES = tests/unit/prof/test_view_fold.c
tests_unit_prof_test_view_fold_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_activity_SOURCES = tests/unit/prof/test_activity.c
tests_unit_prof_test_activity_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_known_runtime_SOURCES = tests/unit/prof/test_known_runtime.c
tests_unit_prof_test_known_runtime_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_known_code_SOURCES = tests/unit/prof/test_known_code.c
tests_unit_prof_test_known_code_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_view_regions_SOURCES = tests/unit/prof/test_view_regions.c
tests_unit_prof_test_view_regions_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_view_pop_SOURCES = tests/unit/prof/test_view_pop.c
tests_unit_prof_test_view_pop_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_findings_SOURCES = tests/unit/prof/test_findings.c
tests_unit_prof_test_findings_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_findings_code_SOURCES = tests/unit/prof/test_findings_code.c
tests_unit_prof_test_findings_code_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_findings_jobs_SOURCES = tests/unit/prof/test_findings_jobs.c
tests_unit_prof_test_findings_jobs_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_findings_regions_SOURCES = tests/unit/prof/test_findings_regions.c
tests_unit_prof_test_findings_regions_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_view_processors_SOURCES = tests/unit/prof/test_view_processors.c
tests_unit_prof_test_view_processors_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_view_launch_SOURCES = tests/unit/prof/test_view_launch.c
tests_unit_prof_test_view_launch_LDADD = $(PROF_UNIT_LDADD)
tests_unit_test_view_run_SOURCES = tests/unit/test_view_run.c
tests_unit_test_view_run_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_test_view_table_SOURCES = tests/unit/prof/test_view_table.c
tests_unit_prof_test_view_table_LDADD = $(PROF_UNIT_LDADD)
tests_unit_test_view_tree_SOURCES = tests/unit/test_view_tree.c
tests_unit_test_view_tree_LDADD = $(PROF_UNIT_LDADD)
endif

prof_cli_tests = \
	tests/cli/common/completion.sh \
	tests/cli/prof/prof_cli.sh \
	tests/cli/prof/prof_filter.sh \
	tests/cli/prof/prof_fuzz.sh \
	tests/cli/prof/prof_gpu.sh \
	tests/cli/prof/prof_gpu_calls.sh \
	tests/cli/prof/prof_gpu_pc.sh \
	tests/cli/prof/prof_archive.sh tests/cli/prof/prof_released.sh \
	tests/cli/prof/prof_output.sh \
	tests/cli/prof/prof_scale.sh \
	tests/cli/prof/prof_structs.sh \
	tests/cli/prof/prof_structs_parts.sh \
	tests/cli/prof/prof_text.sh
compare_cli_tests = tests/cli/compare/compare.sh tests/cli/compare/compare_gate.sh \
	tests/cli/compare/compare_programs.sh
TESTS += $(prof_cli_tests) $(compare_cli_tests)
EXTRA_DIST += $(compare_cli_tests) tests/golden/compare tests/workload/prof/compare_work.c
EXTRA_DIST += $(prof_cli_tests) tests/golden/forks tests/golden/prof tests/golden/python \
	tests/golden/python-modules tests/golden/released tests/golden/torch \
	tests/cli/prof/released_facts.py tests/cli/prof/sums.awk

check_PROGRAMS += tests/fuzz/fuzz_measurement
tests_fuzz_fuzz_measurement_SOURCES = tests/fuzz/fuzz_measurement.c
tests_fuzz_fuzz_measurement_LDADD = libhltext.la libhlprof.la -lm

BENCH_NEEDS += tests/gen/gen_measurement$(EXEEXT) tests/gen/gen_scale$(EXEEXT)
prof_benches = tests/bench/bench_phases.sh tests/bench/bench_prof.sh \
	tests/bench/bench_ranks.sh tests/bench/bench_scale.sh
BENCHES += $(prof_benches)
EXTRA_DIST += $(prof_benches)
