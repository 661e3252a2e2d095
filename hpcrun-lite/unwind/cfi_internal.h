/* SPDX-License-Identifier: BSD-3-Clause */
/* Between cfi.c (records, instructions) and cfi_search.c (which record). Signal-safe. */
#ifndef HPCRUN_LITE_UNWIND_CFI_INTERNAL_H
#define HPCRUN_LITE_UNWIND_CFI_INTERNAL_H

#include "hpcrun-lite/unwind/bytes.h"
#include "hpcrun-lite/unwind/cfi.h"

/* One length-prefixed record of .eh_frame, a CIE or an FDE. */
struct cfi_record {
	uintptr_t address, next, id_address;
	uint32_t id; /* 0: a CIE; else the distance from id_address back to the CIE */
	bool dwarf64;
	struct bytes body; /* behind the id */
};

struct cfi_cie {
	uint64_t code_align, return_column;
	int64_t data_align;
	uint8_t pointer_encoding;
	bool signal, has_length, wide_id;
	struct bytes instructions;
};

uint64_t cfi_pointer(struct bytes *b, uint8_t encoding, uintptr_t base);

/* n_bytes at `address`: in place where they may be read directly, else in `copy` (CFI_COPY_BYTES, or n_bytes if that is less). .bad: not there. */
struct bytes cfi_bytes(const struct cfi_source *source, uintptr_t address, size_t n_bytes, uint8_t *copy);

/* CFI_NONE: the terminator (record->next is set). */
enum cfi_status cfi_record(const struct cfi_source *source, uintptr_t address, uint8_t *copy, struct cfi_record *record);

enum cfi_status cfi_fde(const struct cfi_source *source, uint8_t *cie_copy, struct cfi_record *record, struct cfi_cie *cie,
			struct cfi_frame *frame);

#endif
