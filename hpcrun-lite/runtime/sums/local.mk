# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/sums/mpi_sums.c hpcrun-lite/runtime/sums/mpi_sums.h \
	hpcrun-lite/runtime/sums/nvtx_sums.c hpcrun-lite/runtime/sums/nvtx_sums.h
