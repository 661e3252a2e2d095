# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/gpu/samples/gpu_blame.c \
	hpcprof-lite/attribute/gpu/samples/gpu_blame.h \
	hpcprof-lite/attribute/gpu/samples/gpu_calls.c \
	hpcprof-lite/attribute/gpu/samples/gpu_calls.h \
	hpcprof-lite/attribute/gpu/samples/gpu_causes.c \
	hpcprof-lite/attribute/gpu/samples/gpu_causes.h \
	hpcprof-lite/attribute/gpu/samples/gpu_samples.c \
	hpcprof-lite/attribute/gpu/samples/gpu_samples.h \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_blame.c \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_code.c \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_count.c \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_gather.c \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_measure.c \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_run.h \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_share.c \
	hpcprof-lite/attribute/gpu/samples/gpu_sampling.c \
	hpcprof-lite/attribute/gpu/samples/gpu_sampling.h \
	hpcprof-lite/attribute/gpu/samples/gpu_shares.c \
	hpcprof-lite/attribute/gpu/samples/gpu_shares.h \
	hpcprof-lite/attribute/gpu/samples/gpu_yardstick.c \
	hpcprof-lite/attribute/gpu/samples/gpu_yardstick.h
