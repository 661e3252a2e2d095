# SPDX-License-Identifier: BSD-3-Clause
# The launcher and the preloaded library, by folder.

bin_PROGRAMS += hpcrun-lite/hpcrun-lite
hpcrun_lite_hpcrun_lite_SOURCES = $(launch_sources)
hpcrun_lite_hpcrun_lite_CPPFLAGS = $(AM_CPPFLAGS) -DBINDIR='"$(bindir)"' -DPKGLIBDIR='"$(pkglibdir)"'
hpcrun_lite_hpcrun_lite_LDADD = libhlbase.la -ldl
# What the launcher shares with the library.
launch_sources = \
	common/safe/clock.c common/safe/clock.h \
	common/safe/exec_image.c common/safe/exec_image.h \
	common/safe/text.c common/safe/text.h \
	hpcrun-lite/gpu/cupti/nv_options.c hpcrun-lite/gpu/cupti/nv_options.h \
	hpcrun-lite/gpu/cupti/nv_counter_list.c \
	hpcrun-lite/gpu/cupti/nv_counter_list.h \
	hpcrun-lite/gpu/gpu_probe.h \
	hpcrun-lite/source/papi_probe.h hpcrun-lite/source/source.h

# Attaches to a process that runs; apart, because the launcher starts each process of a job, and
# libunwind is four libraries to load.
if HAVE_ATTACH
hpcrun_lite_hpcrun_lite_CPPFLAGS += -DHAVE_ATTACH=1
hpcrun_lite_hpcrun_lite_SOURCES += \
	hpcrun-lite/launch/attach_client.c hpcrun-lite/launch/attach_client.h \
	hpcrun-lite/launch/attach_job.c hpcrun-lite/launch/attach_job.h
attachdir = $(pkglibdir)
attach_PROGRAMS = hpcrun-lite/hpcrun-lite-attach
hpcrun_lite_hpcrun_lite_attach_SOURCES = \
	common/safe/clock.c common/safe/clock.h \
	common/safe/exec_image.c common/safe/exec_image.h \
	common/safe/library_symbol.c common/safe/library_symbol.h \
	hpcrun-lite/config/attach.h \
	hpcrun-lite/launch/attach/attach_main.c \
	hpcrun-lite/launch/attach/frame.c hpcrun-lite/launch/attach/frame.h \
	hpcrun-lite/launch/attach/inject.c hpcrun-lite/launch/attach/inject.h \
	hpcrun-lite/launch/attach/remote.c hpcrun-lite/launch/attach/remote.h \
	hpcrun-lite/launch/attach/safe_place.c hpcrun-lite/launch/attach/safe_place.h \
	hpcrun-lite/launch/attach/target.c hpcrun-lite/launch/attach/target.h
hpcrun_lite_hpcrun_lite_attach_CPPFLAGS = $(AM_CPPFLAGS) $(ATTACH_CPPFLAGS)
hpcrun_lite_hpcrun_lite_attach_LDADD = libhlbase.la $(ATTACH_LIBS)
endif

# Store, tree and sources: also linked into unit tests.
noinst_LTLIBRARIES += libhlcct.la
libhlcct_la_SOURCES =
libhlcct_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)

pkglib_LTLIBRARIES += libhpcrun-lite.la
libhpcrun_lite_la_SOURCES = common/safe/exec_image.c common/safe/exec_image.h
libhpcrun_lite_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
# Bound at once: a lazy binding inside a signal handler would enter the loader. Symbolic: our calls
# of our hooks reach ours, whatever the program defines. Static linking of libgcc: libc is all we
# need.
libhpcrun_lite_la_LDFLAGS = -module -avoid-version -shared -Wc,-static-libgcc \
	-Wl,-z,now -Wl,-z,defs -Wl,-z,nodelete -Wl,-Bsymbolic \
	-Wl,--version-script=$(srcdir)/hpcrun-lite/exports.map
libhpcrun_lite_la_LIBADD = libhlgpu.la libhlcct.la libhlregions.la libhlpython.la libhlunwind.la \
	libhlsafe.la libhldlsym.la libhllibc.la libhlstring.la
libhpcrun_lite_la_DEPENDENCIES = $(libhpcrun_lite_la_LIBADD) hpcrun-lite/exports.map
EXTRA_DIST += hpcrun-lite/exports.map

# What a program is built with that starts and stops its measurement. A static library alone: the
# program then needs nothing of ours to run. It may go into shared libraries as well.

include_HEADERS = hpcrun-lite/api/hpctoolkit.h
lib_LTLIBRARIES += libhpctoolkit.la
libhpctoolkit_la_SOURCES = hpcrun-lite/api/hpctoolkit.c hpcrun-lite/api/hpctoolkit_private.h
libhpctoolkit_la_CFLAGS = $(HL_CFLAGS)
libhpctoolkit_la_LDFLAGS = -static

libhlcct_la_SOURCES += \
	hpcrun-lite/cct/cct.c hpcrun-lite/cct/cct.h \
	hpcrun-lite/cct/table.c hpcrun-lite/cct/table.h

# The configuration: the launcher writes it, the run time reads it.
launch_sources += \
	hpcrun-lite/config/attach.h hpcrun-lite/config/config.c hpcrun-lite/config/config.h
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/config/attach.h hpcrun-lite/config/config.c hpcrun-lite/config/config.h

# The neutral core of GPU measurement; also linked into unit tests.

noinst_LTLIBRARIES += libhlgpu.la
libhlgpu_la_SOURCES = \
	hpcrun-lite/gpu/aggregate.c \
	hpcrun-lite/gpu/content.c hpcrun-lite/gpu/content.h \
	hpcrun-lite/gpu/core.c hpcrun-lite/gpu/core.h \
	hpcrun-lite/gpu/device_record.c \
	hpcrun-lite/gpu/extent_take.c \
	hpcrun-lite/gpu/gpu.h \
	hpcrun-lite/gpu/hash128.c hpcrun-lite/gpu/hash128.h \
	hpcrun-lite/gpu/host.c hpcrun-lite/gpu/host.h \
	hpcrun-lite/gpu/index.c hpcrun-lite/gpu/index.h \
	hpcrun-lite/gpu/core_internal.h \
	hpcrun-lite/gpu/launch.c \
	hpcrun-lite/gpu/lock.c hpcrun-lite/gpu/lock.h \
	hpcrun-lite/gpu/op.c \
	hpcrun-lite/gpu/pending.c hpcrun-lite/gpu/pending.h \
	hpcrun-lite/gpu/registry.c \
	hpcrun-lite/gpu/tally.c \
	hpcrun-lite/gpu/writer.c hpcrun-lite/gpu/writer.h
libhlgpu_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)

# The back end for NVIDIA GPUs: a module that CUDA's driver loads. It links libc alone; CUPTI and
# the driver are found at run time.

# Without what the launcher asks: also linked into unit tests, with a fake CUPTI behind it.
cupti_sources = \
	hpcrun-lite/gpu/gpu.h \
	hpcrun-lite/gpu/hash128.c hpcrun-lite/gpu/hash128.h \
	hpcrun-lite/gpu/cupti/enter/nv_inject.c \
	hpcrun-lite/gpu/cupti/front/front.h hpcrun-lite/gpu/cupti/front/nv_headers.h \
	hpcrun-lite/gpu/cupti/front/nv_headers_12.h \
	hpcrun-lite/gpu/cupti/nv.h \
	hpcrun-lite/gpu/cupti/nv_code.c \
	hpcrun-lite/gpu/cupti/nv_counter_list.c hpcrun-lite/gpu/cupti/nv_counter_list.h \
	hpcrun-lite/gpu/cupti/nv_cut.c hpcrun-lite/gpu/cupti/nv_cut.h \
	hpcrun-lite/gpu/cupti/nv_device.c \
	hpcrun-lite/gpu/cupti/nv_gpu_lock.c \
	hpcrun-lite/gpu/cupti/nv_guard.c \
	hpcrun-lite/gpu/cupti/nv_image.c hpcrun-lite/gpu/cupti/nv_image.h \
	hpcrun-lite/gpu/cupti/nv_library.c \
	hpcrun-lite/gpu/cupti/nv_map.c hpcrun-lite/gpu/cupti/nv_map.h \
	hpcrun-lite/gpu/cupti/nv_options.c hpcrun-lite/gpu/cupti/nv_options.h \
	hpcrun-lite/gpu/cupti/nv_part.c \
	hpcrun-lite/gpu/cupti/nv_shared.h \
	hpcrun-lite/gpu/cupti/nv_state.c \
	hpcrun-lite/gpu/cupti/nv_version.c hpcrun-lite/gpu/cupti/nv_version.h \
	$(tape_sources)

# The recorder.
tape_sources = common/format/recording.h

cupti_sources += \
	hpcrun-lite/gpu/cupti/counters/nv_counter_replay.c \
	hpcrun-lite/gpu/cupti/counters/nv_counter_replay.h \
	hpcrun-lite/gpu/cupti/counters/nv_counter_session.c \
	hpcrun-lite/gpu/cupti/counters/nv_counter_session.h \
	hpcrun-lite/gpu/cupti/counters/nv_counters.c hpcrun-lite/gpu/cupti/counters/nv_counters.h \
	hpcrun-lite/gpu/cupti/counters/nv_profiler_host.c \
	hpcrun-lite/gpu/cupti/counters/nv_profiler_host.h \
	hpcrun-lite/gpu/cupti/energy/nv_energy.c hpcrun-lite/gpu/cupti/energy/nv_energy.h \
	hpcrun-lite/gpu/cupti/energy/nv_meter.c hpcrun-lite/gpu/cupti/energy/nv_meter.h \
	hpcrun-lite/gpu/cupti/energy/nv_nvml.c hpcrun-lite/gpu/cupti/energy/nv_nvml.h \
	hpcrun-lite/gpu/cupti/energy/nv_rapl.c hpcrun-lite/gpu/cupti/energy/nv_rapl.h

# The library in front of CUPTI, preloaded with gpu=nvidia. It links libc alone.
if HAVE_CUPTI
pkglib_LTLIBRARIES += libhpcrun-lite-nvidia.la
libhpcrun_lite_nvidia_la_SOURCES = hpcrun-lite/gpu/cupti/front/front.c
libhpcrun_lite_nvidia_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
libhpcrun_lite_nvidia_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
# Never unloaded: the program may be in one of its functions.
libhpcrun_lite_nvidia_la_LDFLAGS = -module -avoid-version -shared -Wc,-static-libgcc \
	-Wl,-z,now -Wl,-z,defs -Wl,-z,nodelete -Wl,-Bsymbolic
libhpcrun_lite_nvidia_la_LIBADD = libhlsafe.la libhlmodule.la libhllibc.la libhlstring.la
endif

cupti_sources += \
	hpcrun-lite/gpu/cupti/trace/nv_buffer.c \
	hpcrun-lite/gpu/cupti/trace/nv_callback.c \
	hpcrun-lite/gpu/cupti/trace/nv_calls.c \
	hpcrun-lite/gpu/cupti/trace/nv_client.c \
	hpcrun-lite/gpu/cupti/trace/nv_enable.c \
	hpcrun-lite/gpu/cupti/trace/nv_flush.c \
	hpcrun-lite/gpu/cupti/trace/nv_graph.c \
	hpcrun-lite/gpu/cupti/trace/nv_kernel.c \
	hpcrun-lite/gpu/cupti/trace/nv_memory.c \
	hpcrun-lite/gpu/cupti/trace/nv_open.c \
	hpcrun-lite/gpu/cupti/trace/nv_record.c \
	hpcrun-lite/gpu/cupti/trace/nv_switch.c \
	hpcrun-lite/gpu/cupti/trace/nv_trace.c hpcrun-lite/gpu/cupti/trace/nv_trace.h \
	hpcrun-lite/gpu/cupti/trace/nv_yield.c \
	hpcrun-lite/gpu/cupti/pc/nv_pc.c hpcrun-lite/gpu/cupti/pc/nv_pc.h \
	hpcrun-lite/gpu/cupti/pc/nv_pc_burst.c \
	hpcrun-lite/gpu/cupti/pc/nv_pc_gate.c \
	hpcrun-lite/gpu/cupti/pc/nv_pc_internal.h \
	hpcrun-lite/gpu/cupti/pc/nv_pc_reason.c \
	hpcrun-lite/gpu/cupti/pc/nv_pc_say.c \
	hpcrun-lite/gpu/cupti/pc/nv_pc_session.c \
	hpcrun-lite/gpu/cupti/pc/nv_pc_synchronize.c \
	hpcrun-lite/gpu/cupti/pc/nv_pc_take.c

tape_sources += \
	hpcrun-lite/gpu/cupti/tape/nv_tape.c hpcrun-lite/gpu/cupti/tape/nv_tape.h \
	hpcrun-lite/gpu/cupti/tape/nv_tape_arguments.c \
	hpcrun-lite/gpu/cupti/tape/nv_tape_call.c \
	hpcrun-lite/gpu/cupti/tape/nv_tape_enter.c \
	hpcrun-lite/gpu/cupti/tape/nv_tape_event.c \
	hpcrun-lite/gpu/cupti/tape/nv_tape_file.c \
	hpcrun-lite/gpu/cupti/tape/nv_tape_internal.h \
	hpcrun-lite/gpu/cupti/tape/nv_tape_pc.c

if HAVE_CUPTI
# The module and the player of recordings are made of the same objects.
noinst_LTLIBRARIES += libhlcupti.la
libhlcupti_la_SOURCES = $(cupti_sources)
libhlcupti_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS) -DNV_BUILT_WITH='"$(CUPTI_LIBDIR)"'
libhlcupti_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)

pkglib_LTLIBRARIES += libhpcrun-lite-cupti.la
libhpcrun_lite_cupti_la_SOURCES = \
	hpcrun-lite/gpu/gpu_probe.h \
	hpcrun-lite/gpu/cupti/enter/nv_probe.c \
	hpcrun-lite/gpu/cupti/enter/nv_rights.c hpcrun-lite/gpu/cupti/enter/nv_rights.h
libhpcrun_lite_cupti_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
libhpcrun_lite_cupti_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
# Never unloaded: exit handlers and functions given to CUPTI lie in it.
libhpcrun_lite_cupti_la_LDFLAGS = -module -avoid-version -shared -Wc,-static-libgcc -Wl,-z,now -Wl,-z,defs -Wl,-z,nodelete
libhpcrun_lite_cupti_la_LIBADD = libhlcupti.la libhlsafe.la \
	libhlmodule.la libhldlsym.la libhllibc.la libhlstring.la
endif

# The OpenCL back end: a module that ICD loaders take as a layer, and that can be preloaded. It
# links libc alone.

# Without what finds the host: also linked into unit tests, with a fake implementation behind it.
opencl_sources = \
	hpcrun-lite/gpu/gpu.h \
	hpcrun-lite/gpu/opencl/ocl.h \
	hpcrun-lite/gpu/opencl/ocl_api.h \
	hpcrun-lite/gpu/opencl/ocl_api_buffer.c \
	hpcrun-lite/gpu/opencl/ocl_api_image.c \
	hpcrun-lite/gpu/opencl/ocl_api_kernel.c \
	hpcrun-lite/gpu/opencl/ocl_api_memory.c \
	hpcrun-lite/gpu/opencl/ocl_api_object.c \
	hpcrun-lite/gpu/opencl/ocl_api_queue.c \
	hpcrun-lite/gpu/opencl/ocl_api_svm.c \
	hpcrun-lite/gpu/opencl/ocl_buffer.c \
	hpcrun-lite/gpu/opencl/ocl_clock.c \
	hpcrun-lite/gpu/opencl/ocl_device.c \
	hpcrun-lite/gpu/opencl/ocl_enqueue.c \
	hpcrun-lite/gpu/opencl/ocl_entrance.c \
	hpcrun-lite/gpu/opencl/ocl_extension.c \
	hpcrun-lite/gpu/opencl/ocl_headers.h \
	hpcrun-lite/gpu/opencl/ocl_kernel.c \
	hpcrun-lite/gpu/opencl/ocl_layer.c \
	hpcrun-lite/gpu/opencl/ocl_map.c hpcrun-lite/gpu/opencl/ocl_map.h \
	hpcrun-lite/gpu/opencl/ocl_memory.c hpcrun-lite/gpu/opencl/ocl_memory.h \
	hpcrun-lite/gpu/opencl/ocl_preload.c \
	hpcrun-lite/gpu/opencl/ocl_program.c \
	hpcrun-lite/gpu/opencl/ocl_queue.c \
	hpcrun-lite/gpu/opencl/ocl_slot.c \
	hpcrun-lite/gpu/opencl/ocl_state.c \
	hpcrun-lite/gpu/opencl/ocl_svm.c

if HAVE_OPENCL
pkglib_LTLIBRARIES += libhpcrun-lite-opencl.la
libhpcrun_lite_opencl_la_SOURCES = $(opencl_sources) \
	hpcrun-lite/gpu/gpu_probe.h \
	hpcrun-lite/gpu/opencl/ocl_probe.c
libhpcrun_lite_opencl_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENCL_CPPFLAGS)
libhpcrun_lite_opencl_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS) -fvisibility=hidden
# Never unloaded: exit handlers and functions given to the program lie in it. Symbolic: our
# functions bear OpenCL's names, and are meant where they stand.
libhpcrun_lite_opencl_la_LDFLAGS = -module -avoid-version -shared -Wc,-static-libgcc -Wl,-z,now -Wl,-z,defs -Wl,-z,nodelete -Wl,-Bsymbolic
libhpcrun_lite_opencl_la_LIBADD = libhlsafe.la \
	libhlmodule.la libhldlsym.la libhllibc.la libhlstring.la
endif

libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/hooks/hook_child.c hpcrun-lite/hooks/hook_child.h \
	hpcrun-lite/hooks/hook_env.c hpcrun-lite/hooks/hook_env.h \
	hpcrun-lite/hooks/hook_exec.c hpcrun-lite/hooks/hook_exec.h \
	hpcrun-lite/hooks/hook_exit.c hpcrun-lite/hooks/hook_exit.h \
	hpcrun-lite/hooks/hook_fd.c hpcrun-lite/hooks/hook_fd.h \
	hpcrun-lite/hooks/hook_getenv.c hpcrun-lite/hooks/hook_getenv.h \
	hpcrun-lite/hooks/hook_got.c hpcrun-lite/hooks/hook_got.h \
	hpcrun-lite/hooks/hook_poll.c hpcrun-lite/hooks/hook_poll.h \
	hpcrun-lite/hooks/hook_remove.c hpcrun-lite/hooks/hook_remove.h \
	hpcrun-lite/hooks/hook_scratch.c hpcrun-lite/hooks/hook_scratch.h \
	hpcrun-lite/hooks/hook_shell.c \
	hpcrun-lite/hooks/hook_spawn.c \
	hpcrun-lite/hooks/hook_syscall.c hpcrun-lite/hooks/hook_syscall.h \
	hpcrun-lite/hooks/hook_thread.c hpcrun-lite/hooks/hook_thread.h \
	hpcrun-lite/hooks/hook_user.c hpcrun-lite/hooks/hook_user.h \
	hpcrun-lite/hooks/hook_wait_signal.c \
	hpcrun-lite/hooks/hooks.c \
	hpcrun-lite/hooks/signal/hook_altstack.c \
	hpcrun-lite/hooks/signal/hook_fatal.c hpcrun-lite/hooks/signal/hook_fatal.h \
	hpcrun-lite/hooks/signal/hook_jump.c \
	hpcrun-lite/hooks/signal/hook_mask.c hpcrun-lite/hooks/signal/hook_own.c \
	hpcrun-lite/hooks/signal/hook_signal.c hpcrun-lite/hooks/signal/hook_signal.h \
	hpcrun-lite/hooks/signal/hook_signal_bus.c \
	hpcrun-lite/hooks/signal/hook_signal_internal.h \
	hpcrun-lite/hooks/wait/hook_sleep.c \
	hpcrun-lite/hooks/wait/hook_wait.h \
	hpcrun-lite/hooks/wait/hook_wait_number.c hpcrun-lite/hooks/wait/hook_wait_number.h \
	hpcrun-lite/hooks/wait/hook_wait_restart.c \
	hpcrun-lite/hooks/wait/wait_machine.h

# The launcher: all but main is also linked into unit tests.
launch_sources += \
	hpcrun-lite/launch/child.c hpcrun-lite/launch/child.h \
	hpcrun-lite/launch/event.c hpcrun-lite/launch/event.h \
	hpcrun-lite/launch/event_check.c \
	hpcrun-lite/launch/gpu_client.c hpcrun-lite/launch/gpu_client.h \
	hpcrun-lite/launch/list.c hpcrun-lite/launch/list.h \
	hpcrun-lite/launch/papi_client.c hpcrun-lite/launch/papi_client.h \
	hpcrun-lite/launch/perf_rights.c hpcrun-lite/launch/perf_rights.h \
	hpcrun-lite/launch/place.c hpcrun-lite/launch/place.h \
	hpcrun-lite/launch/program.c hpcrun-lite/launch/program.h \
	hpcrun-lite/launch/copy/collect.c hpcrun-lite/launch/copy/collect.h \
	hpcrun-lite/launch/copy/collect_file.c \
	hpcrun-lite/launch/copy/follow.c hpcrun-lite/launch/copy/follow.h \
	hpcrun-lite/launch/copy/follow_chain.c hpcrun-lite/launch/copy/follow_chain.h \
	hpcrun-lite/launch/copy/follow_part.c hpcrun-lite/launch/copy/follow_part.h \
	hpcrun-lite/launch/copy/follow_start.c hpcrun-lite/launch/copy/follow_start.h \
	hpcrun-lite/launch/directory/job.c hpcrun-lite/launch/directory/job.h \
	hpcrun-lite/launch/directory/node_local.c hpcrun-lite/launch/directory/node_local.h \
	hpcrun-lite/launch/directory/path_in.h \
	hpcrun-lite/launch/directory/rundir.c hpcrun-lite/launch/directory/rundir.h \
	hpcrun-lite/launch/directory/together.c hpcrun-lite/launch/directory/together.h
hpcrun_lite_hpcrun_lite_SOURCES += hpcrun-lite/launch/hpcrun_main.c

# The module in front of MPI, preloaded with -e MPI. It links libc alone.
pkglib_LTLIBRARIES += libhpcrun-lite-mpi.la
libhpcrun_lite_mpi_la_SOURCES = \
	common/format/measurement_mpi.h \
	common/format/mpi_calls.c common/format/mpi_calls.h \
	hpcrun-lite/mpi/mpi.h \
	hpcrun-lite/mpi/mpi_bytes.c hpcrun-lite/mpi/mpi_bytes.h \
	hpcrun-lite/mpi/mpi_enter.c hpcrun-lite/mpi/mpi_enter.h \
	hpcrun-lite/mpi/mpi_library.c hpcrun-lite/mpi/mpi_library.h \
	hpcrun-lite/mpi/mpi_objects.c hpcrun-lite/mpi/mpi_objects.h \
	hpcrun-lite/mpi/mpi_poll.c hpcrun-lite/mpi/mpi_poll.h \
	hpcrun-lite/mpi/mpi_requests.c hpcrun-lite/mpi/mpi_requests.h \
	hpcrun-lite/mpi/mpi_wrap.c
libhpcrun_lite_mpi_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
# Never unloaded: the program may be in one of its functions. Not symbolic: nothing calls them here.
libhpcrun_lite_mpi_la_LDFLAGS = -module -avoid-version -shared -Wc,-static-libgcc \
	-Wl,-z,now -Wl,-z,defs -Wl,-z,nodelete
libhpcrun_lite_mpi_la_LIBADD = libhlsafe.la libhlmodule.la libhldlsym.la libhllibc.la libhlstring.la

# Adapters for the run times of OpenMP.
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/openmp/gomp_loops.c hpcrun-lite/openmp/gomp_loops.h \
	hpcrun-lite/openmp/gomp_hooks.c hpcrun-lite/openmp/gomp_hooks.h \
	hpcrun-lite/openmp/gomp_real.c hpcrun-lite/openmp/gomp_real.h \
	hpcrun-lite/openmp/ompt.h hpcrun-lite/openmp/ompt_api.h \
	hpcrun-lite/openmp/ompt_region.c \
	hpcrun-lite/openmp/ompt_start.c \
	hpcrun-lite/openmp/openmp_glue.c hpcrun-lite/openmp/openmp_glue.h

# libhlpython: part of the run-time library.

noinst_LTLIBRARIES += libhlpython.la
libhlpython_la_SOURCES = \
	hpcrun-lite/python/python_code.c hpcrun-lite/python/python_code.h \
	hpcrun-lite/python/frames.c hpcrun-lite/python/frames.h \
	hpcrun-lite/python/layout.c hpcrun-lite/python/layout.h \
	hpcrun-lite/python/python.c hpcrun-lite/python/python.h \
	hpcrun-lite/python/python_call.c hpcrun-lite/python/python_internal.h \
	hpcrun-lite/python/reader.c hpcrun-lite/python/reader.h \
	hpcrun-lite/python/python_object.c hpcrun-lite/python/python_object.h \
	hpcrun-lite/python/torch_code.c hpcrun-lite/python/torch_code.h \
	hpcrun-lite/python/torch_module.c hpcrun-lite/python/torch_module.h \
	hpcrun-lite/python/torch_search.c hpcrun-lite/python/torch_search.h \
	hpcrun-lite/python/torch_table.c hpcrun-lite/python/torch_table.h \
	hpcrun-lite/python/python_symbols.c hpcrun-lite/python/python_symbols.h \
	hpcrun-lite/python/python_tls.c hpcrun-lite/python/python_tls.h
libhlpython_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)

# Parallel regions of OpenMP, and marks on stacks. Also linked into unit tests.

noinst_LTLIBRARIES += libhlregions.la
libhlregions_la_SOURCES = \
	hpcrun-lite/regions/region.c hpcrun-lite/regions/region.h \
	hpcrun-lite/regions/region_path.c hpcrun-lite/regions/region_path.h \
	hpcrun-lite/regions/region_sums.c hpcrun-lite/regions/region_sums.h \
	hpcrun-lite/regions/stack_marks.c hpcrun-lite/regions/stack_marks.h
libhlregions_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)

# hpcrun-lite replay: plays recordings of the NVIDIA back end to that back end. Part of the launcher
# where the back end is built.

if HAVE_CUPTI
noinst_LTLIBRARIES += libhlreplay.la
libhlreplay_la_SOURCES = \
	hpcrun-lite/replay/enter.c \
	hpcrun-lite/replay/replay_image.c \
	hpcrun-lite/replay/output.c hpcrun-lite/replay/output.h \
	hpcrun-lite/replay/replay_place.c \
	hpcrun-lite/replay/plan.c \
	hpcrun-lite/replay/player.c hpcrun-lite/replay/player.h \
	hpcrun-lite/replay/replay.c hpcrun-lite/replay/replay.h \
	hpcrun-lite/replay/stand_in.c \
	hpcrun-lite/replay/stand_in_pc.c \
	hpcrun-lite/replay/tape.c hpcrun-lite/replay/tape.h
libhlreplay_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)

hpcrun_lite_hpcrun_lite_CPPFLAGS += -DHAVE_REPLAY=1
# What it is linked with; also for its tests.
REPLAY_LIBS = libhlreplay.la libhlcupti.la libhlgpu.la libhlcct.la libhlsafe.la libhlbase.la -ldl -lpthread
# libc.c has the waits of glibc 2.30.
hpcrun_lite_hpcrun_lite_LDADD += $(REPLAY_LIBS) \
	libhlmodule.la libhldlsym.la libhllibc.la libhlsafe.la
endif

libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/beside.c hpcrun-lite/runtime/beside.h \
	hpcrun-lite/runtime/children.c hpcrun-lite/runtime/children.h \
	hpcrun-lite/runtime/file_fault.c hpcrun-lite/runtime/file_fault.h \
	hpcrun-lite/runtime/next.c hpcrun-lite/runtime/next.h \
	hpcrun-lite/runtime/process.c hpcrun-lite/runtime/process.h \
	hpcrun-lite/runtime/records.c hpcrun-lite/runtime/records.h \
	hpcrun-lite/runtime/runtime.h \
	hpcrun-lite/runtime/say.c hpcrun-lite/runtime/say.h \
	hpcrun-lite/runtime/signal_table.c hpcrun-lite/runtime/signal_table.h \
	hpcrun-lite/runtime/thread.h \
	hpcrun-lite/runtime/thread_block.c \
	hpcrun-lite/runtime/thread_off.c hpcrun-lite/runtime/thread_off.h \
	hpcrun-lite/runtime/thread_parts.h \
	hpcrun-lite/runtime/thread_record.c hpcrun-lite/runtime/thread_record.h \
	hpcrun-lite/runtime/thread_sources.c hpcrun-lite/runtime/thread_sources.h \
	hpcrun-lite/runtime/watch.c hpcrun-lite/runtime/watch.h \
	hpcrun-lite/runtime/code/elf_note.c hpcrun-lite/runtime/code/elf_note.h \
	hpcrun-lite/runtime/code/jit_code.c hpcrun-lite/runtime/code/jit_code.h \
	hpcrun-lite/runtime/code/keep.c hpcrun-lite/runtime/code/keep.h \
	hpcrun-lite/runtime/code/keep_copy.c \
	hpcrun-lite/runtime/code/keep_internal.h \
	hpcrun-lite/runtime/code/maps.c hpcrun-lite/runtime/code/maps.h \
	hpcrun-lite/runtime/code/module.c hpcrun-lite/runtime/code/module.h \
	hpcrun-lite/runtime/code/module_content.c \
	hpcrun-lite/runtime/code/module_internal.h \
	hpcrun-lite/runtime/code/split_stack.c \
	hpcrun-lite/runtime/code/unload.c hpcrun-lite/runtime/code/unload.h \
	hpcrun-lite/runtime/control/control.c hpcrun-lite/runtime/control/control.h \
	hpcrun-lite/runtime/control/phase.c hpcrun-lite/runtime/control/phase.h \
	hpcrun-lite/runtime/glue/gpu_glue.c hpcrun-lite/runtime/glue/gpu_glue.h \
	hpcrun-lite/runtime/glue/mpi_glue.c hpcrun-lite/runtime/glue/mpi_glue.h \
	hpcrun-lite/runtime/glue/python_glue.c hpcrun-lite/runtime/glue/python_glue.h \
	hpcrun-lite/runtime/life/deliver.c hpcrun-lite/runtime/life/deliver.h \
	hpcrun-lite/runtime/life/end.c \
	hpcrun-lite/runtime/life/attach.c \
	hpcrun-lite/runtime/life/entries.c \
	hpcrun-lite/runtime/life/fork.c \
	hpcrun-lite/runtime/life/life.h \
	hpcrun-lite/runtime/life/parts.c hpcrun-lite/runtime/life/parts.h \
	hpcrun-lite/runtime/life/process_record.c hpcrun-lite/runtime/life/process_record.h \
	hpcrun-lite/runtime/life/sources.c hpcrun-lite/runtime/life/sources.h \
	hpcrun-lite/runtime/life/start.c \
	hpcrun-lite/runtime/life/thread.c \
	common/format/measurement_nvtx.h \
	hpcrun-lite/runtime/nvtx/nvtx_entry.c \
	hpcrun-lite/runtime/nvtx/nvtx_glue.c hpcrun-lite/runtime/nvtx/nvtx_glue.h \
	hpcrun-lite/runtime/nvtx/nvtx_names.c hpcrun-lite/runtime/nvtx/nvtx_names.h \
	hpcrun-lite/runtime/nvtx/nvtx_payload.c hpcrun-lite/runtime/nvtx/nvtx_payload.h \
	hpcrun-lite/runtime/nvtx/nvtx_protocol.h \
	hpcrun-lite/runtime/nvtx/nvtx_started.c hpcrun-lite/runtime/nvtx/nvtx_started.h \
	hpcrun-lite/runtime/nvtx/nvtx_strings.c hpcrun-lite/runtime/nvtx/nvtx_strings.h \
	hpcrun-lite/runtime/report/gpu_sums.c hpcrun-lite/runtime/report/gpu_sums.h \
	hpcrun-lite/runtime/report/report.c hpcrun-lite/runtime/report/report.h \
	hpcrun-lite/runtime/report/report_children.c \
	hpcrun-lite/runtime/report/report_files.c \
	hpcrun-lite/runtime/sample/call_path.c hpcrun-lite/runtime/sample/call_path.h \
	hpcrun-lite/runtime/sample/sample.c hpcrun-lite/runtime/sample/sample.h \
	hpcrun-lite/runtime/sample/sample_entry.c hpcrun-lite/runtime/sample/sample_entry.h \
	hpcrun-lite/runtime/sample/sample_hold.c \
	hpcrun-lite/runtime/sample/sample_internal.h \
	hpcrun-lite/runtime/sample/sample_record.c \
	hpcrun-lite/runtime/sums/mpi_sums.c hpcrun-lite/runtime/sums/mpi_sums.h \
	hpcrun-lite/runtime/sums/nvtx_sums.c hpcrun-lite/runtime/sums/nvtx_sums.h \
	hpcrun-lite/runtime/waits/blame.c hpcrun-lite/runtime/waits/blame.h \
	hpcrun-lite/runtime/waits/wait_object.c hpcrun-lite/runtime/waits/wait_object.h \
	hpcrun-lite/runtime/waits/wait_object_name.c \
	hpcrun-lite/runtime/waits/wait_sample.c hpcrun-lite/runtime/waits/wait_sample.h

# Sources of samples. Those of PAPI are a module, which is loaded for its events alone.
libhlcct_la_SOURCES += \
	hpcrun-lite/source/cputime.c \
	hpcrun-lite/source/ktimer.h \
	hpcrun-lite/source/offcpu.c \
	hpcrun-lite/source/offcpu_clocks.c hpcrun-lite/source/offcpu_clocks.h \
	hpcrun-lite/source/offcpu_wait.c hpcrun-lite/source/offcpu_wait.h \
	hpcrun-lite/source/perf.c \
	hpcrun-lite/source/perf_event.c hpcrun-lite/source/perf_event.h \
	hpcrun-lite/source/realtime.c \
	hpcrun-lite/source/source.h

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

libhlcct_la_SOURCES += \
	hpcrun-lite/store/extent.c hpcrun-lite/store/extent.h \
	hpcrun-lite/store/file_space.c hpcrun-lite/store/file_space.h \
	hpcrun-lite/store/nursery.c hpcrun-lite/store/nursery.h \
	hpcrun-lite/store/store.c hpcrun-lite/store/store.h \
	hpcrun-lite/store/store_grow.c hpcrun-lite/store/store_grow.h \
	hpcrun-lite/store/store_life.c \
	hpcrun-lite/store/store_local.c hpcrun-lite/store/store_local.h \
	hpcrun-lite/store/store_slab.c \
	hpcrun-lite/store/store_slab.h hpcrun-lite/store/store_state.h

# The module in front of malloc, preloaded with -e MEMORY. It links libc alone.
pkglib_LTLIBRARIES += libhpcrun-lite-memory.la
libhpcrun_lite_memory_la_SOURCES = hpcrun-lite/memory/memory.h \
	hpcrun-lite/memory/memory_sampler.h hpcrun-lite/memory/memory_wrap.c
libhpcrun_lite_memory_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS) -fno-builtin
# Never unloaded: the program may be in one of its functions.
libhpcrun_lite_memory_la_LDFLAGS = -module -avoid-version -shared -Wc,-static-libgcc \
	-Wl,-z,now -Wl,-z,defs -Wl,-z,nodelete
libhpcrun_lite_memory_la_LIBADD = libhlmodule.la \
	libhlsafe.la libhldlsym.la libhllibc.la libhlstring.la
# In the run-time library.
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/memory/memory_glue.c hpcrun-lite/memory/memory_glue.h \
	hpcrun-lite/memory/memory_table.c hpcrun-lite/memory/memory_table.h

# The module in front of PyTorch, preloaded with --torch. It links libc alone.
pkglib_LTLIBRARIES += libhpcrun-lite-torch.la
libhpcrun_lite_torch_la_SOURCES = hpcrun-lite/torch/torch.h hpcrun-lite/torch/torch_wrap.c
libhpcrun_lite_torch_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
# Never unloaded: the program may be in one of its functions.
libhpcrun_lite_torch_la_LDFLAGS = -module -avoid-version -shared -Wc,-static-libgcc \
	-Wl,-z,now -Wl,-z,defs -Wl,-z,nodelete
libhpcrun_lite_torch_la_LIBADD = libhlmodule.la \
	libhlsafe.la libhldlsym.la libhllibc.la libhlstring.la
# In the run-time library.
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/torch/torch_glue.c hpcrun-lite/torch/torch_glue.h \
	hpcrun-lite/torch/torch_nodes.c hpcrun-lite/torch/torch_nodes.h

# libhlunwind: part of the run-time library (never sanitized). The library that contains it is
# linked with -z now.

noinst_LTLIBRARIES += libhlunwind.la
UNWIND_SOURCES = \
	hpcrun-lite/unwind/arch.h \
	hpcrun-lite/unwind/bytes.h \
	hpcrun-lite/unwind/cfi.c hpcrun-lite/unwind/cfi.h hpcrun-lite/unwind/cfi_internal.h \
	hpcrun-lite/unwind/cfi_search.c \
	hpcrun-lite/unwind/compute.c \
	hpcrun-lite/unwind/deep.c hpcrun-lite/unwind/deep.h \
	hpcrun-lite/unwind/expr.c \
	hpcrun-lite/unwind/go.c hpcrun-lite/unwind/go.h hpcrun-lite/unwind/go_switch.c \
	hpcrun-lite/unwind/heuristic.c hpcrun-lite/unwind/throw.c \
	hpcrun-lite/unwind/unwind_image.c hpcrun-lite/unwind/unwind_image.h \
	hpcrun-lite/unwind/internal.h \
	hpcrun-lite/unwind/mem.c hpcrun-lite/unwind/mem.h \
	hpcrun-lite/unwind/memo.c hpcrun-lite/unwind/memo.h \
	hpcrun-lite/unwind/proof.h \
	hpcrun-lite/unwind/recipe.c hpcrun-lite/unwind/recipe.h \
	hpcrun-lite/unwind/regs.h \
	hpcrun-lite/unwind/step.c \
	hpcrun-lite/unwind/unwind.c hpcrun-lite/unwind/unwind.h \
	hpcrun-lite/unwind/walk.c \
	hpcrun-lite/unwind/code/code_lines.c hpcrun-lite/unwind/code/code_lines.h \
	hpcrun-lite/unwind/code/generated.c hpcrun-lite/unwind/code/generated.h \
	hpcrun-lite/unwind/code/insn.h \
	hpcrun-lite/unwind/code/leave.c hpcrun-lite/unwind/code/leave.h

# The processor that the run time is built for (common/machine).
if MACHINE_AARCH64
UNWIND_SOURCES += hpcrun-lite/unwind/aarch64/insn_aarch64.c \
	hpcrun-lite/unwind/aarch64/unwind_aarch64.c
libhpcrun_lite_la_SOURCES += hpcrun-lite/hooks/wait/aarch64/wait_aarch64.c
else
UNWIND_SOURCES += hpcrun-lite/unwind/x86_64/insn_x86_64.c hpcrun-lite/unwind/x86_64/unwind_x86_64.c
libhpcrun_lite_la_SOURCES += hpcrun-lite/hooks/wait/x86_64/wait_x86_64.c
endif

libhlunwind_la_SOURCES = $(UNWIND_SOURCES)
libhlunwind_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
