# SPDX-License-Identifier: BSD-3-Clause
libhlbase_la_SOURCES += \
	common/format/ends.c common/format/ends.h \
	common/format/local_data.c common/format/local_data.h \
	common/format/measurement.c common/format/measurement.h \
	common/format/measurement_gpu.c common/format/measurement_gpu.h \
	common/format/measurement_mpi.h \
	common/format/measurement_nvtx.h \
	common/format/mpi_calls.c common/format/mpi_calls.h \
	common/format/recording.c common/format/recording.h \
	common/format/structure.c common/format/structure.h \
	common/format/structure_cache.c common/format/structure_cache.h \
	common/format/structure_internal.h \
	common/format/structure_layout.c common/format/structure_layout.h \
	common/format/structure_names.c \
	common/format/structure_open.c \
	common/format/structure_waits.c \
	common/format/structure_write.c common/format/structure_write.h
# What the run time needs of it.
libhlsafe_la_SOURCES += \
	common/format/measurement.c common/format/measurement.h \
	common/format/measurement_gpu.c common/format/measurement_gpu.h
