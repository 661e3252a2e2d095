# SPDX-License-Identifier: BSD-3-Clause
# OpenCL: the mini-application on a device, programs that use OpenCL in every way, and the tests
# that measure them.

melt_opencl_sources = \
	tests/workload/miniapp/heat_opencl.c \
	tests/workload/miniapp/kernels_opencl.c \
	tests/workload/miniapp/opencl.c \
	tests/workload/miniapp/opencl.h
# The text of the device's program, in this order.
melt_cl_sources = \
	tests/workload/miniapp/physics.h \
	tests/workload/miniapp/kernels.cl \
	tests/workload/miniapp/heat.cl
EXTRA_DIST += $(melt_opencl_sources) $(melt_cl_sources)

if HAVE_OPENCL
if HAVE_OPENMP
check_PROGRAMS += tests/workload/miniapp/melt-opencl
tests_workload_miniapp_melt_opencl_SOURCES = $(melt_sources) $(melt_opencl_sources) \
	tests/workload/miniapp/comm_serial.c
tests_workload_miniapp_melt_opencl_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS) \
	-Itests/workload/miniapp
tests_workload_miniapp_melt_opencl_CFLAGS = $(melt_flags)
tests_workload_miniapp_melt_opencl_LDFLAGS = $(OPENMP_CFLAGS)
tests_workload_miniapp_melt_opencl_LDADD = $(OPENCL_LIBS) -lm -lpthread
tests/workload/miniapp/melt_opencl-opencl.$(OBJEXT): tests/workload/miniapp/melt_cl.h
tests/workload/miniapp/melt_cl.h: $(melt_cl_sources)
	@$(MKDIR_P) tests/workload/miniapp
	$(AM_V_GEN){ echo 'static const char melt_source[] ='; \
	  for f in $(melt_cl_sources); do cat $(srcdir)/$$f || exit 1; done | $(SED) \
	  's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/'; \
	  echo ';'; } >$@.tmp && mv $@.tmp $@
CLEANFILES += tests/workload/miniapp/melt_cl.h
endif
endif

# Programs that ask OpenCL for everything there is and count it themselves. Never sanitized: the run
# time below them is not ours.
ocl_workloads = \
	tests/workload/opencl/ocl_calls \
	tests/workload/opencl/ocl_device \
	tests/workload/opencl/ocl_end \
	tests/workload/opencl/ocl_errors \
	tests/workload/opencl/ocl_idle \
	tests/workload/opencl/ocl_paths \
	tests/workload/opencl/ocl_queues \
	tests/workload/opencl/ocl_solver \
	tests/workload/opencl/ocl_stop \
	tests/workload/opencl/ocl_storm
EXTRA_DIST += tests/workload/opencl/ocl_common.c tests/workload/opencl/ocl_common.h \
	$(ocl_workloads:=.c)

if HAVE_OPENCL
check_PROGRAMS += $(ocl_workloads)
ocl_workload_cflags = $(HL_CFLAGS) -O2 -g
ocl_workload_ldadd = $(OPENCL_LIBS) -lm -lpthread
tests_workload_opencl_ocl_calls_SOURCES = tests/workload/opencl/ocl_calls.c \
	tests/workload/opencl/ocl_common.c tests/workload/opencl/ocl_common.h
tests_workload_opencl_ocl_calls_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_workload_opencl_ocl_calls_CFLAGS = $(ocl_workload_cflags)
tests_workload_opencl_ocl_calls_LDFLAGS =
tests_workload_opencl_ocl_calls_LDADD = $(ocl_workload_ldadd)
tests_workload_opencl_ocl_device_SOURCES = tests/workload/opencl/ocl_device.c \
	tests/workload/opencl/ocl_common.c tests/workload/opencl/ocl_common.h
tests_workload_opencl_ocl_device_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_workload_opencl_ocl_device_CFLAGS = $(ocl_workload_cflags)
tests_workload_opencl_ocl_device_LDFLAGS =
tests_workload_opencl_ocl_device_LDADD = $(ocl_workload_ldadd)
tests_workload_opencl_ocl_end_SOURCES = tests/workload/opencl/ocl_end.c \
	tests/workload/opencl/ocl_common.c tests/workload/opencl/ocl_common.h
tests_workload_opencl_ocl_end_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_workload_opencl_ocl_end_CFLAGS = $(ocl_workload_cflags)
tests_workload_opencl_ocl_end_LDFLAGS =
tests_workload_opencl_ocl_end_LDADD = $(ocl_workload_ldadd)
tests_workload_opencl_ocl_errors_SOURCES = tests/workload/opencl/ocl_errors.c \
	tests/workload/opencl/ocl_common.c tests/workload/opencl/ocl_common.h
tests_workload_opencl_ocl_errors_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_workload_opencl_ocl_errors_CFLAGS = $(ocl_workload_cflags)
tests_workload_opencl_ocl_errors_LDFLAGS =
tests_workload_opencl_ocl_errors_LDADD = $(ocl_workload_ldadd)
tests_workload_opencl_ocl_idle_SOURCES = tests/workload/opencl/ocl_idle.c \
	tests/workload/opencl/ocl_common.c tests/workload/opencl/ocl_common.h
tests_workload_opencl_ocl_idle_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_workload_opencl_ocl_idle_CFLAGS = $(ocl_workload_cflags)
tests_workload_opencl_ocl_idle_LDFLAGS =
tests_workload_opencl_ocl_idle_LDADD = $(ocl_workload_ldadd)
tests_workload_opencl_ocl_paths_SOURCES = tests/workload/opencl/ocl_paths.c \
	tests/workload/opencl/ocl_common.c tests/workload/opencl/ocl_common.h
tests_workload_opencl_ocl_paths_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_workload_opencl_ocl_paths_CFLAGS = $(ocl_workload_cflags)
tests_workload_opencl_ocl_paths_LDFLAGS =
tests_workload_opencl_ocl_paths_LDADD = $(ocl_workload_ldadd)
tests_workload_opencl_ocl_queues_SOURCES = tests/workload/opencl/ocl_queues.c \
	tests/workload/opencl/ocl_common.c tests/workload/opencl/ocl_common.h
tests_workload_opencl_ocl_queues_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_workload_opencl_ocl_queues_CFLAGS = $(ocl_workload_cflags)
tests_workload_opencl_ocl_queues_LDFLAGS =
tests_workload_opencl_ocl_queues_LDADD = $(ocl_workload_ldadd)
tests_workload_opencl_ocl_solver_SOURCES = tests/workload/opencl/ocl_solver.c \
	tests/workload/opencl/ocl_common.c tests/workload/opencl/ocl_common.h
tests_workload_opencl_ocl_solver_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_workload_opencl_ocl_solver_CFLAGS = $(ocl_workload_cflags)
tests_workload_opencl_ocl_solver_LDFLAGS =
tests_workload_opencl_ocl_solver_LDADD = $(ocl_workload_ldadd)
tests_workload_opencl_ocl_stop_SOURCES = tests/workload/opencl/ocl_stop.c \
	tests/workload/opencl/ocl_common.c tests/workload/opencl/ocl_common.h
tests_workload_opencl_ocl_stop_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS) -I$(srcdir)
tests_workload_opencl_ocl_stop_CFLAGS = $(ocl_workload_cflags)
tests_workload_opencl_ocl_stop_LDFLAGS =
tests_workload_opencl_ocl_stop_LDADD = libhpctoolkit.la $(ocl_workload_ldadd)
tests_workload_opencl_ocl_storm_SOURCES = tests/workload/opencl/ocl_storm.c \
	tests/workload/opencl/ocl_common.c tests/workload/opencl/ocl_common.h
tests_workload_opencl_ocl_storm_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_workload_opencl_ocl_storm_CFLAGS = $(ocl_workload_cflags)
tests_workload_opencl_ocl_storm_LDFLAGS =
tests_workload_opencl_ocl_storm_LDADD = $(ocl_workload_ldadd)
endif

ocl_tests = \
	tests/cli/opencl/ocl_golden.sh \
	tests/cli/opencl/ocl_idle.sh \
	tests/cli/opencl/ocl_life.sh \
	tests/cli/opencl/ocl_same.sh \
	tests/cli/opencl/ocl_stop.sh \
	tests/cli/opencl/ocl_tree.sh \
	tests/cli/opencl/ocl_truth.sh
TESTS += $(ocl_tests)
# The workloads themselves, without the tools.
ocl_workload_tests = tests/cli/opencl/ocl_miniapp.sh tests/cli/opencl/ocl_workloads.sh
FULL_TESTS += $(ocl_workload_tests)
EXTRA_DIST += $(ocl_tests) $(ocl_workload_tests) tests/ocl.sh tests/golden/opencl-nvidia

if HAVE_OPENCL
EXTRA_PROGRAMS += tests/bench/bench_enqueue
tests_bench_bench_enqueue_SOURCES = tests/bench/bench_enqueue.c tests/workload/opencl/ocl_common.c \
	tests/workload/opencl/ocl_common.h
tests_bench_bench_enqueue_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
tests_bench_bench_enqueue_CFLAGS = $(ocl_workload_cflags)
tests_bench_bench_enqueue_LDFLAGS =
tests_bench_bench_enqueue_LDADD = $(ocl_workload_ldadd)
BENCH_NEEDS += tests/bench/bench_enqueue$(EXEEXT)
BENCHES += tests/bench/bench_enqueue.sh
endif
EXTRA_DIST += tests/bench/bench_enqueue.sh
