# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/load/job/load_devices.c hpcprof-lite/load/job/load_devices.h \
	hpcprof-lite/load/job/load_job.c hpcprof-lite/load/job/load_job.h \
	hpcprof-lite/load/job/load_list.c hpcprof-lite/load/job/load_list.h \
	hpcprof-lite/load/job/load_opening.h \
	hpcprof-lite/load/job/load_outline.c hpcprof-lite/load/job/load_outline.h \
	hpcprof-lite/load/job/load_ranks.c hpcprof-lite/load/job/load_ranks.h \
	hpcprof-lite/load/job/load_share.c \
	hpcprof-lite/load/job/load_split.c hpcprof-lite/load/job/load_split.h
