/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damages a file as an attacker would: with knowledge of its format, and with the check values made
 * right again, so that it gets past them. Always the same damage for the same seed.
 *
 *	mutate KIND SEED IN OUT
 *
 * KIND: measurement, structure, recording, elf, unwind (the unwind tables of an ELF file alone),
 *text (harmful characters in all names of a measurement or structure), any. Used by the scripts
 *beside it.
 */
#include "common/format/measurement.h"
#include "common/format/recording.h"
#include "common/format/structure_layout.h"
#include "tests/fuzz/mutate.h"

#include <elf.h>
#include <stdarg.h>

struct file {
	uint8_t *at;
	size_t n, room;
	uint64_t seed; /* state of the generator */
};

struct span {
	size_t at, n;
};
struct spans {
	struct span *list;
	size_t n;
};

static uint64_t draw(struct file *f, uint64_t n)
{
	return n ? (mutate_random(&f->seed) >> 16) % n : 0;
}

static bool chance(struct file *f, unsigned percent)
{
	return draw(f, 100) < percent;
}

static void grow(struct file *f, size_t n)
{
	if (n > f->room) {
		f->room = n * 2;
		f->at = realloc(f->at, f->room);
		if (!f->at)
			exit(99);
	}
	if (n > f->n)
		memset(f->at + f->n, 0, n - f->n);
	f->n = n;
}

/* A number that readers find hard, or one near to what is there. */
static uint64_t odd_number(struct file *f, uint64_t now)
{
	static const uint64_t odd[] = {0,
				       1,
				       2,
				       7,
				       8,
				       15,
				       16,
				       0x3f,
				       0x40,
				       0x7f,
				       0x80,
				       0xff,
				       0x100,
				       0x7fff,
				       0x8000,
				       0xffff,
				       0x10000,
				       0x7fffffff,
				       0x80000000,
				       0xffffffff,
				       UINT64_C(1) << 32,
				       UINT64_C(1) << 40,
				       UINT64_C(1) << 47,
				       UINT64_C(1) << 48,
				       (UINT64_C(1) << 58) - 1,
				       UINT64_C(1) << 58,
				       (UINT64_C(1) << 58) + 1,
				       INT64_MAX,
				       UINT64_C(1) << 63,
				       UINT64_MAX};
	switch (draw(f, 6)) {
	case 0: return mutate_random(&f->seed);
	case 1: return now + 1 + draw(f, 16);
	case 2: return now - 1 - draw(f, 16);
	case 3: return chance(f, 50) ? now * 2 : f->n - draw(f, 2);
	default: return odd[draw(f, sizeof odd / sizeof *odd)];
	}
}

static void change_number(struct file *f, size_t at, size_t size)
{
	uint64_t now = 0;
	if (at + size > f->n)
		return;
	memcpy(&now, f->at + at, size);
	now = odd_number(f, now);
	memcpy(f->at + at, &now, size);
}

static void change_anywhere(struct file *f, size_t low, size_t high)
{
	size_t size = (size_t)1 << draw(f, 4);
	if (high > f->n)
		high = f->n;
	if (low >= high)
		return;
	size_t at = low + draw(f, high - low);
	if (chance(f, 75))
		at -= (at - low) % size;
	if (chance(f, 15))
		f->at[at] ^= (uint8_t)(1u << draw(f, 8));
	else
		change_number(f, at, size);
}

static void change_layout(struct file *f)
{
	size_t n = (size_t)64 << draw(f, 7), at = f->n ? draw(f, f->n) & ~(size_t)7 : 0;
	if (n > f->n - at)
		n = f->n - at;
	switch (draw(f, 4)) {
	case 0: /* cut */
		f->n = at;
		break;
	case 1: /* zeros */
		memset(f->at + at, 0, n);
		break;
	case 2: { /* bytes from elsewhere */
		size_t from = draw(f, f->n);
		memmove(f->at + at, f->at + from, n < f->n - from ? n : f->n - from);
		break;
	}
	default: /* a longer file */
		grow(f, f->n + n * 16);
	}
}

static void add_span(struct spans *s, size_t at, size_t n)
{
	s->list = realloc(s->list, (s->n + 1) * sizeof *s->list);
	if (!s->list)
		exit(99);
	s->list[s->n++] = (struct span){at, n};
}

/* ---- measurement files ---- */

static struct spans find_extents(const struct file *f)
{
	struct spans s = {0};
	for (size_t at = MSR_HEADER_BYTES; at + sizeof(struct msr_extent) <= f->n;) {
		struct msr_extent e;
		memcpy(&e, f->at + at, sizeof e);
		bool sound = e.magic == MSR_EXTENT_MAGIC && e.length >= sizeof e &&
			     e.length % MSR_EXTENT_ALIGN == 0 && e.length <= f->n - at;
		if (sound)
			add_span(&s, at, e.length);
		at += sound ? e.length : MSR_EXTENT_ALIGN;
	}
	return s;
}

static void make_extent_right(struct file *f, size_t at)
{
	struct msr_extent e;
	memcpy(&e, f->at + at, sizeof e);
	e.check = msr_extent_check(&e);
	memcpy(f->at + at, &e, sizeof e);
}

static void change_extent_head(struct file *f, size_t at)
{
	static const struct span fields[] = {{4, 2},  {6, 2},  {8, 4},  {12, 4},
					     {16, 8}, {24, 8}, {32, 8}, {40, 8}};
	const struct span *field = &fields[draw(f, sizeof fields / sizeof *fields)];
	change_number(f, at + field->at, field->n);
	if (field->at == 4 && chance(f, 60)) { /* a kind that there is */
		uint16_t kind = (uint16_t)draw(f, 30);
		memcpy(f->at + at + 4, &kind, sizeof kind);
	}
	if (chance(f, 90))
		make_extent_right(f, at);
}

/* A second extent of the kind, for the same or another thread. */
static void double_extent(struct file *f, struct span extent)
{
	size_t at = (f->n + MSR_EXTENT_ALIGN - 1) & ~(size_t)(MSR_EXTENT_ALIGN - 1);
	grow(f, at + extent.n);
	memcpy(f->at + at, f->at + extent.at, extent.n);
	if (chance(f, 60))
		change_number(f, at + (chance(f, 50) ? 8 : 12), 4);
	if (chance(f, 30))
		change_number(f, at + 16, 8);
	make_extent_right(f, at);
	uint64_t allocated = f->n;
	memcpy(f->at + offsetof(struct msr_header, allocated), &allocated, sizeof allocated);
}

static void mutate_measurement(struct file *f)
{
	struct spans s = find_extents(f);
	unsigned what = (unsigned)draw(f, 100);
	if (what < 10 || !s.n || f->n < MSR_HEADER_BYTES) {
		change_anywhere(f, 0, 700);
	} else if (what < 20) {
		change_layout(f);
	} else {
		struct span e = s.list[draw(f, s.n)];
		if (what < 60)
			change_anywhere(f, e.at + sizeof(struct msr_extent), e.at + e.n);
		else if (what < 85)
			change_extent_head(f, e.at);
		else
			double_extent(f, e);
	}
	free(s.list);
}

/* ---- structure files ---- */

static void make_structure_right(struct file *f)
{
	struct structure_header h;
	if (f->n < sizeof h)
		return;
	memcpy(&h, f->at, sizeof h);
	h.file_bytes = f->n;
	memcpy(f->at, &h, sizeof h);
	h.check = structure_check_file(f->at, f->n);
	memcpy(f->at, &h, sizeof h);
}

static void mutate_structure(struct file *f)
{
	struct structure_header h;
	if (f->n < sizeof h)
		return;
	memcpy(&h, f->at, sizeof h);
	size_t tables = h.header_bytes, n = h.n_sections < 20 ? h.n_sections : 20;
	unsigned what = (unsigned)draw(f, 100);
	if (what < 6 || !n || tables + n * sizeof(struct structure_section) > f->n) {
		change_anywhere(f, 0, 200);
	} else if (what < 14) {
		change_anywhere(f, tables, tables + n * sizeof(struct structure_section));
	} else if (what < 18) {
		change_layout(f);
	} else {
		struct structure_section section;
		memcpy(&section, f->at + tables + draw(f, n) * sizeof section, sizeof section);
		if (section.offset <= f->n && section.n_bytes <= f->n - section.offset)
			change_anywhere(f, section.offset, section.offset + section.n_bytes);
	}
}

/* ---- recordings ---- */

static void change_event(struct file *f, size_t low, size_t high)
{
	struct spans s = {0};
	struct recording_event e;
	for (size_t at = low; at + sizeof e <= high; at += e.bytes) {
		memcpy(&e, f->at + at, sizeof e);
		if (e.bytes < sizeof e || e.bytes % 8 || e.bytes > high - at)
			break;
		add_span(&s, at, e.bytes);
	}
	if (s.n) {
		struct span one = s.list[draw(f, s.n)], other = s.list[draw(f, s.n)];
		switch (draw(f, 8)) {
		case 0:
			memmove(f->at + one.at, f->at + other.at,
				one.n < other.n ? one.n : other.n);
			break;
		case 1:
			f->at[one.at + offsetof(struct recording_event, type)] =
				(uint8_t)draw(f, 9);
			break;
		case 2:
			f->at[one.at + offsetof(struct recording_event, what)] =
				(uint8_t)draw(f, 40);
			break;
		default: change_anywhere(f, one.at, one.at + one.n);
		}
	}
	free(s.list);
}

static void mutate_recording(struct file *f)
{
	struct spans s = {0};
	struct recording_chunk c;
	for (size_t at = RECORDING_HEADER_BYTES; at + sizeof c <= f->n;) {
		memcpy(&c, f->at + at, sizeof c);
		bool sound = c.magic == RECORDING_CHUNK_MAGIC && c.length >= sizeof c &&
			     c.length % RECORDING_CHUNK_ALIGN == 0 && c.length <= f->n - at &&
			     c.used <= c.length - sizeof c;
		if (sound)
			add_span(&s, at, sizeof c + c.used);
		at += sound ? c.length : RECORDING_CHUNK_ALIGN;
	}
	unsigned what = (unsigned)draw(f, 100);
	if (what < 10 || !s.n)
		change_anywhere(f, 0, 740);
	else if (what < 18)
		change_layout(f);
	else {
		struct span chunk = s.list[draw(f, s.n)];
		if (what < 28)
			change_anywhere(f, chunk.at, chunk.at + sizeof c);
		else
			change_event(f, chunk.at + sizeof c, chunk.at + chunk.n);
	}
	free(s.list);
}

/* ---- ELF files ---- */

/* Sections with contents; with `prefix` only those whose name begins so. */
static struct spans find_sections(const struct file *f, const char *prefix)
{
	struct spans s = {0};
	Elf64_Ehdr h;
	Elf64_Shdr names = {0}, section;
	if (f->n < sizeof h)
		return s;
	memcpy(&h, f->at, sizeof h);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_shoff > f->n ||
	    h.e_shnum * sizeof section > f->n - h.e_shoff || h.e_shstrndx >= h.e_shnum)
		return s;
	memcpy(&names, f->at + h.e_shoff + h.e_shstrndx * sizeof names, sizeof names);
	for (unsigned i = 1; i < h.e_shnum; i++) {
		memcpy(&section, f->at + h.e_shoff + i * sizeof section, sizeof section);
		if (section.sh_type == SHT_NOBITS || !section.sh_size || section.sh_offset > f->n ||
		    section.sh_size > f->n - section.sh_offset)
			continue;
		uint64_t name = names.sh_offset + section.sh_name;
		if (prefix && (name > f->n || f->n - name <= strlen(prefix) ||
			       memcmp(f->at + name, prefix, strlen(prefix)) != 0))
			continue;
		add_span(&s, section.sh_offset, section.sh_size);
	}
	return s;
}

static void change_section(struct file *f, const char *prefix)
{
	struct spans s = find_sections(f, prefix);
	if (s.n) {
		struct span one = s.list[draw(f, s.n)];
		size_t n =
			chance(f, 50) && one.n > 64 ? 64 : one.n; /* heads of tables weigh more */
		change_anywhere(f, one.at, one.at + n);
	}
	free(s.list);
}

static void mutate_elf(struct file *f)
{
	Elf64_Ehdr h = {0};
	unsigned what = (unsigned)draw(f, 100);
	if (f->n >= sizeof h)
		memcpy(&h, f->at, sizeof h);
	if (what < 10)
		change_anywhere(f, 0, sizeof h);
	else if (what < 35 && h.e_shoff < f->n)
		change_anywhere(f, h.e_shoff, h.e_shoff + (size_t)h.e_shnum * sizeof(Elf64_Shdr));
	else if (what < 40)
		change_layout(f);
	else
		change_section(f, what < 75 ? ".debug" : NULL);
}

static void mutate_unwind(struct file *f)
{
	change_section(f, ".eh_frame");
}

static void mutate_any(struct file *f)
{
	if (chance(f, 10))
		change_layout(f);
	else
		change_anywhere(f, 0, f->n);
}

/* ---- text ---- */

/* In every second text, harmful characters in place of some of its bytes. Texts are runs that end
 * in NUL. */
static void mutate_text(struct file *f)
{
	static const char *const harmful[] = {
		"\x1b[31m", "\x1b]0;x\x07", "\r",           "\n",           "\t",
		"\xc2\x9b", "\x9b",         "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\xa8",
		"\xc0\x9b", "\x7f",         "\b",           "\xed\xa0\x80", "\xf3\xa0\x81\x81",
		"\xff",     "\xc3\xb6",     "\xe6\xbc\xa2"};
	for (size_t at = 8, begin = at; at < f->n; at++) { /* behind the magic */
		if (f->at[at] >= 0x20 && f->at[at] < 0x7f)
			continue;
		size_t n = at - begin;
		if (f->at[at] == 0 && n >= 3 && chance(f, 50)) {
			for (uint64_t k = 1 + draw(f, 3); k; k--) {
				const char *bad =
					harmful[draw(f, sizeof harmful / sizeof *harmful)];
				size_t length = strlen(bad);
				if (length < n)
					memcpy(f->at + begin + draw(f, n - length), bad, length);
			}
		}
		begin = at + 1;
	}
}

static const struct kind {
	const char *name;
	void (*change)(struct file *);
	bool once;
} kinds[] = {
	{"measurement", mutate_measurement, false},
	{"structure", mutate_structure, false},
	{"recording", mutate_recording, false},
	{"elf", mutate_elf, false},
	{"unwind", mutate_unwind, false},
	{"text", mutate_text, true},
	{"any", mutate_any, false},
};

int main(int argc, char **argv)
{
	const struct kind *kind = NULL;
	for (size_t i = 0; argc == 5 && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			kind = &kinds[i];
	if (!kind) {
		fputs("usage: mutate measurement|structure|recording|elf|unwind|text|any SEED IN "
		      "OUT\n",
		      stderr);
		return 2;
	}
	struct file f = {.seed = UINT64_C(88172645463325252) ^
				 strtoull(argv[2], NULL, 10) * UINT64_C(0x9E3779B97F4A7C15)};
	f.at = mutate_load(argv[3], &f.n);
	f.room = f.n + 1;
	for (unsigned i = 0; i < 8; i++) /* seeds that are near to each other */
		mutate_random(&f.seed);
	static const unsigned counts[] = {1, 1, 2, 3, 5, 8, 20};
	for (unsigned k = kind->once ? 1 : counts[draw(&f, sizeof counts / sizeof *counts)];
	     k && f.n; k--)
		kind->change(&f);
	if (f.n >= 8 && memcmp(f.at, STRUCTURE_MAGIC, sizeof STRUCTURE_MAGIC) == 0)
		make_structure_right(&f);
	FILE *out = fopen(argv[4], "wb");
	if (!out || fwrite(f.at, 1, f.n, out) != f.n || fclose(out) != 0) {
		perror(argv[4]);
		return 99;
	}
	free(f.at);
	return 0;
}
