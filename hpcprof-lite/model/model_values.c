/* SPDX-License-Identifier: BSD-3-Clause */
/* See model_values.h. Test: tests/unit/prof/test_model.c. */
#include "hpcprof-lite/model/model_values.h"

#include "hpcprof-lite/model/private.h"

#include <stdatomic.h>
#include <sys/mman.h>

/* Sizes of the pieces that threads take. The second kind is above SPACE_IN_MEMORY, so a file. */
#define PIECE_IN_MEMORY ((size_t)4 << 20)
#define PIECE_IN_FILE (SPACE_IN_MEMORY + PIECE_IN_MEMORY)
/* After so many bytes of files were read, their pages go back to the page cache. */
#define WINDOW ((uint64_t)256 << 20)

static bool take_piece(struct model_private *p, size_t n_bytes, struct model_values_room *r)
{
	const bool in_memory = p->values_bytes < MODEL_VALUES_IN_MEMORY;
	const size_t piece = in_memory ? PIECE_IN_MEMORY : PIECE_IN_FILE;
	struct space *s = vec_push(&p->values);
	n_bytes = n_bytes > piece ? n_bytes : piece;
	if (!s)
		return false;
	if (!space_get(s, n_bytes)) {
		p->values.n--;
		return false;
	}
	p->values_bytes += n_bytes;
	*r = (struct model_values_room){s->at, n_bytes / sizeof *r->at};
	return true;
}

struct model_value *model_values_get(struct model *m, struct model_values_room *r, size_t n)
{
	struct model_private *p = m->private_;
	bool ok = true;
	if (n > r->n) {
		pthread_mutex_lock(&p->values_lock);
		ok = take_piece(p, n * sizeof *r->at, r);
		pthread_mutex_unlock(&p->values_lock);
	}
	if (!ok)
		return NULL;
	struct model_value *at = r->at;
	r->at += n;
	r->n -= n;
	return at;
}

void model_values_done(const struct model *m, size_t n)
{
	struct model_private *p = m->private_;
	const uint64_t n_bytes = n * sizeof(struct model_value);
	/* NULL: a model that a test made. relaxed: only a hint; it orders no other accesses */
	if (!p || p->values_bytes < MODEL_VALUES_IN_MEMORY ||
	    atomic_fetch_add_explicit(&p->values_read, n_bytes, memory_order_relaxed) + n_bytes <
		    WINDOW)
		return;
	atomic_store_explicit(&p->values_read, 0, memory_order_relaxed);
	for (size_t i = 0; i < p->values.n; i++)
		if (p->values.at[i].is_file)
			madvise(p->values.at[i].at, p->values.at[i].n_bytes, MADV_DONTNEED);
}

void model_values_free(struct model *m)
{
	struct model_private *p = m->private_;
	for (uint32_t i = 0; i < m->n_profiles && p->profiles; i++) {
		p->profiles[i].values = NULL;
		p->profiles[i].n_values = 0;
	}
	for (size_t i = 0; i < p->values.n; i++)
		space_free(&p->values.at[i]);
	vec_free(&p->values);
	p->values_bytes = 0;
}
