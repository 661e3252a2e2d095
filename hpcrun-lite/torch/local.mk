# SPDX-License-Identifier: BSD-3-Clause
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
