# SPDX-License-Identifier: BSD-3-Clause
# The OpenCL back end: a module that ICD loaders take as a layer, and that can be preloaded. It links libc alone.

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
# Never unloaded: exit handlers and functions given to the program lie in it. Symbolic: our functions bear OpenCL's names, and are meant where they stand.
libhpcrun_lite_opencl_la_LDFLAGS = -module -avoid-version -shared -Wc,-static-libgcc -Wl,-z,now -Wl,-z,defs -Wl,-z,nodelete -Wl,-Bsymbolic
libhpcrun_lite_opencl_la_LIBADD = libhlsafe.la \
	libhlmodule.la libhldlsym.la libhllibc.la libhlstring.la
endif
