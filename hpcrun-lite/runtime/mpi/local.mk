# SPDX-License-Identifier: BSD-3-Clause
libhpcrun_lite_la_SOURCES += \
	hpcrun-lite/runtime/mpi/mpi_glue.c hpcrun-lite/runtime/mpi/mpi_glue.h \
	hpcrun-lite/runtime/mpi/mpi_sums.c hpcrun-lite/runtime/mpi/mpi_sums.h
