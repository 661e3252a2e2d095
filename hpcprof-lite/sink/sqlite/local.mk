# SPDX-License-Identifier: BSD-3-Clause
if HAVE_SQLITE3
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/sqlite/sqlite.c hpcprof-lite/sink/sqlite/sqlite_sink.h \
	hpcprof-lite/sink/sqlite/sqlite_code.c \
	hpcprof-lite/sink/sqlite/sqlite_energy.c \
	hpcprof-lite/sink/sqlite/sqlite_nccl.c \
	hpcprof-lite/sink/sqlite/sqlite_nvtx.c \
	hpcprof-lite/sink/sqlite/sqlite_profiles.c \
	hpcprof-lite/sink/sqlite/sqlite_schema.c \
	hpcprof-lite/sink/sqlite/sqlite_write.c hpcprof-lite/sink/sqlite/sqlite_write.h
endif
