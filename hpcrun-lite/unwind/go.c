/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Go's tables; see go.h. The table of a module is searched for once. The Go linker's note says that
 * there is one, and its header is found by a search. All bytes are foreign: every read is bounded
 * by the segment, and guarded unless the module is certainly mapped. Must not allocate or lock.
 * Test: tests/unit/unwind/test_unwind_go.c.
 */
#include "hpcrun-lite/unwind/go.h"

#include "common/safe/load.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>

enum {
	HEADER_BYTES = 72,
	MAGIC_1_18 = 0xfffffff0,
	MAGIC_1_20 = 0xfffffff1,
	/* in the function table: u32 distance from text, u32 offset of its struct _func */
	ENTRY_BYTES = 8,
	FUNC_PC_VALUES = 16, /* in struct _func: u32, the start of the row of sp deltas */
	FUNC_ID_1_18 = 36,   /* u8 funcID, u8 flag */
	FUNC_ID_1_20 = 40,   /* startLine was added before it */
	FUNC_BYTES_MAX = 44,
	FLAG_TOP = 1,      /* it has no caller */
	FLAG_SP_WRITE = 2, /* it loads sp from elsewhere */
	N_FUNCTIONS_MAX = 1 << 24,
	VALUE_BYTES_MAX = 65536, /* of one function's row */
	CHUNK = 256,
	NAME_BYTES = 32,
};

static bool load(const struct go_table *t, uint64_t offset, void *to, size_t n)
{
	if (offset >= t->hi - t->at || n > t->hi - t->at - offset)
		return false;
	if (!t->is_mapped)
		return load_guarded(to, t->at + offset, n) == n;
	memcpy(to, (const void *)(t->at + offset), n);
	return true;
}

/* Reads the i-th entry of the function table. The entry after the last one has only a place. */
static bool entry(const struct go_table *t, uint64_t i, uint32_t *place, uint32_t *function)
{
	uint32_t e[2] = {0, 0};
	if (!load(t, t->functions + i * ENTRY_BYTES, e,
		  i < t->n_functions ? ENTRY_BYTES : ENTRY_BYTES / 2))
		return false;
	*place = e[0];
	*function = e[1];
	return true;
}

bool go_table_at(uintptr_t at, uintptr_t hi, uintptr_t text_lo, uintptr_t text_hi,
		 struct go_table *t)
{
	struct {
		uint32_t magic;
		uint8_t zero[2], quantum, pointer_bytes;
		uint64_t n_functions, n_files, text, names, units, files, pc_values, functions;
	} h;
	_Static_assert(sizeof h == HEADER_BYTES, "struct pcHeader");
	uint32_t first, last, unused;
	if (at >= hi || hi - at < sizeof h || load_guarded(&h, at, sizeof h) != sizeof h)
		return false;
	const uint64_t n_bytes = hi - at;
	if ((h.magic != MAGIC_1_18 && h.magic != MAGIC_1_20) || h.zero[0] || h.zero[1] ||
	    h.quantum != 1 || h.pointer_bytes != 8 || h.n_functions == 0 ||
	    h.n_functions > N_FUNCTIONS_MAX || h.names >= n_bytes || h.pc_values >= n_bytes ||
	    h.functions >= n_bytes || h.text < text_lo || h.text >= text_hi)
		return false;
	*t = (struct go_table){.at = at,
			       .hi = hi,
			       .text = h.text,
			       .n_functions = h.n_functions,
			       .names = h.names,
			       .pc_values = h.pc_values,
			       .functions = h.functions,
			       .id_offset = h.magic == MAGIC_1_18 ? FUNC_ID_1_18 : FUNC_ID_1_20};
	return entry(t, 0, &first, &unused) && entry(t, t->n_functions, &last, &unused) &&
	       first < last && last <= text_hi - h.text;
}

/* Reads a number with 7 bits per byte. Returns false if it is incomplete. */
static bool number(const uint8_t *bytes, size_t n_bytes, size_t *at, uint32_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 35 && *at < n_bytes; shift += 7) {
		const uint8_t b = bytes[(*at)++];
		*value |= (uint32_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return true;
	}
	return false;
}

/*
 * Does the same as runtime.pcvalue. The row has pairs: a zigzag step of the value, and a step of
 * the place where that value ends.
 */
static bool sp_delta_at(const struct go_table *t, uint64_t offset, uint64_t distance,
			int64_t *delta)
{
	uint8_t chunk[CHUNK];
	size_t at = 0, n = 0;
	uint64_t done = 0, place = 0;
	int64_t value = -1;
	for (bool first = true; done < VALUE_BYTES_MAX; first = false) {
		uint32_t step, length;
		if (n - at < 10) { /* two numbers of five bytes */
			const uint64_t from = t->pc_values + offset + done;
			if (from >= t->hi - t->at)
				return false;
			n = t->hi - t->at - from < CHUNK ? t->hi - t->at - from : CHUNK;
			if (!load(t, from, chunk, n))
				return false;
			at = 0;
		}
		const size_t before = at;
		if (!number(chunk, n, &at, &step) || (step == 0 && !first) ||
		    !number(chunk, n, &at, &length))
			return false;
		done += at - before;
		value += (int32_t)(step >> 1 ^ (0 - (step & 1)));
		place += length;
		if (distance < place) {
			*delta = value;
			return value >= 0;
		}
	}
	return false;
}

/* Compares names, because the numbers of these functions differ between versions. */
static enum go_kind kind_by_name(const struct go_table *t, uint32_t name_offset, enum go_kind other)
{
	static const struct {
		const char *name;
		enum go_kind kind;
	} special[] = {
		{"runtime.asmcgocall", GO_ASMCGOCALL},    {"runtime.systemstack", GO_SYSTEMSTACK},
		{"runtime.morestack", GO_MORESTACK},      {"runtime.mcall", GO_ROOT},
		{"runtime.asyncPreempt", GO_INTERRUPTED}, {"runtime.sigpanic", GO_INTERRUPTED},
	};
	char name[NAME_BYTES];
	if (!load(t, t->names + name_offset, name, sizeof name))
		return other;
	for (size_t i = 0; i < sizeof special / sizeof *special; i++)
		if (strncmp(name, special[i].name, sizeof name) == 0)
			return special[i].kind;
	return other;
}

/* Binary search for the last entry that is not above pc. */
static bool search(const struct go_table *t, uint64_t distance, struct go_function *f,
		   uint32_t *function)
{
	uint64_t lo = 0, hi = t->n_functions;
	uint32_t place, end, unused;
	while (hi - lo > 1) {
		const uint64_t middle = lo + (hi - lo) / 2;
		if (!entry(t, middle, &place, &unused))
			return false;
		if (place <= distance)
			lo = middle;
		else
			hi = middle;
	}
	if (!entry(t, lo, &place, function) || !entry(t, lo + 1, &end, &unused) ||
	    distance < place || distance >= end)
		return false;
	f->lo = t->text + place;
	f->hi = t->text + end;
	return true;
}

bool go_find(const struct go_table *t, uintptr_t pc, struct go_function *f)
{
	uint8_t func[FUNC_BYTES_MAX];
	uint32_t at, name, values;
	if (pc < t->text || !search(t, pc - t->text, f, &at) ||
	    !load(t, t->functions + at, func, sizeof func))
		return false;
	memcpy(&name, func + 4, sizeof name);
	memcpy(&values, func + FUNC_PC_VALUES, sizeof values);
	const uint8_t flags = func[t->id_offset + 1];
	f->sp_delta = 0;
	f->kind = flags & FLAG_TOP
			  ? GO_ROOT
			  : kind_by_name(t, name, flags & FLAG_SP_WRITE ? GO_UNKNOWN : GO_FRAME);
	if (f->kind != GO_FRAME && f->kind != GO_INTERRUPTED)
		return true;
	if (values == 0 || !sp_delta_at(t, values, pc - f->lo, &f->sp_delta))
		f->kind = GO_UNKNOWN; /* no row: C code that the linker lists with Go's functions */
	return true;
}

/* ---- the table of a module ---- */

enum { MODULES_MAX = 8, ALIGNMENT = 32, PAGE = MACHINE_LEAST_PAGE };

/* Written once, by the thread that claims the entry. Go's libraries are never unloaded. */
static struct {
	_Atomic uintptr_t link_map; /* 0: free; with bit 0: being written */
	struct go_table table;
} modules[MODULES_MAX];

/* The Go linker's note is named "Go" with two NULs; no other note begins like that. */
static bool is_go_note(const struct image *image, uintptr_t at, uint64_t n_bytes)
{
	struct {
		uint32_t name_bytes, content_bytes, type;
		char name[4];
	} note;
	if (!image_holds(image, at, n_bytes))
		return false;
	for (uint64_t i = 0; n_bytes >= sizeof note && i <= n_bytes - sizeof note;) {
		memcpy(&note, (const void *)(at + i), sizeof note);
		if (note.name_bytes == 4 && memcmp(note.name, "Go\0", 4) == 0)
			return true;
		i += 12 + (((uint64_t)note.name_bytes + 3) & ~UINT64_C(3)) +
		     (((uint64_t)note.content_bytes + 3) & ~UINT64_C(3));
	}
	return false;
}

static bool search_segment(const struct image *image, uintptr_t lo, uintptr_t hi,
			   struct go_table *table)
{
	for (uintptr_t at = (lo + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
	     at < hi && hi - at >= HEADER_BYTES; at += ALIGNMENT) {
		uint32_t magic;
		memcpy(&magic, (const void *)at, sizeof magic);
		if ((magic == MAGIC_1_18 || magic == MAGIC_1_20) &&
		    go_table_at(at, hi, image->text_lo, image->text_hi, table))
			return true;
	}
	return false;
}

static bool is_go(const struct image *image)
{
	const Elf64_Ehdr *e = image->header;
	const Elf64_Phdr *p = (const Elf64_Phdr *)((const char *)e + e->e_phoff);
	for (unsigned i = 0; i < e->e_phnum; i++)
		if (p[i].p_type == PT_NOTE && p[i].p_memsz < PAGE &&
		    is_go_note(image, image->bias + p[i].p_vaddr, p[i].p_memsz))
			return true;
	return false;
}

/*
 * Searches the segments without code: read-only ones, and those made read-only after relocation
 * (PIE).
 */
static bool find_table(const struct image *image, struct go_table *table)
{
	const Elf64_Ehdr *e = image->header;
	const Elf64_Phdr *p = (const Elf64_Phdr *)((const char *)e + e->e_phoff);
	for (unsigned i = 0; i < e->e_phnum; i++) {
		const uintptr_t lo = image->bias + p[i].p_vaddr, hi = lo + p[i].p_filesz;
		if (p[i].p_type == PT_LOAD && (p[i].p_flags & (PF_R | PF_X)) == PF_R && lo < hi &&
		    lo >= image->cfi.map_lo && hi <= image->cfi.map_hi &&
		    search_segment(image, lo, hi, table))
			return true;
	}
	return false;
}

static const struct go_table *table_of(const struct image *image)
{
	const uintptr_t key = (uintptr_t)image->object.dlfo_link_map;
	struct go_table found;
	uintptr_t none = 0;
	for (unsigned i = 0; i < MODULES_MAX;
	     i++) /* acquire: the table was written before its key */
		if (atomic_load_explicit(&modules[i].link_map, memory_order_acquire) == key)
			return &modules[i].table;
	if (!image->header || image->text_hi == 0 || !is_go(image))
		return NULL;
	if (!find_table(image, &found))
		found = (struct go_table){
			0}; /* an unknown version: do not search again */
	for (unsigned i = 0; i < MODULES_MAX; i++, none = 0)
		if (atomic_compare_exchange_strong_explicit(&modules[i].link_map, &none, key | 1,
							    memory_order_relaxed,
							    memory_order_relaxed)) {
			modules[i].table = found;
			atomic_store_explicit(&modules[i].link_map, key, memory_order_release);
			return &modules[i].table;
		}
	return NULL;
}

bool unwind_is_go(uintptr_t pc)
{
	struct image image;
	return image_find(pc, false, &image) && image.header && is_go(&image);
}

bool go_lookup(const struct image *image, uintptr_t pc, struct go_function *function)
{
	const struct go_table *table = table_of(image);
	if (!table || table->n_functions == 0)
		return false;
	struct go_table here = *table;
	here.is_mapped = image_holds(image, here.at, here.hi - here.at);
	return go_find(&here, pc, function);
}
