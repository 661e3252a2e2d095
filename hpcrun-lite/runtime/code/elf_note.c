/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the build id of a mapped object; see elf_note.h. Must not fault on any bytes. Tests:
 * tests/cli/run/run_modules.sh. */
#include "hpcrun-lite/runtime/code/elf_note.h"

#include "common/safe/load.h"

#include <elf.h>
#include <string.h>

#define NOTE_MAX_HEADERS 64u
#define NOTE_MAX_BYTES 4096u

static bool load(void *to, uintptr_t from, size_t n)
{
	return load_guarded(to, from, n) == n;
}

/* Searches one note segment. */
static bool search(uintptr_t at, uint64_t n, struct elf_note *note)
{
	uintptr_t end = at + (n < NOTE_MAX_BYTES ? n : NOTE_MAX_BYTES);
	while (at + sizeof(Elf64_Nhdr) <= end) {
		struct {
			Elf64_Nhdr head;
			char name[4];
		} found;
		if (!load(&found, at, sizeof found.head))
			return false;
		uintptr_t name = at + sizeof found.head;
		uintptr_t content = name + ((found.head.n_namesz + 3u) & ~3u);
		if (found.head.n_type == NT_GNU_BUILD_ID && found.head.n_namesz == 4 &&
		    found.head.n_descsz <= MSR_BUILD_ID_MAX && load(found.name, name, 4) &&
		    memcmp(found.name, "GNU", 4) == 0) {
			note->n_bytes = load(note->build_id, content, found.head.n_descsz)
						? found.head.n_descsz
						: 0;
			note->at = note->n_bytes ? content : 0;
			return true;
		}
		at = content + (((uint64_t)found.head.n_descsz + 3u) & ~UINT64_C(3));
	}
	return false;
}

void elf_note_find(uintptr_t start, uintptr_t bias, struct elf_note *note)
{
	Elf64_Ehdr header;
	memset(note, 0, sizeof *note);
	if (!load(&header, start, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0
	    || header.e_phentsize != sizeof(Elf64_Phdr))
		return;
	bool found = false;
	for (unsigned i = 0; i < header.e_phnum && i < NOTE_MAX_HEADERS; i++) {
		Elf64_Phdr p;
		if (!load(&p, start + header.e_phoff + i * sizeof p, sizeof p))
			return;
		if (p.p_type == PT_LOAD && p.p_vaddr + p.p_memsz > note->end)
			note->end = p.p_vaddr + p.p_memsz;
		if (p.p_type == PT_NOTE && !found)
			found = search(bias + p.p_vaddr, p.p_memsz, note);
	}
}
