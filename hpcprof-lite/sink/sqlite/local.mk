# SPDX-License-Identifier: BSD-3-Clause
if HAVE_SQLITE3
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/sqlite/sqlite.c hpcprof-lite/sink/sqlite/sqlite_sink.h \
	hpcprof-lite/sink/sqlite/sqlite_records.c \
	hpcprof-lite/sink/sqlite/sqlite_views.c \
	hpcprof-lite/sink/sqlite/sqlite_write.c hpcprof-lite/sink/sqlite/sqlite_write.h
endif
