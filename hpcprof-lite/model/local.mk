# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/model/model.c hpcprof-lite/model/model.h \
	hpcprof-lite/model/model_activity.h \
	hpcprof-lite/model/model_code.h \
	hpcprof-lite/model/model_energy.h \
	hpcprof-lite/model/model_gpu.h \
	hpcprof-lite/model/model_hash.c hpcprof-lite/model/model_hash.h \
	hpcprof-lite/model/model_metric.h \
	hpcprof-lite/model/model_mpi.h \
	hpcprof-lite/model/model_nccl.h \
	hpcprof-lite/model/model_nvtx.h \
	hpcprof-lite/model/model_omp.h \
	hpcprof-lite/model/model_phase.h \
	hpcprof-lite/model/model_process.h \
	hpcprof-lite/model/model_share.h \
	hpcprof-lite/model/model_values.c hpcprof-lite/model/model_values.h \
	hpcprof-lite/model/private.h
