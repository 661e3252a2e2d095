/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.db: values by profile; profile 0 is the summary over all. Two passes over the values: the
 * first one counts, which fixes where everything goes, the second one writes, several profiles at a
 * time on any thread. Memory does not depend on the number of values. Test:
 * tests/unit/sink/test_sink_cctdb.c.
 */
#include "common/base/log.h"
#include "common/base/pool.h"
#include "hpcprof-lite/sink/cctdb/cctdb.h"
#include "hpcprof-lite/sink/cctdb/cctdb_format.h"
#include "hpcprof-lite/sink/cctdb/cctdb_share.h"
#include "hpcprof-lite/sink/cctdb/cctdb_statistics.h"
#include "hpcprof-lite/sink/outfile.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 256 << 10 };

struct writer {
	const struct cctdb_plan *plan;
	const struct model *m;
	struct outfile *file;
	struct cctdb_block *blocks; /* by profile of the file: 0 is the summary */
	struct cctdb_part own;      /* profiles of the model */
	/* n_own: with the summary; in_row: how many a thread writes at a time */
	size_t n_own, in_row;
};

/* Counts or writes the values of one profile. */
struct emitter {
	struct cctdb_block *block; /* counts; the offsets are known when writing */
	struct outstream *values, *indices; /* NULL: only count */
	uint32_t context;
	bool open;                 /* `context` has an index entry */
};

static void emit(struct emitter *e, uint32_t context, uint16_t id, double value)
{
	if (!e->open || e->context != context) {
		if (e->indices)
			cctdb_put_profile_index(
				outstream_room(e->indices, CCTDB_PROFILE_INDEX_BYTES), context,
				e->block->n_values);
		e->block->n_indices++;
		e->context = context;
		e->open = true;
	}
	if (e->values)
		cctdb_put_profile_value(outstream_room(e->values, CCTDB_PROFILE_VALUE_BYTES), id,
					value);
	e->block->n_values++;
}

static void emit_profile(struct emitter *e, const struct cctdb_plan *plan,
			 const struct model_profile *p)
{
	for (size_t i = 0; i < p->n_values; i++) {
		const struct model_value *v = &p->values[i];
		const uint32_t id = plan->id_of[v->context];
		for (unsigned s = CCTDB_FIRST_SCOPE; id != MODEL_NONE && s < MODEL_N_SCOPES; s++)
			if (v->at[s] != 0)
				emit(e, id, cctdb_value_id(v->metric, s), v->at[s]);
	}
}

static void emit_total(struct emitter *e, const struct cctdb_plan *plan,
		       const struct model_total *t)
{
	const double *const values[CCTDB_N_PARTIALS] = {t->sum, t->sum_of_squares, t->min, t->max};
	const uint32_t id = plan->id_of[t->context], statistics = plan->statistics[t->metric];
	if (id == MODEL_NONE)
		return;
	for (enum cctdb_partial p = CCTDB_SUM; p < CCTDB_N_PARTIALS; p++)
		for (unsigned s = CCTDB_FIRST_SCOPE; s < MODEL_N_SCOPES; s++)
			if (cctdb_has_statistic(statistics, p, s) && t->sum[s] != 0 &&
			    values[p][s] != 0)
				emit(e, id, cctdb_statistic_id(t->metric, p, s), values[p][s]);
}

static void emit_all(struct emitter *e, const struct cctdb_plan *plan, size_t profile)
{
	const struct model *m = plan->m;
	e->block->n_values = 0;
	e->block->n_indices = 0;
	if (profile > 0) {
		emit_profile(e, plan, &m->profiles[profile - 1]);
		model_values_done(m, m->profiles[profile - 1].n_values);
	} else
		for (size_t i = 0; i < m->n_totals; i++)
			emit_total(e, plan, &m->totals[i]);
}

/* The i-th profile that this process looks at; the summary comes first. */
static size_t own_profile(const struct writer *w, size_t i)
{
	return i ? w->own.first + i : 0;
}

static void count_one(void *arg, size_t i, unsigned worker)
{
	struct writer *w = arg;
	const size_t profile = own_profile(w, i);
	(void)worker;
	if (i == 0 && !cctdb_is_first(w->m))
		return;
	emit_all(&(struct emitter){.block = &w->blocks[profile]}, w->plan, profile);
}

/* Writes a profile that fits into a buffer. */
static void write_small(const struct writer *w, size_t profile, size_t value_bytes,
			size_t index_bytes, struct outstream *out)
{
	struct cctdb_block *b = &w->blocks[profile];
	const size_t before = (size_t)(b->indices - b->values);
	outstream_move(out, b->values);
	uint8_t *room = outstream_room(out, before + index_bytes);
	struct outstream values = {.bytes = room, .capacity = value_bytes},
			 indices = {.bytes = room + before, .capacity = index_bytes};
	memset(room + value_bytes, 0, before - value_bytes);
	emit_all(&(struct emitter){.block = b, .values = &values, .indices = &indices}, w->plan,
		 profile);
}

static void write_one(const struct writer *w, size_t i, struct outstream *out)
{
	const size_t profile = own_profile(w, i);
	struct cctdb_block *b = &w->blocks[profile];
	struct outstream values, indices;
	size_t value_bytes = b->n_values * CCTDB_PROFILE_VALUE_BYTES,
	       index_bytes = (size_t)b->n_indices * CCTDB_PROFILE_INDEX_BYTES;
	if (b->n_values == 0 || (i == 0 && !cctdb_is_first(w->m)))
		return;
	if (b->indices - b->values + index_bytes <= BUFFER_BYTES) {
		write_small(w, profile, value_bytes, index_bytes, out);
		return;
	}
	if (outstream_open(&values, w->file, b->values,
			   value_bytes < BUFFER_BYTES ? value_bytes : BUFFER_BYTES) != STATUS_OK)
		return;
	if (outstream_open(&indices, w->file, b->indices,
			   index_bytes < BUFFER_BYTES ? index_bytes : BUFFER_BYTES) == STATUS_OK) {
		emit_all(&(struct emitter){.block = b, .values = &values, .indices = &indices},
			 w->plan, profile);
		outstream_close(&indices);
	}
	outstream_close(&values);
}

static void write_row(void *arg, size_t i, unsigned worker)
{
	const struct writer *w = arg;
	const size_t end = (i + 1) * w->in_row < w->n_own ? (i + 1) * w->in_row : w->n_own;
	struct outstream out;
	(void)worker;
	if (outstream_open(&out, w->file, 0, BUFFER_BYTES) != STATUS_OK)
		return;
	for (size_t k = i * w->in_row; k < end; k++)
		write_one(w, k, &out);
	outstream_close(&out);
}

enum { MAX_IDS = 5 };

static uint16_t tuple_ids(const struct cctdb_identity *identity, struct cctdb_id *ids)
{
	uint16_t n = 0;
	ids[n++] = (struct cctdb_id){.kind = CCTDB_ID_NODE,
				     .is_physical = true,
				     .logical = identity->node,
				     .physical = identity->host_id};
	if (identity->rank >= 0)
		ids[n++] = (struct cctdb_id){.kind = CCTDB_ID_RANK,
					     .logical = (uint32_t)identity->rank};
	if (identity->is_queue) {
		ids[n++] =
			(struct cctdb_id){.kind = CCTDB_ID_GPUDEVICE, .logical = identity->device};
		ids[n++] = (struct cctdb_id){.kind = CCTDB_ID_GPUCONTEXT,
					     .logical = identity->context};
		ids[n++] =
			(struct cctdb_id){.kind = CCTDB_ID_GPUSTREAM, .logical = identity->stream};
	} else {
		ids[n++] = (struct cctdb_id){.kind = CCTDB_ID_THREAD, .logical = identity->thread};
	}
	return n;
}

/* Gives blocks first .. end - 1 their places, from `at` on. Returns the end of the last. */
static uint64_t place_blocks(const struct writer *w, size_t first, size_t end, uint64_t at)
{
	for (size_t i = first; i < end; i++) {
		struct cctdb_block *b = &w->blocks[i];
		b->values = cctdb_align(at, CCTDB_PLACE_ALIGN);
		b->indices = cctdb_align(b->values + b->n_values * CCTDB_PROFILE_VALUE_BYTES, 4);
		at = b->indices + (uint64_t)b->n_indices * CCTDB_PROFILE_INDEX_BYTES;
	}
	return at;
}

/* Header, profile infos and identifier tuples: everything before the values. */
struct front {
	struct cctdb_identity *identities; /* by profile */
	struct cctdb_section sections[CCTDB_PROFILE_N_SECTIONS];
	uint64_t n_bytes;
	uint8_t *bytes; /* NULL: not made */
};

/* False: memory is short. */
static bool begin_front(struct front *f, const struct model *m)
{
	struct cctdb_id ids[MAX_IDS];
	struct cctdb_section *infos = &f->sections[CCTDB_PROFILE_INFOS],
			     *tuples = &f->sections[CCTDB_PROFILE_ID_TUPLES];
	f->identities = cctdb_identities(m);
	infos->pointer = cctdb_header_bytes(CCTDB_PROFILE);
	infos->bytes = CCTDB_INFOS_BYTES + ((uint64_t)m->n_profiles + 1) * CCTDB_PROFILE_BYTES;
	tuples->pointer = infos->pointer + infos->bytes;
	for (uint32_t i = 0; f->identities && i < m->n_profiles; i++)
		tuples->bytes += CCTDB_ID_TUPLE_BYTES +
				 (uint64_t)tuple_ids(&f->identities[i], ids) * CCTDB_ID_BYTES;
	f->n_bytes = tuples->pointer + tuples->bytes;
	return f->identities;
}

/* Call it when all blocks have their places. False: memory is short. */
static bool make_front(struct front *f, const struct writer *w)
{
	struct cctdb_id ids[MAX_IDS];
	const uint32_t n = w->m->n_profiles + 1;
	uint64_t at = f->sections[CCTDB_PROFILE_ID_TUPLES].pointer;
	f->bytes = calloc(1, f->n_bytes);
	if (!f->bytes)
		return false;
	cctdb_put_header(f->bytes, CCTDB_PROFILE, f->sections);
	uint8_t *infos = f->bytes + f->sections[CCTDB_PROFILE_INFOS].pointer;
	cctdb_put_infos(infos, f->sections[CCTDB_PROFILE_INFOS].pointer + CCTDB_INFOS_BYTES, n,
			CCTDB_PROFILE_BYTES);
	for (uint32_t i = 0; i < n; i++) {
		cctdb_put_profile(infos + CCTDB_INFOS_BYTES + (size_t)i * CCTDB_PROFILE_BYTES,
				  &w->blocks[i], i ? at : 0, i == 0);
		if (i == 0)
			continue;
		uint16_t n_ids = tuple_ids(&f->identities[i - 1], ids);
		cctdb_put_id_tuple(f->bytes + at, ids, n_ids);
		at += CCTDB_ID_TUPLE_BYTES + (uint64_t)n_ids * CCTDB_ID_BYTES;
	}
	return true;
}

/*
 * Counts the values, and gives everything its place. The first process makes the front and writes
 * the summary. Ends a step.
 */
static enum status place_all(struct writer *w, struct front *f, unsigned n_workers, uint64_t *end)
{
	const struct model *m = w->m;
	const bool is_first = cctdb_is_first(m);
	const size_t first = (size_t)w->own.first + 1, behind = (size_t)w->own.end + 1;
	struct cctdb_place place = {0};
	const bool ok = w->blocks && (!is_first || begin_front(f, m));
	if (ok) {
		pool_run(w->n_own, n_workers, count_one, w);
		place.front = is_first ? place_blocks(w, 0, 1, f->n_bytes) : 0;
		place.own = place_blocks(w, first, behind, 0);
	}
	enum status s = cctdb_find_place(m, ok ? STATUS_OK : STATUS_NO_MEMORY, &place);
	if (s != STATUS_OK)
		return s;
	place_blocks(w, first, behind, place.start);
	*end = place.end;
	cctdb_gather_profiles(m, w->blocks + 1, sizeof *w->blocks);
	return cctdb_agree(m, !is_first || make_front(f, w) ? STATUS_OK : STATUS_NO_MEMORY);
}

enum status cctdb_write_profile(const struct cctdb_plan *plan, const struct sink_options *o)
{
	const struct model *m = plan->m;
	struct outfile file;
	struct writer w = {.plan = plan,
			   .m = m,
			   .file = &file,
			   .own = cctdb_own_profiles(m),
			   .blocks = calloc((size_t)m->n_profiles + 1, sizeof *w.blocks)};
	struct front front = {0};
	uint8_t footer[CCTDB_FOOTER_BYTES];
	uint64_t end = 0;
	w.n_own = (size_t)w.own.end - w.own.first + 1;
	w.in_row = cctdb_in_row(w.n_own, o->n_workers);
	enum status status = place_all(&w, &front, o->n_workers, &end);
	if (status != STATUS_OK)
		log_error(o->directory, "profile.db: out of memory");
	else if ((status = cctdb_create(m, &file, o->directory, "profile.db")) == STATUS_OK) {
		pool_run_shown("profile.db", (w.n_own + w.in_row - 1) / w.in_row, o->n_workers,
			       write_row, &w);
		cctdb_put_footer(footer, CCTDB_PROFILE);
		if (cctdb_is_first(m)) {
			outfile_write(&file, front.bytes, front.n_bytes, 0);
			outfile_write(&file, footer, sizeof footer, end);
		}
		status = cctdb_close(m, &file);
	}
	free(front.bytes);
	free(front.identities);
	free(w.blocks);
	return status;
}
