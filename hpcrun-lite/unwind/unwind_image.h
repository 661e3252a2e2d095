/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the loaded object that contains a pc, and where its text and CFI may be read. Uses
 * find_object() and the program headers in memory. Signal-safe. Test:
 * tests/unit/unwind/test_unwind_odd.c.
 */
#ifndef HPCRUN_LITE_UNWIND_UNWIND_IMAGE_H
#define HPCRUN_LITE_UNWIND_UNWIND_IMAGE_H

#include "common/safe/find_object.h"
#include "hpcrun-lite/unwind/cfi.h"


struct image {
	struct dl_find_object object;
	uintptr_t bias;
	/* The readable, executable segment that contains the pc; both 0: none, or unknown. */
	uintptr_t text_lo, text_hi;
	bool moves;                 /* FIND_OBJECT_MOVES */
	bool has_segments;          /* the program headers were readable, so text_lo is certain */
	/* The ELF header, with the program headers after it in the same page; NULL: unknown. */
	const void *header;
	struct cfi_source cfi;      /* hdr 0: the object has no .eh_frame_hdr */
};

/*
 * Returns false if pc is in no loaded object, or between the segments of one. `guarded`: the tables
 * must be read with guarded loads, because the object may be about to disappear.
 */
bool image_find(uintptr_t pc, bool guarded, struct image *image);

/*
 * Returns true if the n bytes may be read directly: they are in one readable segment of the object.
 */
bool image_holds(const struct image *image, uintptr_t address, size_t n_bytes);

#endif
