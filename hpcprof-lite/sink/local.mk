# SPDX-License-Identifier: BSD-3-Clause
# What the sinks share, and the table of them.
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/outfile.c hpcprof-lite/sink/outfile.h \
	hpcprof-lite/sink/progress.h \
	hpcprof-lite/sink/protobuf.c hpcprof-lite/sink/protobuf.h \
	hpcprof-lite/sink/sink.h \
	hpcprof-lite/sink/source_find.c hpcprof-lite/sink/source_find.h \
	hpcprof-lite/sink/unread.h
# Names, which views and records use as well.
libhlview_la_SOURCES += hpcprof-lite/sink/names.c hpcprof-lite/sink/names.h
hpcprof_lite_hpcprof_lite_SOURCES += \
	hpcprof-lite/sink/sinks.c hpcprof-lite/sink/sinks.h
