# SPDX-License-Identifier: BSD-3-Clause
libhlview_la_SOURCES += hpcprof-lite/view/mpi/view_mpi.c hpcprof-lite/view/mpi/view_mpi.h
