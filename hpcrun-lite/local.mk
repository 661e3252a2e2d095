# SPDX-License-Identifier: BSD-3-Clause
# One fragment per room, so that rooms do not meet in one file.
include $(top_srcdir)/hpcrun-lite/unwind/local.mk
include $(top_srcdir)/hpcrun-lite/python/local.mk
include $(top_srcdir)/hpcrun-lite/gpu/local.mk
include $(top_srcdir)/hpcrun-lite/runtime/local.mk
include $(top_srcdir)/hpcrun-lite/api/local.mk
include $(top_srcdir)/hpcrun-lite/launch/local.mk
include $(top_srcdir)/hpcrun-lite/gpu/opencl/local.mk
include $(top_srcdir)/hpcrun-lite/gpu/cupti/local.mk
include $(top_srcdir)/hpcrun-lite/replay/local.mk
