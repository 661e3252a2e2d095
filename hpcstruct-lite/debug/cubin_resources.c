/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resources of GPU functions. They are in the notes of a cubin, .nv.info (for all functions) and
 * .nv.info.<kernel>. These have records {format, attribute, value or size}, each with a payload.
 * The size of shared memory is that of .nv.shared.<kernel>. Older cubins have registers in the
 * header of the code's section. Implausible values are left out. Test:
 * tests/cli/struct/struct_cubin.sh, tests/fuzz/fuzz_cubin.c.
 */
#include "hpcstruct-lite/debug/cubin_internal.h"

#include "common/base/cursor.h"

#include <elf.h>
#include <string.h>

/* Formats: where the value is. */
enum { VALUE_NONE = 1, VALUE_BYTE = 2, VALUE_HALF = 3, VALUE_SIZED = 4 };

/* Attributes (EIATTR_*). */
enum {
	MAX_THREADS = 0x05,     /* of each dimension */
	FRAME_SIZE = 0x11,      /* {symbol, bytes}, as all of .nv.info */
	MIN_STACK_SIZE = 0x12,
	PARAMETER_BYTES = 0x19,
	REGISTERS = 0x2f,
	BARRIERS = 0x4c
};

#define MOST_THREADS 1025u /* more than any dimension has */
#define RESERVED_SHARED_BYTES 1024u

/* One record. */
struct note {
	uint8_t attribute;
	uint32_t value;        /* of VALUE_BYTE and VALUE_HALF */
	struct cursor payload; /* of VALUE_SIZED */
};

static bool next_note(struct cursor *c, struct note *n)
{
	if (cursor_left(c) < 4)
		return false;
	uint8_t format = cursor_u8(c);
	n->attribute = cursor_u8(c);
	n->value = cursor_u16(c);
	n->payload = cursor_sub(c, format == VALUE_SIZED ? n->value : 0);
	if (format == VALUE_BYTE)
		n->value &= 0xff;
	return cursor_ok(c) && format >= VALUE_NONE && format <= VALUE_SIZED;
}

/* Returns the resources of the function that a symbol names, or NULL. */
static struct debug_resources *of_symbol(const struct image *image, struct cubin_functions *f,
					 const struct image_section *notes, uint32_t index)
{
	Elf64_Sym s;
	const struct image_section *table = image_linked_symbols(image, notes);
	if (!table || !table->bytes || index >= table->n_bytes / sizeof s)
		return NULL;
	memcpy(&s, table->bytes + index * sizeof s, sizeof s);
	uint32_t section = image_symbol_section(image, table, index, s.st_shndx);
	if (section == 0 || section >= image->sections.n)
		return NULL;
	struct cubin_function *function =
		cubin_function_from(f, image->sections.at[section].link_addr + s.st_value);
	return function ? &function->resources : NULL;
}

static void read_global(const struct image *image, struct cubin_functions *f,
			const struct image_section *notes)
{
	struct cursor c = cursor_make(notes->bytes, notes->n_bytes);
	for (struct note n; next_note(&c, &n);) {
		bool wanted = n.attribute == REGISTERS || n.attribute == FRAME_SIZE ||
			      n.attribute == MIN_STACK_SIZE;
		uint32_t symbol = cursor_u32(&n.payload), value = cursor_u32(&n.payload);
		struct debug_resources *r =
			wanted && cursor_ok(&n.payload) ? of_symbol(image, f, notes, symbol) : NULL;
		if (!r)
			continue;
		if (n.attribute == REGISTERS)
			r->registers = value;
		else if (n.attribute == FRAME_SIZE)
			r->frame_bytes = value;
		else if (value != UINT32_MAX)
			r->stack_bytes = value;
	}
}

/* Returns the resources of the function at the start of a section of code, or NULL. */
static struct debug_resources *of_section(const struct image *image, struct cubin_functions *f,
					  uint32_t section)
{
	if (section == 0 || section >= image->sections.n ||
	    !(image->sections.at[section].flags & SHF_EXECINSTR))
		return NULL;
	struct cubin_function *function =
		cubin_function_from(f, image->sections.at[section].link_addr);
	return function ? &function->resources : NULL;
}

static void read_own(struct debug_resources *r, const struct image_section *notes)
{
	struct cursor c = cursor_make(notes->bytes, notes->n_bytes);
	for (struct note n; next_note(&c, &n);) {
		if (n.attribute == PARAMETER_BYTES) {
			r->parameter_bytes = n.value;
		} else if (n.attribute == BARRIERS) {
			r->barriers = (uint16_t)n.value;
		} else if (n.attribute == MAX_THREADS) {
			uint64_t x = cursor_u32(&n.payload), y = cursor_u32(&n.payload),
				 z = cursor_u32(&n.payload);
			if (cursor_ok(&n.payload) && x < MOST_THREADS && y < MOST_THREADS &&
			    z < MOST_THREADS)
				r->max_threads = (uint32_t)(x * y * z);
		}
	}
}

/*
 * Returns the static shared memory. Since sm_90, the section of a linked cubin (SHT_NOBITS) starts
 * with memory that the system reserves. The section .nv.shared.reserved.0 exists if this is so.
 */
static uint32_t shared_bytes(const struct image_section *s, bool has_reserved)
{
	uint64_t n_bytes = s->n_bytes;
	if (has_reserved && s->type == SHT_NOBITS)
		n_bytes = n_bytes > RESERVED_SHARED_BYTES ? n_bytes - RESERVED_SHARED_BYTES : 0;
	return n_bytes < UINT32_MAX ? (uint32_t)n_bytes : 0;
}

void cubin_read_resources(const struct image *image, struct cubin_functions *f)
{
	bool has_reserved = false;
	for (size_t i = 0; i < image->sections.n; i++) {
		struct debug_resources *r = of_section(image, f, (uint32_t)i);
		has_reserved = has_reserved ||
			       strcmp(image->sections.at[i].name, ".nv.shared.reserved.0") == 0;
		if (r)
			r->registers = image->sections.at[i].info >>
				       24; /* from older cubins; notes replace it */
	}
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		struct debug_resources *r;
		if (strcmp(s->name, ".nv.info") == 0 && s->bytes)
			read_global(image, f, s);
		else if (strncmp(s->name, ".nv.info.", 9) == 0 && s->bytes &&
			 (r = of_section(image, f, s->info)))
			read_own(r, s);
		else if (strncmp(s->name, ".nv.shared.", 11) == 0 &&
			 (r = of_section(image, f, s->info)))
			r->shared_bytes = shared_bytes(s, has_reserved);
	}
	for (size_t i = 0; i < f->functions.n; i++) {
		struct cubin_function *function = &f->functions.at[i];
		const struct debug_resources *r = &function->resources;
		if (r->is_kernel || r->registers || r->frame_bytes || r->stack_bytes ||
		    r->shared_bytes || r->barriers)
			function->resources.link_addr = function->start;
	}
}
