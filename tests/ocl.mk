# SPDX-License-Identifier: BSD-3-Clause
# OpenCL: the mini-application on a device, programs that use OpenCL in every way, and the tests that measure them.

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
tests_workload_miniapp_melt_opencl_SOURCES = $(melt_sources) $(melt_opencl_sources) tests/workload/miniapp/comm_serial.c
tests_workload_miniapp_melt_opencl_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS) -Itests/workload/miniapp
tests_workload_miniapp_melt_opencl_CFLAGS = $(melt_flags)
tests_workload_miniapp_melt_opencl_LDFLAGS = $(OPENMP_CFLAGS)
tests_workload_miniapp_melt_opencl_LDADD = $(OPENCL_LIBS) -lm -lpthread
tests/workload/miniapp/melt_opencl-opencl.$(OBJEXT): tests/workload/miniapp/melt_cl.h
tests/workload/miniapp/melt_cl.h: $(melt_cl_sources)
	@$(MKDIR_P) tests/workload/miniapp
	$(AM_V_GEN){ echo 'static const char melt_source[] ='; \
	  for f in $(melt_cl_sources); do cat $(srcdir)/$$f || exit 1; done | $(SED) 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/'; \
	  echo ';'; } >$@.tmp && mv $@.tmp $@
CLEANFILES += tests/workload/miniapp/melt_cl.h
endif
endif
