/* SPDX-License-Identifier: BSD-3-Clause */
/* See cctdb_share.h. Test: tests/unit/prof_parts/test_parts.c. */
#include "hpcprof-lite/sink/cctdb/cctdb_share.h"

#include "common/base/pool.h"
#include "hpcprof-lite/parts/comm.h"
#include "hpcprof-lite/sink/cctdb/cctdb_format.h"

#include <stdlib.h>

static struct cctdb_part own(const struct model *m, const uint64_t *first, uint32_t n)
{
	if (!m->share)
		return (struct cctdb_part){0, n};
	first += m->share->comm->part;
	return (struct cctdb_part){(uint32_t)first[0], (uint32_t)first[1]};
}

struct cctdb_part cctdb_own_profiles(const struct model *m)
{
	return own(m, m->share ? m->share->first_profile : NULL, m->n_profiles);
}

struct cctdb_part cctdb_own_contexts(const struct model *m)
{
	return own(m, m->share ? m->share->first_context : NULL, m->n_contexts);
}

size_t cctdb_in_row(size_t n, unsigned n_workers)
{
	enum { MOST = 64, ROWS = 8 };
	const size_t even = n / (ROWS * (n_workers ? n_workers : pool_n_cpus()));
	return even < 1 ? 1 : even < MOST ? even : MOST;
}

bool cctdb_is_first(const struct model *m)
{
	return !m->share || m->share->comm->part == 0;
}

enum status cctdb_agree(const struct model *m, enum status s)
{
	return m->share ? comm_agree(m->share->comm, s) : s;
}

static bool has_profiles(const struct model *m, int part)
{
	const uint64_t *first = m->share ? m->share->first_profile + part : NULL;
	return first ? first[0] < first[1] : m->n_profiles > 0;
}

/* Places the processes one after the other: turns sizes into ends. Returns where `part` begins. */
static uint64_t add_up(const struct model *m, uint64_t *sizes, int n_parts, int part, uint64_t at)
{
	uint64_t start = at;
	for (int i = 0; i < n_parts; i++) {
		if (has_profiles(m, i))
			at = cctdb_align(at, CCTDB_PLACE_ALIGN);
		start = i == part ? at : start;
		sizes[i] = at += sizes[i];
	}
	return start;
}

enum status cctdb_find_place(const struct model *m, enum status s, struct cctdb_place *place)
{
	const struct comm *c = m->share ? m->share->comm : NULL;
	const int n_parts = c ? c->n_parts : 1, part = c ? c->part : 0;
	uint64_t *sizes = calloc((size_t)n_parts, sizeof *sizes);
	s = cctdb_agree(m, s == STATUS_OK && !sizes ? STATUS_NO_MEMORY : s);
	if (s == STATUS_OK) {
		sizes[part] = place->own;
		if (c) {
			comm_add(c, sizes, (size_t)n_parts);
			comm_broadcast(c, &place->front, sizeof place->front);
		}
		place->start = add_up(m, sizes, n_parts, part, place->front);
		place->end = sizes[n_parts - 1];
	}
	free(sizes);
	return s;
}

void cctdb_gather_profiles(const struct model *m, void *by_profile, size_t record_bytes)
{
	if (m->share)
		comm_gather(m->share->comm, by_profile, record_bytes, m->share->first_profile);
}

enum status cctdb_create(const struct model *m, struct outfile *f, const char *directory,
			 const char *name)
{
	*f = (struct outfile){.fd = -1};
	if (!m->share)
		return outfile_create(f, directory, name);
	enum status s = cctdb_is_first(m) ? outfile_create_shared(f, directory, name) : STATUS_OK;
	s = cctdb_agree(m, s);
	if (s == STATUS_OK && !cctdb_is_first(m))
		s = outfile_join(f, directory, name);
	s = cctdb_agree(m, s);
	if (s != STATUS_OK)
		outfile_abandon(f);
	return s;
}

enum status cctdb_close(const struct model *m, struct outfile *f)
{
	if (cctdb_agree(m, atomic_load(&f->failed) ? STATUS_IO : STATUS_OK) != STATUS_OK)
		atomic_store(&f->failed, true);
	return cctdb_agree(m, outfile_close(f));
}
