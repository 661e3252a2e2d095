/* SPDX-License-Identifier: BSD-3-Clause */
/* See code_text.h. */
#include "hpcprof-lite/code/code_text.h"

#include "common/format/structure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AROUND = 4096 }; /* instructions before and after one with samples */

/* The first of m->instructions at or after an address. */
static size_t lower_bound(const struct model *m, uint32_t module, uint64_t link_addr)
{
	size_t low = 0, high = m->n_instructions;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct model_instruction *i = &m->instructions[middle];
		if (i->module < module || (i->module == module && i->link_addr < link_addr))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct choosing {
	const struct model *m;
	const struct code_hot *hot;
	const struct disassembly *text;
	struct code *c;
	VEC(uint64_t) sampled; /* addresses, ascending */
	VEC(bool) is_kept;     /* by line of the text */
};

static bool list_sampled(struct choosing *k)
{
	for (size_t i = 0; i < k->hot->ranges.n; i++) {
		const struct code_range *r = &k->hot->ranges.at[i];
		const struct model_instruction *at = k->m->instructions;
		const size_t first = lower_bound(k->m, k->hot->module, r->start),
			     end = lower_bound(k->m, k->hot->module, r->end);
		for (size_t s = first; s < end; s++) {
			if (s > first && at[s].link_addr == at[s - 1].link_addr)
				continue;
			uint64_t *new = vec_push(&k->sampled);
			if (!new)
				return false;
			*new = at[s].link_addr;
		}
	}
	return true;
}

/* Keeps lines with samples and `around` of their neighbours. Returns the bytes of their text. */
static size_t keep_around(struct choosing *k, size_t around)
{
	const struct disassembly *d = k->text;
	size_t n_bytes = 0, s = 0, until = 0;
	memset(k->is_kept.at, 0, k->is_kept.n * sizeof *k->is_kept.at);
	for (size_t i = 0; i < d->lines.n; i++) {
		while (s < k->sampled.n && k->sampled.at[s] < d->lines.at[i].link_addr)
			s++;
		if (s == k->sampled.n || k->sampled.at[s] != d->lines.at[i].link_addr)
			continue;
		const size_t from = i > around + until ? i - around : until;
		until = i + around + 1 < d->lines.n ? i + around + 1 : d->lines.n;
		for (size_t l = from < i ? from : i; l < until; l++)
			k->is_kept.at[l] = true;
	}
	for (size_t i = 0; i < d->lines.n; i++)
		if (k->is_kept.at[i])
			n_bytes += strlen(strtab_get(d->strings, d->lines.at[i].text)) + 1;
	return n_bytes;
}

static int compare_paths(const void *key, const void *file)
{
	return strcmp(key, ((const struct model_file *)file)->path);
}

/* The line, and the function that was inlined there. */
static bool set_place(const struct choosing *k, struct code_instruction *i)
{
	const struct structure *s = k->m->modules[k->hot->module].code;
	struct structure_place place;
	if (!structure_lookup(s, i->link_addr, &place))
		return true;
	const char *path = place.file == STRUCTURE_NONE ? NULL : structure_get_file(s, place.file);
	const struct model_file *file =
		path ? bsearch(path, k->m->files, k->m->n_files, sizeof *k->m->files, compare_paths)
		     : NULL;
	i->file = file ? (uint32_t)(file - k->m->files) : MODEL_NONE;
	i->line = path ? place.line : 0;
	for (uint32_t at = place.scope; at != STRUCTURE_NONE && !i->inlined;) {
		const struct structure_scope scope = structure_get_scope(s, at);
		if (scope.kind == STRUCTURE_INLINE)
			i->inlined = strtab_add_z(&k->c->strings, scope.name);
		at = scope.parent;
	}
	return i->inlined != STRTAB_FAILED;
}

/* Adds the name of the function that a call or a jump goes to, if the text has only its address. */
static uint32_t name_target(const struct choosing *k, uint32_t text)
{
	const struct structure *s = k->m->modules[k->hot->module].code;
	const char *from = strtab_get(&k->c->strings, text), *blank = strchr(from, ' ');
	struct structure_place place;
	char *end, named[512];
	if (!blank || (strncmp(from, "call ", 5) != 0 && strncmp(from, "jmp ", 4) != 0))
		return text;
	const uint64_t link_addr = strtoull(blank + 1, &end, 16);
	if (end == blank + 1 || *end || !structure_lookup(s, link_addr, &place) ||
	    place.scope == STRUCTURE_NONE || place.scope == k->hot->scope)
		return text;
	const struct structure_scope scope = structure_get_scope(s, place.scope);
	if (scope.kind != STRUCTURE_FUNCTION || scope.entry != link_addr)
		return text;
	snprintf(named, sizeof named, "%s <%.400s>", from, scope.name);
	return strtab_add_z(&k->c->strings, named);
}

static bool put(struct choosing *k, uint64_t link_addr, uint32_t text, bool is_apart)
{
	struct code_instruction *new = vec_push(&k->c->instructions);
	if (!new)
		return false;
	const size_t first = lower_bound(k->m, k->hot->module, link_addr),
		     end = lower_bound(k->m, k->hot->module, link_addr + 1);
	*new = (struct code_instruction){.link_addr = link_addr,
					 .text = text,
					 .file = MODEL_NONE,
					 .is_apart = is_apart,
					 .first_sample = first,
					 .n_samples = (uint32_t)(end - first)};
	return set_place(k, new);
}

/* Lines that are kept, and between them addresses with samples and without text. */
static bool put_all(struct choosing *k, size_t bytes_left)
{
	const struct disassembly *d = k->text;
	size_t s = 0;
	bool ok = true, is_apart = true;
	for (size_t i = 0; ok && i <= d->lines.n; i++) {
		const struct code_instruction *line = i < d->lines.n ? &d->lines.at[i] : NULL;
		for (; ok && s < k->sampled.n && (!line || k->sampled.at[s] < line->link_addr);
		     s++, is_apart = true)
			ok = put(k, k->sampled.at[s], 0, is_apart);
		if (!ok || !line || !k->is_kept.at[i]) {
			is_apart = true;
			continue;
		}
		const size_t n = strlen(strtab_get(d->strings, line->text)) + 1;
		const uint32_t shown = n <= bytes_left ? name_target(k, line->text) : 0;
		ok = shown != STRTAB_FAILED && put(k, line->link_addr, shown, is_apart);
		bytes_left -= n <= bytes_left ? n : 0;
		s += s < k->sampled.n && k->sampled.at[s] == line->link_addr;
		is_apart = false;
	}
	return ok;
}

bool code_text_put(const struct model *m, const struct code_hot *hot,
		   const struct disassembly *text, size_t most_bytes, struct code *c, size_t *used)
{
	struct choosing k = {.m = m, .hot = hot, .text = text, .c = c};
	bool ok = list_sampled(&k) && (!text->lines.n || vec_extend(&k.is_kept, text->lines.n));
	*used = 0;
	if (ok && text->lines.n)
		for (size_t around = MOST_AROUND;; around /= 2) {
			*used = keep_around(&k, around);
			if (*used <= most_bytes || !around)
				break;
		}
	*used = *used < most_bytes ? *used : most_bytes;
	ok = ok && put_all(&k, most_bytes);
	vec_free(&k.sampled);
	vec_free(&k.is_kept);
	return ok;
}
