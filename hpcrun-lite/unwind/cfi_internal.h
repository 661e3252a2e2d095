/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by cfi.c (records, instructions) and cfi_search.c (finding the record). Signal-safe. */
#ifndef HPCRUN_LITE_UNWIND_CFI_INTERNAL_H
#define HPCRUN_LITE_UNWIND_CFI_INTERNAL_H

#include "hpcrun-lite/unwind/bytes.h"
#include "hpcrun-lite/unwind/cfi.h"

/* One length-prefixed record of .eh_frame, a CIE or an FDE. */
struct cfi_record {
	uintptr_t address, next, id_address;
	uint32_t id; /* 0: a CIE; else the distance from id_address back to the CIE */
	bool dwarf64;
	struct bytes body; /* after the id */
};

struct cfi_cie {
	uint64_t code_align, return_column;
	int64_t data_align;
	uint8_t pointer_encoding;
	bool signal, has_length, wide_id;
	struct bytes instructions;
};

uint64_t cfi_pointer(struct bytes *b, uint8_t encoding, uintptr_t base);

/*
 * Returns n_bytes at `address`: in place if they may be read directly, otherwise in `copy`, which
 * has room for the smaller of CFI_COPY_BYTES and n_bytes. Sets .bad if they are unreadable.
 */
struct bytes cfi_bytes(const struct cfi_source *source, uintptr_t address, size_t n_bytes,
		       uint8_t *copy);

/* CFI_NONE: the terminator; record->next is set. */
enum cfi_status cfi_record(const struct cfi_source *source, uintptr_t address, uint8_t *copy,
			   struct cfi_record *record);

enum cfi_status cfi_fde(const struct cfi_source *source, uint8_t *cie_copy,
			struct cfi_record *record, struct cfi_cie *cie, struct cfi_frame *frame);

#endif
