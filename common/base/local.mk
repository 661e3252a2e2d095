# SPDX-License-Identifier: BSD-3-Clause
libhlbase_la_SOURCES += \
	common/base/capped.h \
	common/base/cursor.c common/base/cursor.h \
	common/base/cutguard.c common/base/cutguard.h \
	common/base/foreign.c common/base/foreign.h \
	common/base/library_place.c common/base/library_place.h \
	common/base/log.c common/base/log.h \
	common/base/map.c common/base/map.h \
	common/base/mapfile.c common/base/mapfile.h \
	common/base/options.c common/base/options.h \
	common/base/pool.c common/base/pool.h \
	common/base/sorted.h \
	common/base/space.c common/base/space.h \
	common/base/standard_files.c common/base/standard_files.h \
	common/base/status.h \
	common/base/strtab.c common/base/strtab.h \
	common/base/vec.c common/base/vec.h
