# SPDX-License-Identifier: BSD-3-Clause
# Apart from the others because of the flags
noinst_LTLIBRARIES += libhldata.la
libhldata_la_SOURCES = hpcprof-lite/load/data_symbols.c hpcprof-lite/load/data_symbols.h
libhldata_la_CPPFLAGS = $(AM_CPPFLAGS) $(IBERTY_CPPFLAGS)
libhldata_la_LIBADD = $(IBERTY_LIBS)
libhlprof_la_LIBADD += libhldata.la
libhlprof_la_SOURCES += \
	hpcprof-lite/load/binary.c \
	hpcprof-lite/load/load_check.c \
	hpcprof-lite/load/load_extents.c \
	hpcprof-lite/load/load_file.c hpcprof-lite/load/load_file.h \
	hpcprof-lite/load/load_gpu.c hpcprof-lite/load/load_gpu.h \
	hpcprof-lite/load/load_mpi.c hpcprof-lite/load/load_mpi.h \
	hpcprof-lite/load/load_node.c \
	hpcprof-lite/load/load_phases.c hpcprof-lite/load/load_phases.h \
	hpcprof-lite/load/load_nvtx.c hpcprof-lite/load/load_nvtx.h \
	hpcprof-lite/load/load_python.c \
	hpcprof-lite/load/load_records.c hpcprof-lite/load/load_records.h \
	hpcprof-lite/load/load_regions.c hpcprof-lite/load/load_regions.h \
	hpcprof-lite/load/load_waits.c hpcprof-lite/load/load_waits.h \
	hpcprof-lite/load/python_lines.c hpcprof-lite/load/python_lines.h \
	hpcprof-lite/load/structures.c hpcprof-lite/load/structures.h
