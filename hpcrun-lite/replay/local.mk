# SPDX-License-Identifier: BSD-3-Clause
# hpcrun-lite replay: plays recordings of the NVIDIA back end to that back end. Part of the launcher where the back end is built.

if HAVE_CUPTI
noinst_LTLIBRARIES += libhlreplay.la
libhlreplay_la_SOURCES = \
	hpcrun-lite/replay/enter.c \
	hpcrun-lite/replay/replay_image.c \
	hpcrun-lite/replay/output.c hpcrun-lite/replay/output.h \
	hpcrun-lite/replay/replay_place.c \
	hpcrun-lite/replay/plan.c \
	hpcrun-lite/replay/player.c hpcrun-lite/replay/player.h \
	hpcrun-lite/replay/replay.c hpcrun-lite/replay/replay.h \
	hpcrun-lite/replay/stand_in.c \
	hpcrun-lite/replay/stand_in_pc.c \
	hpcrun-lite/replay/tape.c hpcrun-lite/replay/tape.h
libhlreplay_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)

hpcrun_lite_hpcrun_lite_CPPFLAGS += -DHAVE_REPLAY=1
# What it is linked with; also for its tests.
REPLAY_LIBS = libhlreplay.la libhlcupti.la libhlgpu.la libhlcct.la libhlsafe.la libhlbase.la -ldl -lpthread
hpcrun_lite_hpcrun_lite_LDADD += $(REPLAY_LIBS)
endif
