# SPDX-License-Identifier: BSD-3-Clause
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
