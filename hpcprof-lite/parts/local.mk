# SPDX-License-Identifier: BSD-3-Clause
# Parts of hpcprof-lite that share one job. The module alone is linked with MPI.
noinst_LTLIBRARIES += libhlparts.la
libhlparts_la_SOURCES = \
	hpcprof-lite/parts/comm.c hpcprof-lite/parts/comm.h \
	hpcprof-lite/parts/comm_module.h \
	hpcprof-lite/parts/share_records.c hpcprof-lite/parts/share_records.h \
	hpcprof-lite/parts/start_guard.c hpcprof-lite/parts/start_guard.h
hpcprof_lite_hpcprof_lite_SOURCES += \
	hpcprof-lite/parts/comm_mpi.c hpcprof-lite/parts/comm_mpi.h \
	hpcprof-lite/parts/parent.c hpcprof-lite/parts/parent.h

if HAVE_MPI_LIB
pkglib_LTLIBRARIES += hpcprof-lite-mpi.la
hpcprof_lite_mpi_la_SOURCES = hpcprof-lite/parts/comm_module.c hpcprof-lite/parts/comm_module.h
hpcprof_lite_mpi_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
hpcprof_lite_mpi_la_CFLAGS = $(HL_CFLAGS) -fvisibility=hidden
hpcprof_lite_mpi_la_LDFLAGS = -module -avoid-version -shared
hpcprof_lite_mpi_la_LIBADD = $(MPI_LIBS)
endif
