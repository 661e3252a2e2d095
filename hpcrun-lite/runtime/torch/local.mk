# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/torch/torch_glue.c hpcrun-lite/runtime/torch/torch_glue.h \
	hpcrun-lite/runtime/torch/torch_nodes.c hpcrun-lite/runtime/torch/torch_nodes.h
