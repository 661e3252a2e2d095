# SPDX-License-Identifier: BSD-3-Clause
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/perfetto/perfetto.c hpcprof-lite/sink/perfetto/perfetto.h \
	hpcprof-lite/sink/perfetto/perfetto_energy.c \
	hpcprof-lite/sink/perfetto/perfetto_fields.h \
	hpcprof-lite/sink/perfetto/perfetto_gpu.c \
	hpcprof-lite/sink/perfetto/perfetto_intern.c hpcprof-lite/sink/perfetto/perfetto_nvtx.c \
	hpcprof-lite/sink/perfetto/perfetto_out.c hpcprof-lite/sink/perfetto/perfetto_out.h \
	hpcprof-lite/sink/perfetto/perfetto_packet.c hpcprof-lite/sink/perfetto/perfetto_samples.c \
	hpcprof-lite/sink/perfetto/perfetto_sink.h \
	hpcprof-lite/sink/perfetto/perfetto_tracks.c
