# SPDX-License-Identifier: BSD-3-Clause
libhlbase_la_SOURCES += \
	common/rights/inside.c common/rights/inside.h \
	common/rights/rights.c common/rights/rights.h
