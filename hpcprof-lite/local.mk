# SPDX-License-Identifier: BSD-3-Clause

include $(top_srcdir)/hpcprof-lite/sink/local.mk
