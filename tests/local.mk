# SPDX-License-Identifier: BSD-3-Clause
# Every test speaks TAP. One fragment per area.

TEST_EXTENSIONS = .sh
# What make check leaves to check-full.
FULL_TESTS =
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
LOG_COMPILER = $(DEFAULT_SIGNALS)
SH_LOG_COMPILER = $(DEFAULT_SIGNALS) $(SHELL)
AM_TESTS_ENVIRONMENT = \
	CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	LC_ALL=C.UTF-8; export LC_ALL; \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	CC='$(CC)'; CLANG='$(CLANG)'; RUSTC='$(RUSTC)'; MPICC='$(MPICC)'; PYTHON3='$(PYTHON3)'; \
	export CC CLANG RUSTC MPICC PYTHON3; \
	SANITIZER='$(HL_SANITIZE_CFLAGS)'; export SANITIZER;

# What the tests in TESTS need of what is built for tests alone, for GNUmakefile.in.
check-needs:
	@$(SHELL) $(srcdir)/tests/needs.sh '$(srcdir)' '$(TESTS)' \
	  $(check_PROGRAMS) $(check_LTLIBRARIES) $(check_DATA)
.PHONY: check-needs
# Every test, and more cases in each, as ./bootstrap check --full=thorough runs them.
check-full:
	THOROUGH=yes $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(TESTS) $(FULL_TESTS)'
.PHONY: check-full
# What concerns measured programs, for systems that lack what the other tests need.
runtime_tests = $(filter tests/lint/symbols.sh tests/unit/common/% tests/unit/run/% \
	tests/unit/unwind/% tests/unit/openmp/% tests/cli/run/% tests/cli/sacred/% \
	tests/cli/unwind/% tests/cli/attach/% tests/cli/openmp/% \
	tests/cli/e2e/e2e_programs.sh,$(TESTS))
check-runtime: check-programs
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(runtime_tests)'
.PHONY: check-runtime
# All that make check builds before it runs tests.
check-programs: all
	$(MAKE) $(AM_MAKEFLAGS) $(check_PROGRAMS) $(check_LTLIBRARIES) $(check_DATA)
.PHONY: check-programs
EXTRA_DIST += tests/needs.sh

UNIT_CFLAGS = $(AM_CFLAGS)
UNIT_LDADD = libhlbase.la $(CMOCKA_LIBS)

include $(top_srcdir)/tests/base.mk
include $(top_srcdir)/tests/unwind.mk
include $(top_srcdir)/tests/order.mk
include $(top_srcdir)/tests/run.mk
include $(top_srcdir)/tests/gpu_core.mk
include $(top_srcdir)/tests/launch.mk
include $(top_srcdir)/tests/attach.mk
include $(top_srcdir)/tests/struct.mk
include $(top_srcdir)/tests/loops.mk
include $(top_srcdir)/tests/cubin.mk
include $(top_srcdir)/tests/prof.mk
include $(top_srcdir)/tests/sink.mk
include $(top_srcdir)/tests/e2e.mk
include $(top_srcdir)/tests/ocl.mk
include $(top_srcdir)/tests/opencl.mk
include $(top_srcdir)/tests/cupti.mk

# Record and replay of the NVIDIA back end, on a driver that does not exist and with recordings of
# one that does.

replay_tests = tests/cli/gpu/replay.sh tests/cli/gpu/replay_damage.sh \
	tests/cli/gpu/replay_fault.sh tests/cli/gpu/replay_golden.sh
TESTS += $(replay_tests)
EXTRA_DIST += $(replay_tests) tests/gpu/recorded.sh tests/golden/replay

if HAVE_CUPTI
# Replays in another order and with faults.
altered = \
	tests/replay/alter.c tests/replay/alter.h \
	tests/replay/fault.c tests/replay/fault.h \
	tests/replay/shuffle.c tests/replay/shuffle.h
check_PROGRAMS += tests/replay/replay_altered
tests_replay_replay_altered_SOURCES = tests/replay/replay_altered.c $(altered)
tests_replay_replay_altered_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_replay_replay_altered_LDADD = $(REPLAY_LIBS)
check_PROGRAMS += tests/fuzz/fuzz_recording
tests_fuzz_fuzz_recording_SOURCES = tests/fuzz/fuzz_recording.c tests/fuzz/mutate.h $(altered)
tests_fuzz_fuzz_recording_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_fuzz_fuzz_recording_LDADD = $(REPLAY_LIBS)
endif

if HAVE_CUPTI
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/cupti/test_recording
TESTS += tests/unit/cupti/test_recording
tests_unit_cupti_test_recording_SOURCES = tests/unit/cupti/test_recording.c
tests_unit_cupti_test_recording_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_unit_cupti_test_recording_LDADD = $(REPLAY_LIBS) $(CMOCKA_LIBS)
endif
endif

include $(top_srcdir)/tests/gpu.mk
include $(top_srcdir)/tests/python.mk

# PyTorch: operators, and what processes are for.

if HAVE_CMOCKA
prof_torch_unit = tests/unit/prof_torch/test_forward_paths \
	tests/unit/prof_torch/test_known_torch \
	tests/unit/prof_torch/test_process_roles tests/unit/prof_torch/test_torch_fold \
	tests/unit/prof_torch/test_torch_modules
check_PROGRAMS += $(prof_torch_unit)
TESTS += $(prof_torch_unit)
tests_unit_prof_torch_test_forward_paths_SOURCES = tests/unit/prof_torch/test_forward_paths.c
tests_unit_prof_torch_test_forward_paths_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_torch_test_known_torch_SOURCES = tests/unit/prof_torch/test_known_torch.c
tests_unit_prof_torch_test_known_torch_LDADD = libhlprof.la $(CMOCKA_LIBS)
tests_unit_prof_torch_test_process_roles_SOURCES = tests/unit/prof_torch/test_process_roles.c
tests_unit_prof_torch_test_process_roles_LDADD = libhlprof.la $(CMOCKA_LIBS)
tests_unit_prof_torch_test_torch_fold_SOURCES = tests/unit/prof_torch/test_torch_fold.c
tests_unit_prof_torch_test_torch_fold_LDADD = $(PROF_UNIT_LDADD)
tests_unit_prof_torch_test_torch_modules_SOURCES = tests/unit/prof_torch/test_torch_modules.c
tests_unit_prof_torch_test_torch_modules_LDADD = libhlprof.la $(CMOCKA_LIBS)
endif

# Foreign text and files of others; attacks with random damage, of which `make check` makes a few
# runs and `./bootstrap check --full` many.

TESTS += tests/lint/foreign.sh tests/fuzz/fuzz_printable tests/cli/prof/prof_sources.sh \
	tests/cli/prof/prof_strangers.sh \
	tests/cli/common/files_hostile.sh
EXTRA_DIST += tests/lint/foreign.sh tests/cli/prof/prof_sources.sh \
	tests/cli/prof/prof_strangers.sh tests/cli/common/files_hostile.sh
check_PROGRAMS += tests/fuzz/fuzz_printable
tests_fuzz_fuzz_printable_SOURCES = tests/fuzz/fuzz_printable.c tests/fuzz/mutate.h
tests_fuzz_fuzz_printable_LDADD = libhlbase.la

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/common/test_printable
TESTS += tests/unit/common/test_printable
tests_unit_common_test_printable_SOURCES = tests/unit/common/test_printable.c
tests_unit_common_test_printable_LDADD = $(UNIT_LDADD)
endif

attacks = tests/attack/agree.sh tests/attack/kills.sh tests/attack/readers.sh tests/attack/unwind.sh
TESTS += $(attacks)
EXTRA_DIST += $(attacks) tests/attack/attack.sh
check_PROGRAMS += tests/attack/busy tests/attack/mutate
tests_attack_busy_SOURCES = tests/attack/busy.c
# Measured programs are not sanitized.
tests_attack_busy_CFLAGS = $(HL_CFLAGS)
tests_attack_busy_LDFLAGS =
tests_attack_busy_LDADD = -lpthread
tests_attack_mutate_SOURCES = tests/attack/mutate.c tests/fuzz/mutate.h
tests_attack_mutate_LDADD = libhlbase.la

# Attacks alone, as `./bootstrap check --full` runs them.
attack:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(attacks)'
.PHONY: attack

clean-local: clean-attack
clean-attack:
	rm -rf attack-found
.PHONY: clean-attack

include $(top_srcdir)/tests/jit.mk

# Parallel regions: the primitive, and programs of GCC's libgomp beyond plain regions.

gomp_workloads = \
	tests/workload/gomp/build.sh \
	tests/workload/gomp/gomp_host.c \
	tests/workload/gomp/gomp_jit.c \
	tests/workload/gomp/gomp_odd.c \
	tests/workload/gomp/gomp_plugin.c \
	tests/workload/gomp/gomp_unload.c
EXTRA_DIST += $(gomp_workloads)

check_DATA += tests/workload/gomp/gomp_programs.stamp
CLEANFILES += tests/workload/gomp/gomp_programs.stamp tests/workload/gomp/*.so \
	tests/workload/gomp/*.so.1 tests/workload/gomp/gomp_host tests/workload/gomp/gomp_jit \
	tests/workload/gomp/gomp_odd tests/workload/gomp/gomp_unload
tests/workload/gomp/gomp_programs.stamp: $(gomp_workloads)
	$(AM_V_GEN)CLANG='$(CLANG)' $(SHELL) $(srcdir)/tests/workload/gomp/build.sh \
		'$(srcdir)/tests/workload/gomp' tests/workload/gomp
	@echo done >$@

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/openmp/test_region tests/unit/openmp/test_region_sums
TESTS += tests/unit/openmp/test_region tests/unit/openmp/test_region_sums
tests_unit_openmp_test_region_SOURCES = tests/unit/openmp/test_region.c
tests_unit_openmp_test_region_LDADD = libhlregions.la libhlpython.la libhlunwind.la libhlcct.la \
	libhlsafe.la $(CMOCKA_LIBS) -lpthread
tests_unit_openmp_test_region_sums_SOURCES = tests/unit/openmp/test_region_sums.c
tests_unit_openmp_test_region_sums_LDADD = libhlregions.la libhlpython.la libhlunwind.la \
	libhlcct.la libhlsafe.la $(CMOCKA_LIBS)
endif

check_PROGRAMS += tests/workload/gomp/gomp_check
tests_workload_gomp_gomp_check_SOURCES = tests/workload/gomp/gomp_check.c
tests_workload_gomp_gomp_check_LDADD = libhlsafe.la

TESTS += tests/cli/openmp/gomp_odd.sh tests/cli/openmp/gomp_python.sh \
	tests/cli/openmp/gomp_two.sh
EXTRA_DIST += tests/cli/openmp/gomp_odd.sh tests/cli/openmp/gomp_python.sh \
	tests/cli/openmp/gomp_two.sh

# OpenMP: workloads with known answers, built with gcc for libgomp and with clang for libomp.

openmp_workloads = \
	tests/workload/openmp/build.sh \
	tests/workload/openmp/omp_both.c \
	tests/workload/openmp/omp_fortran.f90 \
	tests/workload/openmp/omp_known.c \
	tests/workload/openmp/omp_paths.c \
	tests/workload/openmp/omp_schedule.c \
	tests/workload/openmp/omp_throw.cc \
	tests/workload/openmp/omp_tool.c \
	tests/workload/openmp/omp_truth.h \
	tests/workload/openmp/omp_waits.c
EXTRA_DIST += $(openmp_workloads)

check_DATA += tests/workload/openmp/openmp_programs.stamp
CLEANFILES += tests/workload/openmp/openmp_programs.stamp tests/workload/openmp/*.libgomp \
	tests/workload/openmp/*.libomp tests/workload/openmp/*.compat \
	tests/workload/openmp/*.so
tests/workload/openmp/openmp_programs.stamp: $(openmp_workloads) tests/workload/e2e/shares.h
	$(AM_V_GEN)CLANG='$(CLANG)' $(SHELL) $(srcdir)/tests/workload/openmp/build.sh \
		'$(srcdir)/tests/workload/openmp' tests/workload/openmp
	@echo done >$@

openmp_tests = \
	tests/cli/openmp/omp_known.sh \
	tests/cli/openmp/omp_paths.sh \
	tests/cli/openmp/omp_report.sh \
	tests/cli/openmp/omp_same.sh \
	tests/cli/openmp/omp_schedule.sh \
	tests/cli/openmp/omp_tasks.sh \
	tests/cli/openmp/omp_tools.sh \
	tests/cli/openmp/omp_waits.sh
TESTS += $(openmp_tests)
EXTRA_DIST += $(openmp_tests) tests/cli/openmp/openmp.sh tests/cli/openmp/openmp_paths.awk

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/openmp/test_ompt
TESTS += tests/unit/openmp/test_ompt
tests_unit_openmp_test_ompt_SOURCES = tests/unit/openmp/test_ompt.c \
	hpcrun-lite/openmp/ompt_region.c
tests_unit_openmp_test_ompt_LDADD = libhlregions.la libhlpython.la libhlunwind.la libhlcct.la \
	libhlsafe.la $(CMOCKA_LIBS)
endif

EXTRA_DIST += tests/bench/omp_regions.c tests/bench/bench_openmp.sh
BENCHES += tests/bench/bench_openmp.sh

# Calls of MPI. The programs are built by the scripts, once for each MPI that is installed.

mpi_tests = \
	tests/cli/mpi/mpi_callers.sh \
	tests/cli/mpi/mpi_fortran.sh \
	tests/cli/mpi/mpi_hang.sh \
	tests/cli/mpi/mpi_harmless.sh \
	tests/cli/mpi/mpi_late.sh \
	tests/cli/mpi/mpi_memo.sh \
	tests/cli/mpi/mpi_polls.sh \
	tests/cli/mpi/mpi_python.sh \
	tests/cli/mpi/mpi_spawn.sh \
	tests/cli/mpi/mpi_truth.sh
TESTS += $(mpi_tests)
EXTRA_DIST += $(mpi_tests) tests/cli/mpi/mpi_lib.sh \
	tests/workload/mpi/mpi_arrive.c \
	tests/workload/mpi/mpi_callers.c \
	tests/workload/mpi/mpi_calls.py \
	tests/workload/mpi/mpi_count.c \
	tests/workload/mpi/mpi_errors.c \
	tests/workload/mpi/mpi_fortran_f08.f90 \
	tests/workload/mpi/mpi_fortran_inc.f90 \
	tests/workload/mpi/mpi_fortran_mod.f90 \
	tests/workload/mpi/mpi_inter.c \
	tests/workload/mpi/mpi_late.c \
	tests/workload/mpi/mpi_memo.cc \
	tests/workload/mpi/mpi_mix.c \
	tests/workload/mpi/mpi_hang.c \
	tests/workload/mpi/mpi_polls.c \
	tests/workload/mpi/mpi_omp.c \
	tests/workload/mpi/mpi_spawn.c \
	tests/workload/mpi/mpi_spawn.py \
	tests/workload/mpi/mpi_speed.c \
	tests/workload/mpi/mpi_tail.c

BENCHES += tests/bench/bench_mpi.sh
EXTRA_DIST += tests/bench/bench_mpi.sh

# Runs that go on.

live_tests = \
	tests/cli/live/live_mpi.sh \
	tests/cli/live/live_prometheus.sh \
	tests/cli/live/live_run.sh \
	tests/cli/live/live_terminal.sh
TESTS += $(live_tests)
FULL_TESTS += tests/cli/live/live_cost.sh tests/cli/live/live_scrape.sh
EXTRA_DIST += $(live_tests) tests/cli/live/live_cost.sh tests/cli/live/live_scrape.sh \
	tests/cli/live/live_lib.sh \
	tests/cli/live/live_terminal.py
check_PROGRAMS += tests/workload/live/live_phases
tests_workload_live_live_phases_SOURCES = tests/workload/live/live_phases.c
tests_workload_live_live_phases_CFLAGS = $(HL_CFLAGS)
tests_workload_live_live_phases_LDFLAGS =
tests_workload_live_live_phases_LDADD = -lpthread

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/mpi/test_mpi_bytes tests/unit/mpi/test_mpi_poll \
	tests/unit/mpi/test_mpi_sums \
	tests/unit/prof_mpi/test_mpi_model tests/unit/prof_mpi/test_mpi_waits
TESTS += tests/unit/mpi/test_mpi_bytes tests/unit/mpi/test_mpi_poll \
	tests/unit/mpi/test_mpi_sums \
	tests/unit/prof_mpi/test_mpi_model tests/unit/prof_mpi/test_mpi_waits
tests_unit_mpi_test_mpi_bytes_SOURCES = tests/unit/mpi/test_mpi_bytes.c \
	hpcrun-lite/mpi/mpi_bytes.c hpcrun-lite/mpi/mpi_objects.c \
	hpcrun-lite/mpi/mpi_requests.c
tests_unit_mpi_test_mpi_bytes_LDADD = libhlbase.la $(CMOCKA_LIBS)
tests_unit_mpi_test_mpi_poll_SOURCES = tests/unit/mpi/test_mpi_poll.c \
	hpcrun-lite/mpi/mpi_poll.c
tests_unit_mpi_test_mpi_poll_LDADD = libhlbase.la $(CMOCKA_LIBS)
tests_unit_mpi_test_mpi_sums_SOURCES = tests/unit/mpi/test_mpi_sums.c \
	hpcrun-lite/runtime/sums/mpi_sums.c
tests_unit_mpi_test_mpi_sums_LDADD = libhlcct.la libhlsafe.la $(CMOCKA_LIBS)
tests_unit_prof_mpi_test_mpi_model_SOURCES = tests/unit/prof_mpi/test_mpi_model.c
tests_unit_prof_mpi_test_mpi_model_LDADD = libhlview.la $(PROF_UNIT_LDADD)
tests_unit_prof_mpi_test_mpi_waits_SOURCES = tests/unit/prof_mpi/test_mpi_waits.c
tests_unit_prof_mpi_test_mpi_waits_LDADD = libhlprof.la libhlbase.la $(CMOCKA_LIBS) -lm
endif

# hpcprof-lite in parts: ranks of an MPI program, and threads in unit tests.

parts_tests = \
	tests/cli/parts/parts_alone.sh tests/cli/parts/parts_faults.sh \
	tests/cli/parts/parts_golden.sh tests/cli/parts/parts_ranks.sh \
	tests/cli/parts/parts_slurm.sh
TESTS += $(parts_tests)
EXTRA_DIST += $(parts_tests) tests/cli/parts/parts_lib.sh

if HAVE_CMOCKA
parts_units = tests/unit/prof_parts/test_comm tests/unit/prof_parts/test_parts \
	tests/unit/prof_parts/test_parts_gpu tests/unit/prof_parts/test_start_guard
check_PROGRAMS += $(parts_units)
TESTS += $(parts_units)
tests_unit_prof_parts_test_comm_SOURCES = tests/unit/prof_parts/test_comm.c \
	hpcprof-lite/parts/comm_threads.c hpcprof-lite/parts/comm_threads.h
tests_unit_prof_parts_test_comm_LDADD = $(PROF_UNIT_LDADD)
parts_job = tests/unit/prof_parts/parts_job.c tests/unit/prof_parts/parts_job.h \
	hpcprof-lite/parts/comm_threads.c hpcprof-lite/parts/comm_threads.h
tests_unit_prof_parts_test_parts_SOURCES = tests/unit/prof_parts/test_parts.c $(parts_job)
tests_unit_prof_parts_test_parts_LDADD = libhlsink.la $(PROF_UNIT_LDADD)
tests_unit_prof_parts_test_parts_gpu_SOURCES = tests/unit/prof_parts/test_parts_gpu.c $(parts_job)
tests_unit_prof_parts_test_parts_gpu_LDADD = libhlsink.la $(PROF_UNIT_LDADD)
tests_unit_prof_parts_test_start_guard_LDADD = $(PROF_UNIT_LDADD)
endif

# Kernels of NCCL: ranks, times, who came last.

check_PROGRAMS += tests/gen/gen_nccl_main
tests_gen_gen_nccl_main_SOURCES = tests/gen/gen_nccl_main.c
tests_gen_gen_nccl_main_LDADD = tests/gen/libgen.la

TESTS += tests/cli/nccl/nccl_ranks.sh
EXTRA_DIST += tests/cli/nccl/nccl_ranks.sh tests/golden/nccl

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/prof_nccl/test_nccl
TESTS += tests/unit/prof_nccl/test_nccl
tests_unit_prof_nccl_test_nccl_SOURCES = tests/unit/prof_nccl/test_nccl.c
tests_unit_prof_nccl_test_nccl_LDADD = libhlview.la $(PROF_UNIT_LDADD)
endif

# Ranges of NVTX.

check_PROGRAMS += tests/workload/nvtx/nvtx_program
tests_workload_nvtx_nvtx_program_SOURCES = tests/workload/nvtx/nvtx_program.c \
	tests/workload/nvtx/nvtx_client.h
tests_workload_nvtx_nvtx_program_CFLAGS = $(HL_CFLAGS)
tests_workload_nvtx_nvtx_program_LDFLAGS =
tests_workload_nvtx_nvtx_program_LDADD = -lpthread -ldl

check_PROGRAMS += tests/workload/nvtx/nvtx_misuse
tests_workload_nvtx_nvtx_misuse_SOURCES = tests/workload/nvtx/nvtx_misuse.c \
	tests/workload/nvtx/nvtx_client.h
tests_workload_nvtx_nvtx_misuse_CFLAGS = $(HL_CFLAGS)
tests_workload_nvtx_nvtx_misuse_LDFLAGS =
tests_workload_nvtx_nvtx_misuse_LDADD = -lpthread -ldl

check_PROGRAMS += tests/workload/nvtx/nvtx_xla
tests_workload_nvtx_nvtx_xla_SOURCES = tests/workload/nvtx/nvtx_xla.c \
	tests/workload/nvtx/nvtx_client.h
tests_workload_nvtx_nvtx_xla_CFLAGS = $(HL_CFLAGS)
tests_workload_nvtx_nvtx_xla_LDFLAGS =
tests_workload_nvtx_nvtx_xla_LDADD = -ldl

TESTS += tests/cli/nvtx/nvtx_xla.sh tests/cli/nvtx/nvtx_outputs.sh
EXTRA_DIST += tests/cli/nvtx/nvtx_xla.sh tests/cli/nvtx/nvtx_outputs.sh

TESTS += tests/cli/nvtx/nvtx_misuse.sh tests/cli/nvtx/nvtx_tree.sh \
	tests/cli/nvtx/nvtx_jax_golden.sh
EXTRA_DIST += tests/cli/nvtx/nvtx_misuse.sh tests/cli/nvtx/nvtx_tree.sh \
	tests/cli/nvtx/nvtx_jax_golden.sh tests/golden/jax

TESTS += tests/cli/nvtx/nvtx_ranges.sh tests/cli/nvtx/nvtx_limits.sh tests/cli/nvtx/nvtx_lines.sh \
	tests/cli/nvtx/nvtx_page.sh
EXTRA_DIST += tests/cli/nvtx/nvtx_ranges.sh tests/cli/nvtx/nvtx_limits.sh \
	tests/cli/nvtx/nvtx_lines.sh tests/cli/nvtx/nvtx_page.sh \
	tests/cli/nvtx/perfetto_ranges.py

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/nvtx/test_nvtx_sums
TESTS += tests/unit/nvtx/test_nvtx_sums
tests_unit_nvtx_test_nvtx_sums_SOURCES = tests/unit/nvtx/test_nvtx_sums.c \
	hpcrun-lite/runtime/sums/nvtx_sums.c
tests_unit_nvtx_test_nvtx_sums_LDADD = libhlcct.la libhlsafe.la $(CMOCKA_LIBS)

check_PROGRAMS += tests/unit/nvtx/test_known_xla
TESTS += tests/unit/nvtx/test_known_xla
tests_unit_nvtx_test_known_xla_SOURCES = tests/unit/nvtx/test_known_xla.c
tests_unit_nvtx_test_known_xla_LDADD = $(PROF_UNIT_LDADD)

check_PROGRAMS += tests/unit/nvtx/test_nvtx_tree
TESTS += tests/unit/nvtx/test_nvtx_tree
tests_unit_nvtx_test_nvtx_tree_SOURCES = tests/unit/nvtx/test_nvtx_tree.c \
	tests/unit/prof_gpu/gpu_fixture.h
tests_unit_nvtx_test_nvtx_tree_LDADD = $(PROF_UNIT_LDADD)
endif

# Efficiencies of parallel programs: phases, serialisation and transfer, in text and in the page.

parallel_tests = \
	tests/cli/parallel/phases.sh \
	tests/cli/parallel/findings.sh \
	tests/cli/parallel/pop_mpi.sh
TESTS += $(parallel_tests)
EXTRA_DIST += $(parallel_tests) tests/workload/parallel/pop_mpi.c

check_PROGRAMS += tests/workload/parallel/phases tests/workload/parallel/planted
tests_workload_parallel_planted_SOURCES = tests/workload/parallel/planted.c
tests_workload_parallel_planted_LDADD = -lpthread
tests_workload_parallel_phases_SOURCES = tests/workload/parallel/phases.c
tests_workload_parallel_phases_LDADD = libhpctoolkit.la -lpthread

if HAVE_CMOCKA
parallel_unit_tests = tests/unit/prof_parallel/test_view_phases \
	tests/unit/prof_parallel/test_view_ranks \
	tests/unit/prof_parallel/test_view_transfer
check_PROGRAMS += $(parallel_unit_tests)
TESTS += $(parallel_unit_tests)
tests_unit_prof_parallel_test_view_phases_SOURCES = tests/unit/prof_parallel/test_view_phases.c
tests_unit_prof_parallel_test_view_phases_LDADD = libhlview.la $(PROF_UNIT_LDADD)
tests_unit_prof_parallel_test_view_ranks_SOURCES = tests/unit/prof_parallel/test_view_ranks.c
tests_unit_prof_parallel_test_view_ranks_LDADD = libhlview.la $(PROF_UNIT_LDADD)
tests_unit_prof_parallel_test_view_transfer_SOURCES = \
	tests/unit/prof_parallel/test_view_transfer.c
tests_unit_prof_parallel_test_view_transfer_LDADD = libhlview.la $(PROF_UNIT_LDADD)
endif

# Where the data are: file servers, node-local storage, many processes in one directory.

storage_tests = \
	tests/cli/storage/slurm_jobs.sh \
	tests/cli/storage/storage_follow.sh \
	tests/cli/storage/storage_local.sh \
	tests/cli/storage/storage_places.sh \
	tests/cli/storage/storage_proof.sh \
	tests/cli/storage/storage_server.sh \
	tests/cli/storage/storage_start.sh
TESTS += $(storage_tests)
EXTRA_DIST += $(storage_tests) tests/cli/storage/storage_lib.sh tests/workload/storage/bad_fs.c \
	tests/workload/storage/ends.c

# hpcrun-lite --torch: backward passes below the forward line.

check_PROGRAMS += tests/workload/torch/torch_program
tests_workload_torch_torch_program_SOURCES = tests/workload/torch/torch_program.c \
	tests/workload/torch/torch_fake.h
tests_workload_torch_torch_program_CFLAGS = $(HL_CFLAGS)
tests_workload_torch_torch_program_LDFLAGS =
tests_workload_torch_torch_program_LDADD = -ldl -lpthread

# The name is one by which hpcprof-lite knows PyTorch.
check_LTLIBRARIES += tests/workload/torch/libtorch_cpu.la
tests_workload_torch_libtorch_cpu_la_SOURCES = tests/workload/torch/torch_fake.cc \
	tests/workload/torch/torch_fake.h
tests_workload_torch_libtorch_cpu_la_CXXFLAGS = -O1 -g
tests_workload_torch_libtorch_cpu_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

torch_tests = tests/cli/torch/torch_backward.sh tests/cli/torch/torch_golden.sh \
	tests/cli/torch/torch_gpu_golden.sh tests/cli/torch/torch_launches.sh \
	tests/cli/torch/torch_straggler.sh
TESTS += $(torch_tests)
# Takes a real PyTorch.
FULL_TESTS += tests/cli/torch/torch_training.sh
EXTRA_DIST += tests/cli/torch/torch_training.sh
EXTRA_DIST += $(torch_tests) tests/cli/torch/torch_straggler.py tests/cli/torch/torch_training.py \
	tests/golden/torch_backward \
	tests/golden/torch_gpu

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/torch/test_torch_nodes
TESTS += tests/unit/torch/test_torch_nodes
tests_unit_torch_test_torch_nodes_SOURCES = tests/unit/torch/test_torch_nodes.c \
	hpcrun-lite/torch/torch_nodes.c
tests_unit_torch_test_torch_nodes_LDADD = libhlsafe.la $(CMOCKA_LIBS) -lpthread
endif

# Memory of the program: known allocations, and other allocators.

check_PROGRAMS += tests/workload/memory/memory_sites tests/workload/memory/memory_operators
tests_workload_memory_memory_sites_SOURCES = tests/workload/memory/memory_sites.c
tests_workload_memory_memory_sites_CFLAGS = $(HL_CFLAGS) -fno-builtin
tests_workload_memory_memory_sites_LDFLAGS =
tests_workload_memory_memory_sites_LDADD = -lpthread
tests_workload_memory_memory_operators_SOURCES = tests/workload/memory/memory_operators.cc
tests_workload_memory_memory_operators_CXXFLAGS = -O1 -g -std=c++17
tests_workload_memory_memory_operators_LDFLAGS =
tests_workload_memory_memory_operators_LDADD =

memory_tests = tests/cli/memory/memory_operators.sh tests/cli/memory/memory_places.sh \
	tests/cli/memory/memory_truth.sh
TESTS += $(memory_tests)
EXTRA_DIST += $(memory_tests) tests/cli/memory/memory_lib.sh tests/workload/memory/memory_pages.py

EXTRA_PROGRAMS += tests/bench/bench_allocations
BENCH_NEEDS += tests/bench/bench_allocations$(EXEEXT)
tests_bench_bench_allocations_SOURCES = tests/bench/bench_allocations.cc
tests_bench_bench_allocations_CXXFLAGS = -O2
tests_bench_bench_allocations_LDFLAGS =
tests_bench_bench_allocations_LDADD =
BENCHES += tests/bench/bench_memory.sh
EXTRA_DIST += tests/bench/bench_memory.sh

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/memory/test_memory_model tests/unit/memory/test_memory_table
TESTS += tests/unit/memory/test_memory_model tests/unit/memory/test_memory_table
tests_unit_memory_test_memory_model_SOURCES = tests/unit/memory/test_memory_model.c
tests_unit_memory_test_memory_model_LDADD = libhlview.la $(PROF_UNIT_LDADD)
tests_unit_memory_test_memory_table_SOURCES = tests/unit/memory/test_memory_table.c \
	hpcrun-lite/memory/memory_table.c
tests_unit_memory_test_memory_table_LDADD = libhlsafe.la $(CMOCKA_LIBS) -lpthread
endif

# make bench: figures as ratios in one run; nothing is asserted. BENCHES are programs or scripts,
# BENCH_NEEDS what they run.
bench: all $(BENCH_NEEDS)
	@for b in $(BENCHES); do \
		case $$b in *.sh) run="$(SHELL) $(srcdir)/$$b" ;; *) $(MAKE) $(AM_MAKEFLAGS) -s \
		$$b || exit 1; run=./$$b ;; esac; \
		echo "== $$b"; \
		top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' $$run || exit 1; \
	done
.PHONY: bench

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
	tests/unit/prof/test_data_symbols tests/unit/prof/test_load_running \
	tests/unit/prof/test_load_waits
TESTS += tests/unit/run/test_offcpu tests/unit/run/test_offcpu_wait tests/unit/run/test_waits \
	tests/unit/prof/test_data_symbols tests/unit/prof/test_load_running \
	tests/unit/prof/test_load_waits
tests_unit_prof_test_load_running_SOURCES = tests/unit/prof/test_load_running.c
tests_unit_prof_test_load_running_LDADD = libhlprof.la libhlbase.la $(CMOCKA_LIBS) -lm
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
