# SPDX-License-Identifier: BSD-3-Clause
# The unwinder: a convenience library that the run time links (noinst_LTLIBRARIES += libhlunwind.la, built with SAFE_CFLAGS).
