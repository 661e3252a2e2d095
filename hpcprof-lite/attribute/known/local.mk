# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/known/known_code.c hpcprof-lite/attribute/known/known_code.h \
	hpcprof-lite/attribute/known/known_runtime.c hpcprof-lite/attribute/known/known_runtime.h \
	hpcprof-lite/attribute/known/known_torch.c hpcprof-lite/attribute/known/known_torch.h \
	hpcprof-lite/attribute/known/known_waits.c hpcprof-lite/attribute/known/known_waits.h \
	hpcprof-lite/attribute/known/known_xla.c hpcprof-lite/attribute/known/known_xla.h
