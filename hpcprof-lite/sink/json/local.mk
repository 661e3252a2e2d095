# SPDX-License-Identifier: BSD-3-Clause
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/json/json.c hpcprof-lite/sink/json/json.h \
	hpcprof-lite/sink/json/json_advice.c \
	hpcprof-lite/sink/json/json_code.c \
	hpcprof-lite/sink/json/json_counters.c \
	hpcprof-lite/sink/json/json_gpu.c \
	hpcprof-lite/sink/json/json_nccl.c \
	hpcprof-lite/sink/json/json_nvtx.c \
	hpcprof-lite/sink/json/json_profiles.c \
	hpcprof-lite/sink/json/json_sink.h \
	hpcprof-lite/sink/json/json_values.c \
	hpcprof-lite/sink/json/json_write.c hpcprof-lite/sink/json/json_write.h
