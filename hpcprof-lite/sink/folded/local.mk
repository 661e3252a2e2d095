# SPDX-License-Identifier: BSD-3-Clause
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/folded/folded.c hpcprof-lite/sink/folded/folded_sink.h
