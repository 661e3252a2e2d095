# SPDX-License-Identifier: BSD-3-Clause
libhlcct_la_SOURCES += \
	hpcrun-lite/store/extent.c hpcrun-lite/store/extent.h \
	hpcrun-lite/store/file_space.c hpcrun-lite/store/file_space.h \
	hpcrun-lite/store/nursery.c hpcrun-lite/store/nursery.h \
	hpcrun-lite/store/store.c hpcrun-lite/store/store.h \
	hpcrun-lite/store/store_grow.c hpcrun-lite/store/store_grow.h \
	hpcrun-lite/store/store_life.c \
	hpcrun-lite/store/store_local.c hpcrun-lite/store/store_local.h \
	hpcrun-lite/store/store_slab.c \
	hpcrun-lite/store/store_slab.h hpcrun-lite/store/store_state.h
