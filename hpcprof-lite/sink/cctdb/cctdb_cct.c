/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cct.db: values by context, the transpose of profile.db without its summary. Contexts with the
 * same values share a block (cctdb_plan.h). The totals say how many values there are, so every
 * block has its place before any value is read. Contexts are cut
 * into ranges of bounded size, which any thread fills.
 * Memory: 40 bytes a context and a buffer for each worker. Test: tests/unit/sink/test_sink_cctdb.c.
 */
#include "common/base/log.h"
#include "common/base/pool.h"
#include "common/base/sorted.h"
#include "common/base/space.h"
#include "common/base/vec.h"
#include "hpcprof-lite/sink/cctdb/cctdb.h"
#include "hpcprof-lite/sink/cctdb/cctdb_format.h"
#include "hpcprof-lite/sink/cctdb/cctdb_share.h"
#include "hpcprof-lite/sink/cctdb/cctdb_statistics.h"
#include "hpcprof-lite/sink/outfile.h"

#include <stdlib.h>
#include <string.h>

/*
 * Bounds of a range: model values in it, and places (contexts x ids). One context may exceed the
 * first. A range asks each profile where its values begin. With many profiles, a range therefore
 * has so many values of each that reading them costs more than finding them. The buffers of all
 * workers together stay below a bound, so more workers get smaller ranges, and past the least size
 * there are fewer workers.
 */
enum {
	RANGE_VALUES = 128 << 10,
	RANGE_PLACES = 256 << 10,
	LEAST_VALUES_A_PROFILE = 8,
	RANGE_VALUES_A_PROFILE = 16,
	MOST_VALUES_IN_WORK = 5 << 20
};

struct range {
	uint32_t first, end;
	size_t first_total, end_total;
};

struct writer {
	const struct cctdb_plan *plan;
	const struct model *m;
	struct outfile *file;
	struct cctdb_block *blocks; /* by context of the model, if the block is its own */
	VEC(struct range) ranges;
	uint32_t n_ids;             /* metrics x scopes: a place for each in a context */
	unsigned n_workers;
};

static void out_of_memory(struct writer *w)
{
	if (!atomic_exchange(&w->file->failed, true))
		log_error(w->file->path, "out of memory");
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Chooses the size of a range, and how many workers may be at work at a time. */
static uint64_t values_in_range(const struct model *m, unsigned *n_workers)
{
	const uint64_t n = m->n_profiles, most = MOST_VALUES_IN_WORK / *n_workers,
		       least = smaller(n * LEAST_VALUES_A_PROFILE, MOST_VALUES_IN_WORK);
	uint64_t wanted = smaller(n * RANGE_VALUES_A_PROFILE, most);
	wanted = wanted > least ? wanted : least;
	if (wanted <= RANGE_VALUES)
		return RANGE_VALUES;
	*n_workers = (unsigned)smaller(*n_workers, MOST_VALUES_IN_WORK / wanted);
	return wanted;
}

/* The model values of a context, whose totals begin at *at. Moves *at behind them. */
static uint64_t count_values(const struct model *m, uint32_t context, size_t *at)
{
	uint64_t n = 0;
	for (; *at < m->n_totals && m->totals[*at].context == context; ++*at)
		n += m->totals[*at].n_profiles;
	return n;
}

static bool cut_ranges(struct writer *w)
{
	const struct model *m = w->m;
	const uint64_t most_values = values_in_range(m, &w->n_workers);
	const uint32_t most = w->n_ids ? RANGE_PLACES / w->n_ids : RANGE_PLACES;
	struct range *r = NULL;
	uint64_t sum = 0;
	const struct cctdb_part own = cctdb_own_contexts(m);
	const size_t first_own = sorted_below(m->totals, m->n_totals, context, own.first);
	for (uint32_t context = own.first, first = own.first; context < own.end; context++) {
		const size_t first_total = r ? r->end_total : first_own;
		size_t end_total = first_total;
		const uint64_t n = count_values(m, context, &end_total);
		if (!r || (context - first >= most || sum + n > most_values)) {
			first = context;
			sum = 0;
			if (!(r = vec_push(&w->ranges)))
				return false;
			*r = (struct range){.first = first, .first_total = first_total};
		}
		sum += n;
		r->end = context + 1;
		r->end_total = end_total;
	}
	return true;
}

/* True if the context has a block, which it may share with contexts above it. */
static bool has_block(const struct writer *w, uint32_t context)
{
	return w->plan->block_of[context] == context;
}

/* The number of values of each block, and of the ids in it. */
static void size_blocks(struct writer *w)
{
	for (size_t i = 0; i < w->m->n_totals; i++) {
		const struct model_total *t = &w->m->totals[i];
		for (unsigned s = CCTDB_FIRST_SCOPE; s < MODEL_N_SCOPES && has_block(w, t->context);
		     s++) {
			w->blocks[t->context].n_values += t->n_values[s];
			w->blocks[t->context].n_indices += t->n_values[s] != 0;
		}
	}
}

static size_t place_of(const struct writer *w, const struct range *r, uint32_t context,
		       uint32_t metric)
{
	return (size_t)(context - r->first) * w->n_ids + (size_t)metric * CCTDB_N_SCOPES;
}

/* Finds where in the range's bytes the values of each id start, and writes the index entries. */
static void index_range(const struct writer *w, const struct range *r, uint64_t *positions,
			uint8_t *bytes, uint64_t base)
{
	uint32_t context = MODEL_NONE;
	uint64_t start = 0;
	uint8_t *index = NULL;
	for (size_t i = r->first_total; i < r->end_total; i++) {
		const struct model_total *t = &w->m->totals[i];
		const struct cctdb_block *b = &w->blocks[t->context];
		if (!has_block(w, t->context))
			continue;
		if (t->context != context) {
			context = t->context;
			start = 0;
			index = bytes + (b->indices - base);
		}
		for (unsigned s = CCTDB_FIRST_SCOPE; s < MODEL_N_SCOPES; s++) {
			if (!t->n_values[s])
				continue;
			positions[place_of(w, r, context, t->metric) + s - CCTDB_FIRST_SCOPE] =
				b->values - base + start * CCTDB_CCT_VALUE_BYTES;
			cctdb_put_cct_index(index, cctdb_value_id(t->metric, s), start);
			index += CCTDB_CCT_INDEX_BYTES;
			start += t->n_values[s];
		}
	}
}

/* Writes the values of a profile in the range. Returns their number. */
static size_t fill_from(const struct writer *w, const struct range *r, uint32_t p,
			uint64_t *positions, uint8_t *bytes)
{
	const struct model_column c = model_column(w->m, p);
	const size_t first = model_column_find(&c, r->first);
	size_t k = first;
	while (k < c.n) {
		struct model_value room;
		const struct model_value *v;
		const size_t next = model_column_read(&c, k, &room, &v);
		if (v->context >= r->end)
			break;
		uint64_t *at = positions + place_of(w, r, v->context, v->metric);
		for (unsigned s = CCTDB_FIRST_SCOPE; s < MODEL_N_SCOPES && has_block(w, v->context);
		     s++, at++)
			if (v->at[s] != 0) {
				cctdb_put_cct_value(bytes + *at, p + 1, v->at[s]);
				*at += CCTDB_CCT_VALUE_BYTES;
			}
		k = next;
	}
	return k - first;
}

/* The bytes from the first block of the range to the end of its last one. *base: where they are. */
static uint64_t find_bytes(const struct writer *w, const struct range *r, uint64_t *base)
{
	uint32_t first = r->first, last = r->end;
	while (first < r->end && !has_block(w, first))
		first++;
	if (first == r->end)
		return 0;
	while (!has_block(w, --last))
		;
	const struct cctdb_block *b = &w->blocks[last];
	*base = w->blocks[first].values;
	return b->indices + (uint64_t)b->n_indices * CCTDB_CCT_INDEX_BYTES - *base;
}

static void fill_one(void *arg, size_t i, unsigned worker)
{
	enum { PAGE = 4096, BATCH = 1024 };
	struct writer *w = arg;
	const struct range *r = &w->ranges.at[i];
	(void)worker;
	if (atomic_load(&w->file->failed)) /* then the blocks may have no place */
		return;
	uint64_t base, n_bytes = find_bytes(w, r, &base);
	if (!n_bytes)
		return;
	uint64_t *positions = calloc((size_t)(r->end - r->first) * w->n_ids + 1, sizeof *positions);
	struct space room;
	if (!space_get_memory(&room, n_bytes + 1) || !positions)
		out_of_memory(w);
	else {
		uint8_t *bytes = room.at;
		index_range(w, r, positions, bytes, base);
		for (uint32_t p = 0, n = 0; p < w->m->n_profiles; p++) {
			n += fill_from(w, r, p, positions, bytes) +
			     PAGE / sizeof(struct model_value);
			if (p % BATCH == BATCH - 1) {
				model_values_done(w->m, n);
				n = 0;
			}
		}
		outfile_write(w->file, bytes, n_bytes, base);
	}
	space_free(&room);
	free(positions);
}

static struct cctdb_section section_of(const struct cctdb_plan *p)
{
	return (struct cctdb_section){CCTDB_INFOS_BYTES +
					      (uint64_t)p->n_contexts * CCTDB_BLOCK_BYTES,
				      cctdb_header_bytes(CCTDB_CCT)};
}

/* Gives every block its place. Returns the end of the last. */
static uint64_t place_blocks(struct writer *w)
{
	const struct cctdb_section section = section_of(w->plan);
	uint64_t end = cctdb_align(section.pointer + section.bytes, 8);
	for (uint32_t i = 0; i < w->m->n_contexts; i++) {
		struct cctdb_block *b = &w->blocks[i];
		if (!has_block(w, i))
			continue;
		b->values = cctdb_align(end, 4);
		b->indices = b->values + b->n_values * CCTDB_CCT_VALUE_BYTES;
		end = b->indices + (uint64_t)b->n_indices * CCTDB_CCT_INDEX_BYTES;
	}
	return end;
}

/* Writes the header, the places of the blocks, and the footer behind the last. */
static void write_front(struct writer *w, uint64_t end)
{
	const struct cctdb_plan *p = w->plan;
	const struct cctdb_section section = section_of(p);
	uint8_t footer[CCTDB_FOOTER_BYTES];
	struct outstream out;
	cctdb_put_footer(footer, CCTDB_CCT);
	outfile_write(w->file, footer, sizeof footer, end);
	if (outstream_open(&out, w->file, 0, 256 << 10) != STATUS_OK)
		return;
	cctdb_put_header(outstream_room(&out, cctdb_header_bytes(CCTDB_CCT)), CCTDB_CCT, &section);
	cctdb_put_infos(outstream_room(&out, CCTDB_INFOS_BYTES),
			section.pointer + CCTDB_INFOS_BYTES, p->n_contexts, CCTDB_BLOCK_BYTES);
	for (uint32_t i = 0; i < w->m->n_contexts; i++)
		if (p->id_of[i] != MODEL_NONE)
			cctdb_put_block(outstream_room(&out, CCTDB_BLOCK_BYTES),
					&w->blocks[p->block_of[i]]);
	outstream_close(&out);
}

enum status cctdb_write_cct(const struct cctdb_plan *plan, const struct sink_options *o)
{
	const struct model *m = plan->m;
	struct outfile file;
	struct writer w = {.plan = plan,
			   .m = m,
			   .file = &file,
			   .n_ids = m->n_metrics * CCTDB_N_SCOPES,
			   .n_workers = o->n_workers ? o->n_workers : pool_n_cpus()};
	enum status status = cctdb_create(m, &file, o->directory, "cct.db");
	if (status != STATUS_OK)
		return status;
	w.blocks = calloc(m->n_contexts ? m->n_contexts : 1, sizeof *w.blocks);
	if (!w.blocks || !cut_ranges(&w))
		out_of_memory(&w);
	else {
		size_blocks(&w);
		const uint64_t end = place_blocks(&w);
		if (cctdb_is_first(m))
			write_front(&w, end);
		pool_run_shown("cct.db", w.ranges.n, w.n_workers, fill_one, &w);
	}
	vec_free(&w.ranges);
	free(w.blocks);
	return cctdb_close(m, &file);
}
