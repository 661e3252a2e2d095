# SPDX-License-Identifier: BSD-3-Clause
libhlview_la_SOURCES += \
	hpcprof-lite/view/energy/view_energy.c hpcprof-lite/view/energy/view_energy.h
