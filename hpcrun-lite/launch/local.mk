# SPDX-License-Identifier: BSD-3-Clause
# The launcher: all but main is also linked into unit tests.
launch_sources += \
	hpcrun-lite/launch/child.c hpcrun-lite/launch/child.h \
	hpcrun-lite/launch/event.c hpcrun-lite/launch/event.h \
	hpcrun-lite/launch/event_check.c \
	hpcrun-lite/launch/gpu_client.c hpcrun-lite/launch/gpu_client.h \
	hpcrun-lite/launch/list.c hpcrun-lite/launch/list.h \
	hpcrun-lite/launch/papi_client.c hpcrun-lite/launch/papi_client.h \
	hpcrun-lite/launch/place.c hpcrun-lite/launch/place.h \
	hpcrun-lite/launch/program.c hpcrun-lite/launch/program.h \
	hpcrun-lite/launch/copy/collect.c hpcrun-lite/launch/copy/collect.h \
	hpcrun-lite/launch/copy/collect_file.c \
	hpcrun-lite/launch/copy/follow.c hpcrun-lite/launch/copy/follow.h \
	hpcrun-lite/launch/copy/follow_chain.c hpcrun-lite/launch/copy/follow_chain.h \
	hpcrun-lite/launch/copy/follow_part.c hpcrun-lite/launch/copy/follow_part.h \
	hpcrun-lite/launch/copy/follow_start.c hpcrun-lite/launch/copy/follow_start.h \
	hpcrun-lite/launch/directory/job.c hpcrun-lite/launch/directory/job.h \
	hpcrun-lite/launch/directory/node_local.c hpcrun-lite/launch/directory/node_local.h \
	hpcrun-lite/launch/directory/path_in.h \
	hpcrun-lite/launch/directory/rundir.c hpcrun-lite/launch/directory/rundir.h \
	hpcrun-lite/launch/directory/together.c hpcrun-lite/launch/directory/together.h
hpcrun_lite_hpcrun_lite_SOURCES += hpcrun-lite/launch/hpcrun_main.c
