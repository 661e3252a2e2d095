# SPDX-License-Identifier: BSD-3-Clause
# The model as records with tables of fields, for the exports of everything.
libhlview_la_SOURCES += \
	hpcprof-lite/record/record.c hpcprof-lite/record/record.h \
	hpcprof-lite/record/record_build.h \
	hpcprof-lite/record/record_code.c \
	hpcprof-lite/record/record_gpu.c \
	hpcprof-lite/record/record_ledger.c hpcprof-lite/record/record_ledger.h \
	hpcprof-lite/record/record_mpi.c \
	hpcprof-lite/record/record_nvtx.c \
	hpcprof-lite/record/record_process.c \
	hpcprof-lite/record/record_profile.c \
	hpcprof-lite/record/record_sampling.c hpcprof-lite/record/sampling_facts.h \
	hpcprof-lite/record/words.c hpcprof-lite/record/words.h
