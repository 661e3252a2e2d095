# SPDX-License-Identifier: BSD-3-Clause
libhlview_la_SOURCES += \
	hpcprof-lite/view/advice/advice_devices.c \
	hpcprof-lite/view/advice/advice_estimate.c hpcprof-lite/view/advice/advice_estimate.h \
	hpcprof-lite/view/advice/advice_facts.c hpcprof-lite/view/advice/advice_facts.h \
	hpcprof-lite/view/advice/advice_kernels.c \
	hpcprof-lite/view/advice/advice_rule.h \
	hpcprof-lite/view/advice/advice_shapes.c \
	hpcprof-lite/view/advice/view_advice.c hpcprof-lite/view/advice/view_advice.h
