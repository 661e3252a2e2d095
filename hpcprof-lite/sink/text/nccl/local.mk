# SPDX-License-Identifier: BSD-3-Clause
libhltext_la_SOURCES += hpcprof-lite/sink/text/nccl/text_nccl.c
