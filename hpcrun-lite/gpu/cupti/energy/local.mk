# SPDX-License-Identifier: BSD-3-Clause
cupti_sources += \
	hpcrun-lite/gpu/cupti/energy/nv_energy.c hpcrun-lite/gpu/cupti/energy/nv_energy.h \
	hpcrun-lite/gpu/cupti/energy/nv_meter.c hpcrun-lite/gpu/cupti/energy/nv_meter.h \
	hpcrun-lite/gpu/cupti/energy/nv_nvml.c hpcrun-lite/gpu/cupti/energy/nv_nvml.h \
	hpcrun-lite/gpu/cupti/energy/nv_rapl.c hpcrun-lite/gpu/cupti/energy/nv_rapl.h
