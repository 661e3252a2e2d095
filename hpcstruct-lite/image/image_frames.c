/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranges that .eh_frame describes (LSB Core, Exception Frames; DWARF 5, 6.4.1). Reads only the
 * start and end of each entry. Test: tests/cli/struct/struct_golden.sh,
 * tests/cli/struct/struct_damage.sh.
 */
#include "hpcstruct-lite/image/image.h"

#include "common/base/cursor.h"
#include "common/base/log.h"

#include <string.h>

enum {
	PE_ABSPTR = 0x00,
	PE_ULEB = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_PCREL = 0x10,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff
};

/* Reads a value in one of the DW_EH_PE_* formats, without its base. */
static uint64_t read_value(struct cursor *c, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return cursor_u64(c);
	case PE_ULEB:
		return cursor_uleb(c);
	case PE_SLEB:
		return (uint64_t)cursor_sleb(c);
	case PE_UDATA2:
		return cursor_u16(c);
	case PE_SDATA2:
		return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	case PE_UDATA4:
		return cursor_u32(c);
	case PE_SDATA4:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	default:
		c->failed = true;
		return 0;
	}
}

/*
 * Returns the pointer encoding of the frame entries that use the common entry at `offset`; PE_OMIT
 * if the entry cannot be read.
 */
static uint8_t common_encoding(const struct image_section *s, uint64_t offset)
{
	struct cursor c = cursor_make(s->bytes, s->n_bytes);
	cursor_seek(&c, offset);
	struct cursor e = cursor_sub(&c, cursor_u32(&c));
	if (cursor_u32(&e) != 0)
		return PE_OMIT;
	cursor_u8(&e); /* version */
	const char *augmentation = cursor_string(&e);
	cursor_uleb(&e);
	cursor_sleb(&e);
	cursor_uleb(&e); /* version 1 has one byte here, which reads the same */
	if (augmentation[0] != 'z')
		return cursor_ok(&e) ? PE_ABSPTR : PE_OMIT;
	cursor_uleb(&e);
	uint8_t encoding = PE_ABSPTR;
	for (const char *a = augmentation + 1; *a && cursor_ok(&e); a++) {
		if (*a == 'R')
			encoding = cursor_u8(&e);
		else if (*a == 'L')
			cursor_u8(&e);
		else if (*a == 'P')
			read_value(&e, cursor_u8(&e));
	}
	return cursor_ok(&e) ? encoding : PE_OMIT;
}

static bool add_entry(const struct image *image, const struct image_section *s, struct cursor *e,
		      uint8_t encoding, struct image_ranges *out)
{
	uint64_t here = s->link_addr + (uint64_t)(e->at - s->bytes);
	uint64_t start = read_value(e, encoding), n_bytes = read_value(e, encoding & 0x0f);
	if ((encoding & 0x70) == PE_PCREL)
		start += here;
	else if ((encoding & 0x70) != 0 || (encoding & PE_INDIRECT))
		return true;
	if (!cursor_ok(e) || n_bytes == 0 || start + n_bytes < start ||
	    !image_is_code(image, start))
		return true;
	struct image_range *r = vec_push(out);
	if (r)
		*r = (struct image_range){start, start + n_bytes};
	return r != NULL;
}

enum status image_read_frames(const struct image *image, struct image_ranges *out)
{
	const struct image_section *s = image_find(image, ".eh_frame");
	if (!s)
		return STATUS_OK;
	struct cursor c = cursor_make(s->bytes, s->n_bytes);
	uint64_t last_common = UINT64_MAX;
	uint8_t encoding = PE_OMIT;
	while (cursor_left(&c) >= 4) {
		uint64_t at = cursor_offset(&c);
		uint32_t n_bytes = cursor_u32(&c);
		if (n_bytes == 0)
			continue; /* the terminator; linkers put it between the parts they join, too
				   */
		struct cursor e = cursor_sub(&c, n_bytes);
		uint64_t id_at = at + 4;
		uint32_t id = cursor_u32(&e);
		if (!cursor_ok(&e) || n_bytes == UINT32_MAX) {
			log_warn(image->path, "section .eh_frame is damaged at offset 0x%llx",
				 (unsigned long long)at);
			break;
		}
		if (id == 0 || id > id_at)
			continue;
		if (id_at - id != last_common) {
			last_common = id_at - id;
			encoding = common_encoding(s, last_common);
		}
		if (encoding != PE_OMIT && !add_entry(image, s, &e, encoding, out)) {
			log_error(image->path, "out of memory");
			return STATUS_NO_MEMORY;
		}
	}
	return STATUS_OK;
}
