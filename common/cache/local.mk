# SPDX-License-Identifier: BSD-3-Clause
libhlbase_la_SOURCES += \
	common/cache/structure_cache.c common/cache/structure_cache.h
