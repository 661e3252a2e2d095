/* SPDX-License-Identifier: BSD-3-Clause */
/* From a pc to its FDE by the sorted table of .eh_frame_hdr (LSB Core 5.0, 10.6.2), or without one by reading .eh_frame through. See cfi.h. */
#include "hpcrun-lite/unwind/cfi_internal.h"

enum {
	HDR_VERSION = 1,
	PE_OMIT = 0xff,
	PE_UDATA4 = 0x03,
	TABLE_ENCODING = 0x3b, /* data relative, sdata4: what every linker writes */
	ENTRY_BYTES = 8,
	SCAN_RECORDS_MAX = 65536 /* without a table */
};

/* One entry: two signed distances from the header. False if it cannot be read. */
static bool table_entry(const struct cfi_source *source, uintptr_t table, uint64_t i, uintptr_t *pc, uintptr_t *fde)
{
	uint8_t copy[ENTRY_BYTES];
	struct bytes b = cfi_bytes(source, table + i * ENTRY_BYTES, ENTRY_BYTES, copy);
	*pc = source->hdr + (uint64_t)bytes_signed(&b, 4);
	*fde = source->hdr + (uint64_t)bytes_signed(&b, 4);
	return !b.bad;
}

/* The last entry whose pc is not above ours. */
static enum cfi_status search_table(const struct cfi_source *source, uintptr_t table, uint64_t n, uintptr_t pc, uintptr_t *fde)
{
	uint64_t lo = 0, hi = n;
	*fde = 0;
	while (lo < hi) {
		const uint64_t mid = lo + (hi - lo) / 2;
		uintptr_t at, record;
		if (!table_entry(source, table, mid, &at, &record))
			return CFI_BAD;
		if (at <= pc) {
			lo = mid + 1;
			*fde = record;
		} else
			hi = mid;
	}
	return *fde ? CFI_OK : CFI_NONE;
}

static enum cfi_status scan_records(const struct cfi_source *source, uintptr_t at, uintptr_t pc, struct cfi_work *work,
				    struct cfi_frame *frame)
{
	for (unsigned i = 0; i < SCAN_RECORDS_MAX; i++) {
		struct cfi_record record;
		struct cfi_cie cie;
		const enum cfi_status status = cfi_record(source, at, work->fde_copy, &record);
		if (status != CFI_OK) /* the terminator, or damage: what lies behind cannot be found */
			return status;
		if (record.id != 0 && cfi_fde(source, work->cie_copy, &record, &cie, frame) == CFI_OK && pc >= frame->pc_lo &&
		    pc < frame->pc_hi)
			return cfi_row_at(source, at, pc, work, frame);
		at = record.next;
	}
	return CFI_NONE;
}

enum cfi_status cfi_lookup(const struct cfi_source *source, uintptr_t pc, struct cfi_work *work, struct cfi_frame *frame)
{
	enum { HEAD_BYTES = 4, BODY_BYTES = 24 };
	uint8_t copy[HEAD_BYTES + BODY_BYTES];
	if (source->hdr == 0)
		return CFI_NONE;
	struct bytes b = cfi_bytes(source, source->hdr, HEAD_BYTES, copy);
	const unsigned version = (unsigned)bytes_unsigned(&b, 1);
	const uint8_t frame_encoding = (uint8_t)bytes_unsigned(&b, 1), count_encoding = (uint8_t)bytes_unsigned(&b, 1);
	const uint8_t table_encoding = (uint8_t)bytes_unsigned(&b, 1);
	if (b.bad || version != HDR_VERSION || frame_encoding == PE_OMIT)
		return CFI_BAD;
	/* The two pointers are at most 10 bytes each; a header at the very end of its segment has fewer. */
	size_t n = BODY_BYTES;
	if (source->hi > source->hdr && source->hdr >= source->lo && source->hi - source->hdr - HEAD_BYTES < n)
		n = source->hi - source->hdr - HEAD_BYTES;
	b = cfi_bytes(source, source->hdr + HEAD_BYTES, n, copy);
	const uintptr_t eh_frame = cfi_pointer(&b, frame_encoding, source->hdr);
	if (b.bad)
		return CFI_BAD;
	if (count_encoding == PE_OMIT || table_encoding != TABLE_ENCODING)
		return scan_records(source, eh_frame, pc, work, frame);
	const uint64_t n_entries = cfi_pointer(&b, count_encoding, source->hdr);
	if (b.bad || n_entries > UINT32_MAX)
		return CFI_BAD;
	uintptr_t fde;
	const enum cfi_status status = search_table(source, b.address, n_entries, pc, &fde);
	return status == CFI_OK ? cfi_row_at(source, fde, pc, work, frame) : status;
}
