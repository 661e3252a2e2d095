# SPDX-License-Identifier: BSD-3-Clause
# The module in front of MPI, preloaded with -e MPI. It links libc alone.
pkglib_LTLIBRARIES += libhpcrun-lite-mpi.la
libhpcrun_lite_mpi_la_SOURCES = \
	common/format/measurement_mpi.h \
	common/format/mpi_calls.c common/format/mpi_calls.h \
	hpcrun-lite/mpi/mpi.h \
	hpcrun-lite/mpi/mpi_bytes.c hpcrun-lite/mpi/mpi_bytes.h \
	hpcrun-lite/mpi/mpi_enter.c hpcrun-lite/mpi/mpi_enter.h \
	hpcrun-lite/mpi/mpi_library.c hpcrun-lite/mpi/mpi_library.h \
	hpcrun-lite/mpi/mpi_objects.c hpcrun-lite/mpi/mpi_objects.h \
	hpcrun-lite/mpi/mpi_poll.c hpcrun-lite/mpi/mpi_poll.h \
	hpcrun-lite/mpi/mpi_wrap.c
libhpcrun_lite_mpi_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
# Never unloaded: the program may be in one of its functions. Not symbolic: nothing calls them here.
libhpcrun_lite_mpi_la_LDFLAGS = -module -avoid-version -shared -Wc,-static-libgcc \
	-Wl,-z,now -Wl,-z,defs -Wl,-z,nodelete
libhpcrun_lite_mpi_la_LIBADD = libhlsafe.la libhlmodule.la libhldlsym.la libhllibc.la libhlstring.la
