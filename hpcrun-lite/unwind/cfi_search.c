/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the FDE of a pc with the sorted table of .eh_frame_hdr (LSB Core 5.0, 10.6.2), or, if there
 * is no table, by reading .eh_frame from the start. See cfi.h.
 */
#include "hpcrun-lite/unwind/cfi_internal.h"

enum {
	HDR_VERSION = 1,
	PE_OMIT = 0xff,
	PE_UDATA4 = 0x03,
	TABLE_ENCODING = 0x3b, /* data relative, sdata4: all linkers write this */
	ENTRY_BYTES = 8,
	SCAN_RECORDS_MAX = 65536 /* if there is no table */
};

/* Reads one entry: two signed distances from the header. Returns false if it is unreadable. */
static bool table_entry(const struct cfi_source *source, uintptr_t table, uint64_t i, uintptr_t *pc,
			uintptr_t *fde)
{
	uint8_t copy[ENTRY_BYTES];
	struct bytes b = cfi_bytes(source, table + i * ENTRY_BYTES, ENTRY_BYTES, copy);
	*pc = source->hdr + (uint64_t)bytes_signed(&b, 4);
	*fde = source->hdr + (uint64_t)bytes_signed(&b, 4);
	return !b.bad;
}

/* The sorted table: n entries at `at`. n 0: there is only .eh_frame. */
struct table {
	uintptr_t at, eh_frame;
	uint64_t n;
};

/* Counts the entries whose pc is not above ours. */
static enum cfi_status search_table(const struct cfi_source *source, const struct table *t,
				    uintptr_t pc, uint64_t *n_below)
{
	uint64_t lo = 0, hi = t->n;
	while (lo < hi) {
		const uint64_t mid = lo + (hi - lo) / 2;
		uintptr_t at, record;
		if (!table_entry(source, t->at, mid, &at, &record))
			return CFI_BAD;
		if (at <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	*n_below = lo;
	return CFI_OK;
}

static enum cfi_status scan_records(const struct cfi_source *source, uintptr_t at, uintptr_t pc,
				    struct cfi_work *work, struct cfi_frame *frame)
{
	for (unsigned i = 0; i < SCAN_RECORDS_MAX; i++) {
		struct cfi_record record;
		struct cfi_cie cie;
		const enum cfi_status status = cfi_record(source, at, work->fde_copy, &record);
		if (status !=
		    CFI_OK) /* the terminator, or damage: later records cannot be found */
			return status;
		if (record.id != 0 &&
		    cfi_fde(source, work->cie_copy, &record, &cie, frame) == CFI_OK &&
		    pc >= frame->pc_lo && pc < frame->pc_hi)
			return cfi_row_at(source, at, pc, work, frame);
		at = record.next;
	}
	return CFI_NONE;
}

static enum cfi_status open_table(const struct cfi_source *source, struct table *t)
{
	enum { HEAD_BYTES = 4, BODY_BYTES = 24 };
	uint8_t copy[HEAD_BYTES + BODY_BYTES];
	if (source->hdr == 0)
		return CFI_NONE;
	struct bytes b = cfi_bytes(source, source->hdr, HEAD_BYTES, copy);
	const unsigned version = (unsigned)bytes_unsigned(&b, 1);
	const uint8_t frame_encoding = (uint8_t)bytes_unsigned(&b, 1),
		      count_encoding = (uint8_t)bytes_unsigned(&b, 1);
	const uint8_t table_encoding = (uint8_t)bytes_unsigned(&b, 1);
	if (b.bad || version != HDR_VERSION || frame_encoding == PE_OMIT)
		return CFI_BAD;
	/*
	 * Each of the two pointers has at most 10 bytes. Fewer bytes are left if the header is at
	 * the very end of its segment.
	 */
	size_t n = BODY_BYTES;
	if (source->hi > source->hdr && source->hdr >= source->lo &&
	    source->hi - source->hdr - HEAD_BYTES < n)
		n = source->hi - source->hdr - HEAD_BYTES;
	b = cfi_bytes(source, source->hdr + HEAD_BYTES, n, copy);
	*t = (struct table){.eh_frame = cfi_pointer(&b, frame_encoding, source->hdr)};
	if (b.bad)
		return CFI_BAD;
	if (count_encoding == PE_OMIT || table_encoding != TABLE_ENCODING)
		return CFI_OK;
	t->n = cfi_pointer(&b, count_encoding, source->hdr);
	t->at = b.address;
	if (b.bad || t->n > UINT32_MAX)
		return CFI_BAD;
	return t->n ? CFI_OK : CFI_NONE;
}

enum cfi_status cfi_lookup(const struct cfi_source *source, uintptr_t pc, struct cfi_work *work,
			   struct cfi_frame *frame)
{
	struct table t;
	uint64_t n_below;
	uintptr_t at, fde;
	enum cfi_status status = open_table(source, &t);
	if (status != CFI_OK)
		return status;
	if (t.n == 0)
		return scan_records(source, t.eh_frame, pc, work, frame);
	status = search_table(source, &t, pc, &n_below);
	if (status != CFI_OK)
		return status;
	if (n_below == 0)
		return CFI_NONE;
	return table_entry(source, t.at, n_below - 1, &at, &fde)
		       ? cfi_row_at(source, fde, pc, work, frame)
		       : CFI_BAD;
}

enum cfi_status cfi_extent(const struct cfi_source *source, uintptr_t pc, struct cfi_work *work,
			   uintptr_t *lo, uintptr_t *hi)
{
	struct table t;
	struct cfi_record record;
	struct cfi_cie cie;
	struct cfi_frame frame;
	uint64_t n_below;
	uintptr_t at, fde;
	*lo = 0;
	*hi = UINTPTR_MAX;
	if (open_table(source, &t) != CFI_OK || t.n == 0 ||
	    search_table(source, &t, pc, &n_below) != CFI_OK)
		return CFI_NONE;
	if (n_below < t.n && table_entry(source, t.at, n_below, &at, &fde))
		*hi = at;
	if (n_below == 0 || !table_entry(source, t.at, n_below - 1, &at, &fde) ||
	    cfi_record(source, fde, work->fde_copy, &record) != CFI_OK ||
	    cfi_fde(source, work->cie_copy, &record, &cie, &frame) != CFI_OK)
		return CFI_NONE;
	*lo = pc < frame.pc_hi ? frame.pc_lo : frame.pc_hi;
	*hi = pc < frame.pc_hi ? frame.pc_hi : *hi;
	return pc < frame.pc_hi ? CFI_OK : CFI_NONE;
}
