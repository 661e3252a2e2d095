/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loaded object that a pc lies in, and where its text and its CFI may be read, by _dl_find_object and the program headers in memory.
 * Signal-safe. Test: tests/unit/test_unwind_odd.c.
 */
#ifndef HPCRUN_LITE_UNWIND_UNWIND_IMAGE_H
#define HPCRUN_LITE_UNWIND_UNWIND_IMAGE_H

#include "hpcrun-lite/unwind/cfi.h"

#include <dlfcn.h>

struct image {
	struct dl_find_object object;
	uintptr_t bias;
	uintptr_t text_lo, text_hi; /* the readable, executable segment that holds the pc; both 0: not in one, or not known */
	bool has_segments;          /* the program headers could be read: text_lo is the whole truth */
	const void *header; /* the ELF header, followed by the program headers in the same page;
			       NULL: not known */
	struct cfi_source cfi;      /* hdr 0: the object has no .eh_frame_hdr */
};

/* False: pc lies in no loaded object, or between the segments of one. With `guarded`, tables are only to be read by guarded loads (an object may be about to vanish). */
bool image_find(uintptr_t pc, bool guarded, struct image *image);

/* Whether the n bytes may be read directly: they lie in one readable segment of the object. */
bool image_holds(const struct image *image, uintptr_t address, size_t n_bytes);

#endif
