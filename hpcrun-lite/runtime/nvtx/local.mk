# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	common/format/measurement_nvtx.h \
	hpcrun-lite/runtime/nvtx/nvtx_entry.c \
	hpcrun-lite/runtime/nvtx/nvtx_glue.c hpcrun-lite/runtime/nvtx/nvtx_glue.h \
	hpcrun-lite/runtime/nvtx/nvtx_names.c hpcrun-lite/runtime/nvtx/nvtx_names.h \
	hpcrun-lite/runtime/nvtx/nvtx_payload.c hpcrun-lite/runtime/nvtx/nvtx_payload.h \
	hpcrun-lite/runtime/nvtx/nvtx_protocol.h \
	hpcrun-lite/runtime/nvtx/nvtx_started.c hpcrun-lite/runtime/nvtx/nvtx_started.h \
	hpcrun-lite/runtime/nvtx/nvtx_strings.c hpcrun-lite/runtime/nvtx/nvtx_strings.h
