# SPDX-License-Identifier: BSD-3-Clause
cupti_sources += \
	hpcrun-lite/gpu/cupti/pc/nv_pc.c hpcrun-lite/gpu/cupti/pc/nv_pc.h \
	hpcrun-lite/gpu/cupti/pc/nv_pc_burst.c \
	hpcrun-lite/gpu/cupti/pc/nv_pc_gate.c \
	hpcrun-lite/gpu/cupti/pc/nv_pc_internal.h \
	hpcrun-lite/gpu/cupti/pc/nv_pc_reason.c \
	hpcrun-lite/gpu/cupti/pc/nv_pc_say.c \
	hpcrun-lite/gpu/cupti/pc/nv_pc_session.c \
	hpcrun-lite/gpu/cupti/pc/nv_pc_synchronize.c \
	hpcrun-lite/gpu/cupti/pc/nv_pc_take.c
