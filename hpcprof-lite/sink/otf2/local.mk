# SPDX-License-Identifier: BSD-3-Clause
# The tree of calls of a time line is tested without OTF2.
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/otf2/otf2_sink.h \
	hpcprof-lite/sink/otf2/otf2_tree.c hpcprof-lite/sink/otf2/otf2_tree.h

if HAVE_OTF2
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/otf2/otf2.c hpcprof-lite/sink/otf2/otf2.h \
	hpcprof-lite/sink/otf2/otf2_define.c \
	hpcprof-lite/sink/otf2/otf2_defs.c \
	hpcprof-lite/sink/otf2/otf2_energy.c \
	hpcprof-lite/sink/otf2/otf2_error.c \
	hpcprof-lite/sink/otf2/otf2_events.c \
	hpcprof-lite/sink/otf2/otf2_gpu.c \
	hpcprof-lite/sink/otf2/otf2_gpu_defs.c \
	hpcprof-lite/sink/otf2/otf2_ledgers.c hpcprof-lite/sink/otf2/otf2_nvtx.c
endif
