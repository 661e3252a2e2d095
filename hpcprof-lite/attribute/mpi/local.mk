# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/mpi/mpi_arrivals.c hpcprof-lite/attribute/mpi/mpi_arrivals.h \
	hpcprof-lite/attribute/mpi/mpi_attribute.c hpcprof-lite/attribute/mpi/mpi_attribute.h \
	hpcprof-lite/attribute/mpi/mpi_clocks.c hpcprof-lite/attribute/mpi/mpi_clocks.h \
	hpcprof-lite/attribute/mpi/mpi_waits.c hpcprof-lite/attribute/mpi/mpi_waits.h
