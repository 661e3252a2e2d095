# SPDX-License-Identifier: BSD-3-Clause
# The configuration: the launcher writes it, the run time reads it.
launch_sources += \
	hpcrun-lite/config/config.c hpcrun-lite/config/config.h
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/config/config.c hpcrun-lite/config/config.h
