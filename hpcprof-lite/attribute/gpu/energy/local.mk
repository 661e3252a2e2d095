# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/gpu/energy/gpu_energy.c \
	hpcprof-lite/attribute/gpu/energy/gpu_energy.h \
	hpcprof-lite/attribute/gpu/energy/gpu_energy_meters.c \
	hpcprof-lite/attribute/gpu/energy/gpu_energy_read.c \
	hpcprof-lite/attribute/gpu/energy/gpu_energy_share.c \
	hpcprof-lite/attribute/gpu/energy/gpu_energy_topic.c
