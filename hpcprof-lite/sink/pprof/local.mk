# SPDX-License-Identifier: BSD-3-Clause
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/pprof/pprof.c hpcprof-lite/sink/pprof/pprof_sink.h \
	hpcprof-lite/sink/pprof/pprof_file.c hpcprof-lite/sink/pprof/pprof_file.h \
	hpcprof-lite/sink/pprof/pprof_places.c hpcprof-lite/sink/pprof/pprof_places.h
