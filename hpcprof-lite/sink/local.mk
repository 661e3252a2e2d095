# SPDX-License-Identifier: BSD-3-Clause
# What the sinks share, and call paths for flame graphs.
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/folded.c hpcprof-lite/sink/folded_sink.h \
	hpcprof-lite/sink/outfile.c hpcprof-lite/sink/outfile.h \
	hpcprof-lite/sink/progress.h \
	hpcprof-lite/sink/protobuf.c hpcprof-lite/sink/protobuf.h \
	hpcprof-lite/sink/sink.h \
	hpcprof-lite/sink/source_find.c hpcprof-lite/sink/source_find.h \
	hpcprof-lite/sink/unread.h
