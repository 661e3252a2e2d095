/* SPDX-License-Identifier: BSD-3-Clause */
/* See live_names.h. */
#include "hpcprof-lite/live/live_names.h"

#include "common/rights/rights.h"
#include "hpcprof-lite/load/code_symbols.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int compare_frames(const void *pa, const void *pb)
{
	const struct attribute_frame *a = pa, *b = pb;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->link_addr < b->link_addr ? -1 : a->link_addr > b->link_addr;
}

static int compare_addrs(const void *pa, const void *pb)
{
	const uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
	return (a > b) - (a < b);
}

/* Opens the binary that ran, if the owners of the measurement may read it. */
static bool open_binary(const struct live_names *n, const struct merge_module *m,
			struct mapfile *binary)
{
	struct rights readers = {0};
	struct stat st;
	bool is_private, ok = true;
	for (size_t i = 0; ok && i < n->n_directories; i++)
		ok = stat(n->directories[i], &st) != 0 || rights_add(&readers, st.st_uid);
	ok = ok && load_open_code(&readers, m->record, m->path, n->directories, n->n_directories,
				  binary, &is_private);
	rights_free(&readers);
	return ok;
}

/* Makes the symbols anew, with the addresses that are new. */
static void make_symbols(const struct live_names *n, const struct merge_module *m,
			 struct live_binary *b)
{
	struct mapfile binary;
	size_t n_bytes;
	structure_close(b->symbols);
	free(b->bytes);
	b->symbols = NULL;
	b->bytes = NULL;
	b->state = MODEL_STRUCTURE_NONE;
	qsort(b->link_addrs.at, b->link_addrs.n, sizeof *b->link_addrs.at, compare_addrs);
	if (!open_binary(n, m, &binary))
		return;
	b->bytes = code_symbols_make(binary.bytes, binary.n_bytes, b->link_addrs.at,
				     b->link_addrs.n, &n_bytes);
	if (b->bytes && structure_open(m->path, b->bytes, n_bytes, &b->symbols) == STATUS_OK)
		b->state = MODEL_STRUCTURE_SYMBOLS;
	mapfile_close(&binary);
}

/* Looks for a structure, which the user may have from another run. */
static void find_structure(const struct live_names *n, const struct merge_module *m,
			   const uint64_t *link_addrs, size_t n_link_addrs, struct live_binary *b)
{
	const struct load_structures_options o = {
		.directories = n->directories, .n_directories = n->n_directories, .quiet = true};
	b->found = (struct load_structure){.module = m->record,
					   .path = m->path,
					   .link_addrs = link_addrs,
					   .n_link_addrs = n_link_addrs};
	load_structures_open(&o, &b->found, 1);
	b->state = b->found.state;
}

/* NULL if memory is short. */
static struct live_binary *find_binary(struct live_names *n, const struct merge_module *m,
				       const uint64_t *link_addrs, size_t n_link_addrs,
				       uint64_t *index)
{
	char key[STRUCTURE_KEY_BYTES];
	load_structure_key(&(struct load_structure){.module = m->record, .path = m->path}, key);
	const uint64_t next = n->binaries.n;
	*index = map_put(&n->by_key, hash_bytes(key, strlen(key)), 0, next);
	if (*index == MAP_NONE || (*index == next && !vec_push(&n->binaries)))
		return NULL;
	struct live_binary *b = &n->binaries.at[*index];
	if (*index == next) {
		find_structure(n, m, link_addrs, n_link_addrs, b);
		n->n_by_symbols += !b->found.structure;
	}
	return b;
}

static const struct structure *name(struct live_names *n, const struct merge_module *m,
				    const uint64_t *link_addrs, size_t n_link_addrs,
				    enum model_structure *state)
{
	uint64_t index;
	bool any = false;
	struct live_binary *b = find_binary(n, m, link_addrs, n_link_addrs, &index);
	if (!b)
		return NULL;
	for (size_t i = 0; !b->found.structure && i < n_link_addrs; i++) {
		const size_t n_before = n->tried.n;
		map_put(&n->tried, index, link_addrs[i], 0);
		uint64_t *new = n->tried.n > n_before ? vec_push(&b->link_addrs) : NULL;
		if (new)
			*new = link_addrs[i];
		any |= new != NULL;
	}
	if (any && !(m->record->flags & LOAD_MODULE_GPU))
		make_symbols(n, m, b);
	*state = b->state;
	return b->found.structure ? b->found.structure : b->symbols;
}

void live_names_find(void *arg, const struct merge_modules *all, const bool *needed,
		     const struct attribute_frame *frames, size_t n_frames,
		     const struct structure **structures, enum model_structure *states)
{
	struct live_names *n = arg;
	struct attribute_frame *sorted = malloc((n_frames + 1) * sizeof *sorted);
	uint64_t *link_addrs = malloc((n_frames + 1) * sizeof *link_addrs);
	if (sorted && link_addrs && n_frames) {
		memcpy(sorted, frames, n_frames * sizeof *sorted);
		qsort(sorted, n_frames, sizeof *sorted, compare_frames);
	}
	for (size_t i = 0, at = 0; sorted && link_addrs && i < all->list.n; i++) {
		const size_t first = at;
		for (; at < n_frames && sorted[at].module == i; at++)
			link_addrs[at] = sorted[at].link_addr;
		if (needed[i])
			structures[i] = name(n, &all->list.at[i], link_addrs + first, at - first,
					     &states[i]);
	}
	free(sorted);
	free(link_addrs);
}

void live_names_close(struct live_names *n)
{
	for (size_t i = 0; i < n->binaries.n; i++) {
		struct live_binary *b = &n->binaries.at[i];
		load_structures_close(&b->found, 1);
		structure_close(b->symbols);
		free(b->bytes);
		vec_free(&b->link_addrs);
	}
	vec_free(&n->binaries);
	map_free(&n->by_key);
	map_free(&n->tried);
}
