# SPDX-License-Identifier: BSD-3-Clause
# libhlbase: for the tools. libhlsafe: async-signal-safe, for the run-time library (never sanitized).
# Each folder adds its files in its own local.mk.

noinst_LTLIBRARIES += libhlbase.la libhlsafe.la libhlstring.la libhllibc.la libhldlsym.la \
	libhlmodule.la
libhlbase_la_SOURCES =
libhlsafe_la_SOURCES =
libhlsafe_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
libhlstring_la_SOURCES =
libhlstring_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS) -ffreestanding -fno-builtin

libhllibc_la_SOURCES =
libhllibc_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
libhldlsym_la_SOURCES =
libhldlsym_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
libhlmodule_la_SOURCES =
libhlmodule_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)

# Code inside the measured process: hidden symbols, static TLS, no instrumentation.
SAFE_CFLAGS = -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector

include $(top_srcdir)/common/base/local.mk
include $(top_srcdir)/common/format/local.mk
include $(top_srcdir)/common/rights/local.mk
include $(top_srcdir)/common/safe/local.mk
