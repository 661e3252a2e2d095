# SPDX-License-Identifier: BSD-3-Clause
tape_sources += \
	hpcrun-lite/gpu/cupti/tape/nv_tape.c hpcrun-lite/gpu/cupti/tape/nv_tape.h \
	hpcrun-lite/gpu/cupti/tape/nv_tape_arguments.c \
	hpcrun-lite/gpu/cupti/tape/nv_tape_call.c \
	hpcrun-lite/gpu/cupti/tape/nv_tape_enter.c \
	hpcrun-lite/gpu/cupti/tape/nv_tape_event.c \
	hpcrun-lite/gpu/cupti/tape/nv_tape_file.c \
	hpcrun-lite/gpu/cupti/tape/nv_tape_internal.h \
	hpcrun-lite/gpu/cupti/tape/nv_tape_pc.c
