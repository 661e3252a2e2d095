# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += hpcprof-lite/sink/json/advice.schema.json
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/json/json.c hpcprof-lite/sink/json/json.h \
	hpcprof-lite/sink/json/json_advice.c \
	hpcprof-lite/sink/json/json_counters.c \
	hpcprof-lite/sink/json/json_records.c \
	hpcprof-lite/sink/json/json_sink.h \
	hpcprof-lite/sink/json/json_write.c hpcprof-lite/sink/json/json_write.h
