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
# All that make check builds before it runs tests.
check-programs: all
	$(MAKE) $(AM_MAKEFLAGS) $(check_PROGRAMS) $(check_LTLIBRARIES) $(check_DATA)
.PHONY: check-programs
EXTRA_DIST += tests/needs.sh

UNIT_CFLAGS = $(AM_CFLAGS)
UNIT_LDADD = libhlbase.la $(CMOCKA_LIBS)

include $(top_srcdir)/tests/base.mk
include $(top_srcdir)/tests/unwind.mk
include $(top_srcdir)/tests/run.mk
include $(top_srcdir)/tests/gpu_core.mk
include $(top_srcdir)/tests/launch.mk
include $(top_srcdir)/tests/struct.mk
include $(top_srcdir)/tests/loops.mk
include $(top_srcdir)/tests/cubin.mk
include $(top_srcdir)/tests/prof.mk
include $(top_srcdir)/tests/sink.mk
include $(top_srcdir)/tests/e2e.mk
include $(top_srcdir)/tests/ocl.mk
include $(top_srcdir)/tests/opencl.mk
include $(top_srcdir)/tests/cupti.mk
include $(top_srcdir)/tests/replay/local.mk
include $(top_srcdir)/tests/gpu.mk
include $(top_srcdir)/tests/python.mk
include $(top_srcdir)/tests/unit/prof_torch/local.mk
include $(top_srcdir)/tests/attack/local.mk
include $(top_srcdir)/tests/jit.mk
include $(top_srcdir)/tests/workload/gomp/local.mk
include $(top_srcdir)/tests/workload/openmp/local.mk
include $(top_srcdir)/tests/cli/mpi/local.mk
include $(top_srcdir)/tests/cli/parts/local.mk
include $(top_srcdir)/tests/cli/nccl/local.mk
include $(top_srcdir)/tests/cli/nvtx/local.mk
include $(top_srcdir)/tests/cli/parallel/local.mk
include $(top_srcdir)/tests/cli/storage/local.mk
include $(top_srcdir)/tests/cli/torch/local.mk

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
include $(top_srcdir)/tests/workload/offcpu/local.mk
