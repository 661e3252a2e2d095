# SPDX-License-Identifier: BSD-3-Clause
UNWIND_SOURCES += \
	hpcrun-lite/unwind/code/code_lines.c hpcrun-lite/unwind/code/code_lines.h \
	hpcrun-lite/unwind/code/generated.c hpcrun-lite/unwind/code/generated.h \
	hpcrun-lite/unwind/code/insn.c hpcrun-lite/unwind/code/insn.h \
	hpcrun-lite/unwind/code/leave.c hpcrun-lite/unwind/code/leave.h
