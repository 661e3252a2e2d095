/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loaded objects; see unwind_image.h. Expects the program headers in the first page of the mapping,
 * where every linker puts them. If a tool moved them (patchelf), nothing is read directly. Must not
 * call dl_iterate_phdr. Test: tests/unit/unwind/test_unwind_odd.c.
 */
#include "hpcrun-lite/unwind/unwind_image.h"

#include "common/safe/find_object.h"
#include "common/safe/sys.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

enum { HEADERS_MOST = MACHINE_LEAST_PAGE };

static bool headers_are_sound(const Elf64_Ehdr *e)
{
	return memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 && e->e_ident[EI_CLASS] == ELFCLASS64 &&
	       e->e_phentsize == sizeof(Elf64_Phdr) && e->e_phoff >= sizeof *e &&
	       e->e_phoff <= HEADERS_MOST && e->e_phoff % _Alignof(Elf64_Phdr) == 0 &&
	       e->e_phnum <= (HEADERS_MOST - e->e_phoff) / sizeof(Elf64_Phdr);
}

/*
 * Returns the ELF header, or NULL. For an executable with gaps between its segments (not PIE, like
 * node and ptxas), glibc returns one segment at a time. Then the header or the CFI may be
 * in another segment, and the object's range covers all of them.
 */
static const Elf64_Ehdr *header_of(struct image *image)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)image->object.dlfo_map_start;
	const bool is_program = image->object.dlfo_link_map->l_name[0] == '\0';
	/* The vDSO of aarch64 is smaller than a page. */
	if (machine_page_ceiling(image->cfi.map_hi) - image->cfi.map_lo < HEADERS_MOST ||
	    !headers_are_sound(e)) {
		e = (const Elf64_Ehdr *)(getauxval(AT_PHDR) - sizeof *e);
		if (!is_program || (uintptr_t)e % HEADERS_MOST != 0 || !headers_are_sound(e))
			return NULL;
	}
	const Elf64_Phdr *p = (const Elf64_Phdr *)((const char *)e + e->e_phoff);
	for (unsigned i = 0; i < e->e_phnum && is_program; i++) {
		const uintptr_t lo = image->bias + p[i].p_vaddr, hi = lo + p[i].p_memsz;
		if (p[i].p_type != PT_LOAD)
			continue;
		image->cfi.map_lo = lo < image->cfi.map_lo ? lo : image->cfi.map_lo;
		image->cfi.map_hi = hi > image->cfi.map_hi ? hi : image->cfi.map_hi;
	}
	return e;
}

/* Finds the readable segment that contains [at, at + n) in its part from the file. */
static bool find_segment(const struct image *image, uintptr_t at, size_t n, uintptr_t *from,
			 uintptr_t *to)
{
	const Elf64_Ehdr *e = image->header;
	const Elf64_Phdr *p = (const Elf64_Phdr *)((const char *)e + e->e_phoff);
	for (unsigned i = 0; i < e->e_phnum; i++) {
		const uintptr_t lo = image->bias + p[i].p_vaddr, hi = lo + p[i].p_filesz;
		if (p[i].p_type == PT_LOAD && (p[i].p_flags & PF_R) && lo >= image->cfi.map_lo &&
		    hi <= image->cfi.map_hi && at >= lo && at < hi && n <= hi - at) {
			*from = lo;
			*to = hi;
			return true;
		}
	}
	return false;
}

bool image_holds(const struct image *image, uintptr_t address, size_t n_bytes)
{
	uintptr_t lo, hi;
	return image->has_segments && find_segment(image, address, n_bytes, &lo, &hi);
}

/*
 * Finds .eh_frame, which some programs (ptxas) have in another segment than its header. All linkers
 * put its address first in the header.
 */
static void find_eh_frame(struct image *image)
{
	enum { HEAD_BYTES = 8, PCREL_SDATA4 = 0x1b };
	struct cfi_source *cfi = &image->cfi;
	const uint8_t *hdr = (const uint8_t *)cfi->hdr;
	int32_t distance;
	if (cfi->hi - cfi->lo < HEAD_BYTES || cfi->hdr > cfi->hi - HEAD_BYTES ||
	    hdr[1] != PCREL_SDATA4)
		return;
	memcpy(&distance, hdr + 4, sizeof distance);
	const uintptr_t at = cfi->hdr + 4 + (uintptr_t)(intptr_t)distance;
	if (at < cfi->lo || at >= cfi->hi)
		find_segment(image, at, 1, &cfi->frames_lo, &cfi->frames_hi);
}

/*
 * Returns false if pc is between the segments. The kernel may put another mapping there, such as
 * generated code: the loader of glibc 2.35 (Ubuntu 22.04) has a hole of one page, which the first
 * mapping of one page fills.
 */
static bool read_segments(struct image *image, uintptr_t pc)
{
	const Elf64_Ehdr *e = header_of(image);
	if (!e)
		return true;
	image->header = e;
	bool is_inside = false;
	const uintptr_t map_lo = image->cfi.map_lo;
	image->has_segments = true;
	const Elf64_Phdr *p = (const Elf64_Phdr *)((const char *)e + e->e_phoff);
	for (unsigned i = 0; i < e->e_phnum; i++) {
		const uintptr_t lo = image->bias + p[i].p_vaddr, hi = lo + p[i].p_filesz;
		if (p[i].p_type == PT_LOAD && pc >= machine_page_floor(lo) &&
		    pc < machine_page_ceiling(lo + p[i].p_memsz))
			is_inside = true;
		if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_R) || lo < map_lo ||
		    hi > image->cfi.map_hi || lo >= hi)
			continue;
		if (image->cfi.hdr >= lo && image->cfi.hdr < hi) {
			image->cfi.lo = lo;
			image->cfi.hi = hi;
		}
		if ((p[i].p_flags & PF_X) && pc >= lo && pc < hi) {
			image->text_lo = lo;
			image->text_hi = hi;
		}
	}
	find_eh_frame(image);
	return is_inside;
}

bool image_find(uintptr_t pc, bool guarded, struct image *image)
{
	memset(image, 0, sizeof *image);
	const int found = find_object((void *)pc, &image->object);
	image->moves = found == FIND_OBJECT_MOVES;
	if (found != 0)
		return false;
	image->bias = image->object.dlfo_link_map->l_addr;
	image->cfi.map_lo = (uintptr_t)image->object.dlfo_map_start;
	image->cfi.map_hi = (uintptr_t)image->object.dlfo_map_end;
	image->cfi.hdr = (uintptr_t)image->object.dlfo_eh_frame;
	if (guarded || read_segments(image, pc))
		return true;
	memset(image, 0, sizeof *image);
	return false;
}
