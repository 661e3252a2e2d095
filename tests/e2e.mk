# SPDX-License-Identifier: BSD-3-Clause
# The shell test library, the mini-application, bootstrap, real programs from end to end, known
# shares.

EXTRA_DIST += \
	.ci/run \
	tests/e2e.sh \
	tests/by_name.sh \
	tests/lib.sh \
	tests/judge/run_guide.py \
	tests/mpi_env.sh \
	tests/shares.awk \
	tests/slurm.sh \
	tests/workload/e2e/script.pl \
	tests/workload/e2e/shares.h \
	tests/workload/e2e/shares_functions.c \
	tests/workload/e2e/shares_lines.c \
	tests/workload/e2e/shares_switches.c \
	tests/workload/e2e/shares_threads.c \
	tests/workload/e2e/threads.py \
	tests/workload/torch/resnet.py \
	tests/workload/torch/train.py

e2e_tests = \
	tests/cli/common/taplib.sh \
	tests/cli/common/bootstrap.sh \
	tests/cli/e2e/e2e_events.sh \
	tests/cli/e2e/e2e_mpi.sh \
	tests/cli/e2e/e2e_programs.sh \
	tests/cli/e2e/e2e_slurm.sh \
	tests/cli/e2e/guide.sh \
	tests/cli/common/man.sh \
	tests/cli/e2e/shares.sh
TESTS += $(e2e_tests)
FULL_TESTS += tests/lint/shell.sh tests/cli/e2e/miniapp.sh
EXTRA_DIST += $(e2e_tests) tests/lint/shell.sh tests/cli/e2e/miniapp.sh

# The mini-application is built as its users would build it: optimised, with debug information,
# never sanitized.
melt_sources = \
	tests/workload/miniapp/cg.c \
	tests/workload/miniapp/cg.h \
	tests/workload/miniapp/checkpoint.c \
	tests/workload/miniapp/checkpoint.h \
	tests/workload/miniapp/comm.h \
	tests/workload/miniapp/grid.h \
	tests/workload/miniapp/heat.c \
	tests/workload/miniapp/heat.h \
	tests/workload/miniapp/kernels.h \
	tests/workload/miniapp/main.c \
	tests/workload/miniapp/material.c \
	tests/workload/miniapp/material.h \
	tests/workload/miniapp/matrix.c \
	tests/workload/miniapp/matrix.h \
	tests/workload/miniapp/memory.h \
	tests/workload/miniapp/multigrid.c \
	tests/workload/miniapp/multigrid.h \
	tests/workload/miniapp/physics.h \
	tests/workload/miniapp/simulation.c \
	tests/workload/miniapp/simulation.h
melt_omp_sources = tests/workload/miniapp/heat_omp.c tests/workload/miniapp/kernels_omp.c
melt_flags = $(HL_CFLAGS) $(OPENMP_CFLAGS) -O2 -g
EXTRA_DIST += $(melt_sources) $(melt_omp_sources) tests/workload/miniapp/comm_serial.c \
	tests/workload/miniapp/comm_mpi.c
if HAVE_OPENMP
check_PROGRAMS += tests/workload/miniapp/melt
tests_workload_miniapp_melt_SOURCES = $(melt_sources) $(melt_omp_sources) \
	tests/workload/miniapp/comm_serial.c
tests_workload_miniapp_melt_CFLAGS = $(melt_flags)
tests_workload_miniapp_melt_LDFLAGS = $(OPENMP_CFLAGS)
tests_workload_miniapp_melt_LDADD = -lm -lpthread
if HAVE_MPI
check_DATA += tests/workload/miniapp/melt-mpi
CLEANFILES += tests/workload/miniapp/melt-mpi
tests/workload/miniapp/melt-mpi: $(melt_sources) $(melt_omp_sources) \
	tests/workload/miniapp/comm_mpi.c
	@$(MKDIR_P) tests/workload/miniapp
	$(AM_V_CCLD)srcs=; \
	  for f in $(melt_sources) $(melt_omp_sources) tests/workload/miniapp/comm_mpi.c; do \
	    case $$f in *.c) srcs="$$srcs $(srcdir)/$$f";; esac; \
	  done; \
	  $(MPICC) -O2 -g -fopenmp -std=gnu11 -D_GNU_SOURCE $(CPPFLAGS) -o $@ $$srcs -lm -lpthread
endif
endif

# An installation inside the build tree, for tests that run the tools as another user and from
# another place.
check_DATA += tests/stage.stamp
CLEANFILES += tests/stage.stamp
tests/stage.stamp: $(bin_PROGRAMS) $(pkglib_LTLIBRARIES) $(dist_completion_DATA)
	@rm -rf tests/stage
	@$(MKDIR_P) tests
	$(AM_V_GEN)$(MAKE) $(AM_MAKEFLAGS) install DESTDIR=$(abs_builddir)/tests/stage \
		>tests/stage.log 2>&1 || { cat tests/stage.log; exit 1; }
	@echo done >$@
clean-local: clean-stage
clean-stage:
	rm -rf tests/stage tests/stage.log tests/pocl tests/go
.PHONY: clean-stage
