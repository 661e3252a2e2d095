# SPDX-License-Identifier: BSD-3-Clause
# What every report needs of the model, so that no sink computes it.
libhlview_la_SOURCES += \
	hpcprof-lite/view/names.c hpcprof-lite/view/names.h \
	hpcprof-lite/view/view_balance.c hpcprof-lite/view/view_balance.h \
	hpcprof-lite/view/view_blame.c hpcprof-lite/view/view_blame.h \
	hpcprof-lite/view/view_calls.c hpcprof-lite/view/view_calls.h \
	hpcprof-lite/view/view_energy.c hpcprof-lite/view/view_energy.h \
	hpcprof-lite/view/view_fold.c hpcprof-lite/view/view_fold.h \
	hpcprof-lite/view/view_gpu.c hpcprof-lite/view/view_gpu.h \
	hpcprof-lite/view/view_gpu_idle.c hpcprof-lite/view/view_gpu_idle.h \
	hpcprof-lite/view/view_hot.c hpcprof-lite/view/view_hot.h \
	hpcprof-lite/view/view_launch.c hpcprof-lite/view/view_launch.h \
	hpcprof-lite/view/view_mpi.c hpcprof-lite/view/view_mpi.h \
	hpcprof-lite/view/view_nccl.c hpcprof-lite/view/view_nccl.h \
	hpcprof-lite/view/view_run.c hpcprof-lite/view/view_run.h \
	hpcprof-lite/view/view_table.c hpcprof-lite/view/view_table.h \
	hpcprof-lite/view/view_tree.c hpcprof-lite/view/view_tree.h \
	hpcprof-lite/view/view_values.c hpcprof-lite/view/view_values.h \
	hpcprof-lite/view/view_waits.c hpcprof-lite/view/view_waits.h
