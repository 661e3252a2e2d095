# SPDX-License-Identifier: BSD-3-Clause
# The launcher, the hooks (added to hpcrun_hooks) and the PAPI module.

bin_PROGRAMS += hpcrun-lite/hpcrun-lite
hpcrun_lite_hpcrun_lite_SOURCES = \
	hpcrun-lite/launch/main.c \
	$(launch_sources)
hpcrun_lite_hpcrun_lite_CPPFLAGS = $(AM_CPPFLAGS) -DBINDIR='"$(bindir)"' -DPKGLIBDIR='"$(pkglibdir)"'
hpcrun_lite_hpcrun_lite_LDADD = libhlbase.la -ldl

# Without main: also linked into the unit test.
launch_sources = \
	common/safe/exec_image.c common/safe/exec_image.h \
	common/safe/text.c common/safe/text.h \
	hpcrun-lite/gpu/cupti/nv_options.c hpcrun-lite/gpu/cupti/nv_options.h \
	hpcrun-lite/gpu/gpu_probe.h \
	hpcrun-lite/launch/child.c hpcrun-lite/launch/child.h \
	hpcrun-lite/launch/event.c hpcrun-lite/launch/event.h \
	hpcrun-lite/launch/event_check.c \
	hpcrun-lite/launch/gpu_client.c hpcrun-lite/launch/gpu_client.h \
	hpcrun-lite/launch/job.c hpcrun-lite/launch/job.h \
	hpcrun-lite/launch/list.c hpcrun-lite/launch/list.h \
	hpcrun-lite/launch/papi_client.c hpcrun-lite/launch/papi_client.h \
	hpcrun-lite/launch/place.c hpcrun-lite/launch/place.h \
	hpcrun-lite/launch/program.c hpcrun-lite/launch/program.h \
	hpcrun-lite/launch/rundir.c hpcrun-lite/launch/rundir.h \
	hpcrun-lite/launch/together.c hpcrun-lite/launch/together.h \
	hpcrun-lite/runtime/config.c hpcrun-lite/runtime/config.h \
	hpcrun-lite/runtime/config_rank.c hpcrun-lite/runtime/config_rank.h \
	hpcrun-lite/source/papi_probe.h hpcrun-lite/source/source.h

hpcrun_hooks += \
	common/safe/exec_image.c common/safe/exec_image.h \
	hpcrun-lite/runtime/hook_child.c hpcrun-lite/runtime/hook_child.h \
	hpcrun-lite/runtime/hook_env.c hpcrun-lite/runtime/hook_env.h \
	hpcrun-lite/runtime/hook_exec.c hpcrun-lite/runtime/hook_exec.h \
	hpcrun-lite/runtime/hook_exit.c hpcrun-lite/runtime/hook_exit.h \
	hpcrun-lite/runtime/hook_fatal.c hpcrun-lite/runtime/hook_fatal.h \
	hpcrun-lite/runtime/hook_fd.c hpcrun-lite/runtime/hook_fd.h \
	hpcrun-lite/runtime/hook_getenv.c hpcrun-lite/runtime/hook_getenv.h \
	hpcrun-lite/runtime/hook_mask.c \
	hpcrun-lite/runtime/hook_next.c hpcrun-lite/runtime/hook_next.h \
	hpcrun-lite/runtime/hook_scratch.c hpcrun-lite/runtime/hook_scratch.h \
	hpcrun-lite/runtime/hook_shell.c \
	hpcrun-lite/runtime/hook_signal.c hpcrun-lite/runtime/hook_signal.h \
	hpcrun-lite/runtime/hook_signal_bus.c \
	hpcrun-lite/runtime/hook_signal_internal.h \
	hpcrun-lite/runtime/hook_signal_raw.c \
	hpcrun-lite/runtime/hook_sleep.c \
	hpcrun-lite/runtime/hook_user.c hpcrun-lite/runtime/hook_user.h \
	hpcrun-lite/runtime/hook_syscall.c hpcrun-lite/runtime/hook_syscall.h \
	hpcrun-lite/runtime/seccomp_filter.c hpcrun-lite/runtime/seccomp_filter.h \
	hpcrun-lite/runtime/hook_wait.c hpcrun-lite/runtime/hook_wait.h \
	hpcrun-lite/runtime/hook_wait_restart.c \
	hpcrun-lite/runtime/hook_wait_signal.c

if HAVE_PAPI
pkglib_LTLIBRARIES += libhpcrun-lite-papi.la
libhpcrun_lite_papi_la_SOURCES = \
	hpcrun-lite/source/papi.c \
	hpcrun-lite/source/papi_probe.c hpcrun-lite/source/papi_probe.h \
	hpcrun-lite/source/papi_set.c hpcrun-lite/source/papi_set.h \
	hpcrun-lite/source/source.h
libhpcrun_lite_papi_la_CPPFLAGS = $(AM_CPPFLAGS) $(PAPI_CPPFLAGS)
libhpcrun_lite_papi_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
libhpcrun_lite_papi_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,now -Wl,-z,defs
libhpcrun_lite_papi_la_LIBADD = libhlstring.la $(PAPI_LIBS)
endif
