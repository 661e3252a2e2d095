/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_split.h. Test: tests/unit/prof_parts/test_parts.c. */
#include "hpcprof-lite/load/job/load_split.h"

#include "common/base/log.h"
#include "common/base/pool.h"
#include "hpcprof-lite/load/job/load_outline.h"
#include "hpcprof-lite/load/load_records.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>
#include <string.h>

/* ---- the list ---- */

/* The size of the packed list: file sizes, then names with their NUL. */
static uint64_t n_bytes_of_list(const struct load_list *l)
{
	uint64_t n = l->files.n * sizeof(uint64_t);
	for (size_t i = 0; i < l->files.n; i++)
		n += strlen(l->files.at[i].path) + 1;
	return n;
}

static void pack_list(const struct load_list *l, uint8_t *to)
{
	uint8_t *name = to + l->files.n * sizeof(uint64_t);
	for (size_t i = 0; i < l->files.n; i++) {
		const struct load_listed *f = &l->files.at[i];
		const size_t n = strlen(f->path) + 1;
		memcpy(to + i * sizeof(uint64_t), &f->n_bytes, sizeof(uint64_t));
		memcpy(name, f->path, n);
		name += n;
	}
}

static bool unpack_list(const uint8_t *from, uint64_t n, struct load_list *l)
{
	const char *name = (const char *)from + n * sizeof(uint64_t);
	for (uint64_t i = 0; i < n; i++) {
		struct load_listed *f = vec_push(&l->files);
		if (!f || !(f->path = strdup(name)))
			return false;
		memcpy(&f->n_bytes, from + i * sizeof(uint64_t), sizeof(uint64_t));
		name += strlen(name) + 1;
	}
	return true;
}

enum status load_split_list(struct comm *c, enum status s, struct load_list *l)
{
	if (comm_agree(c, s) != STATUS_OK)
		return c->failed;
	load_list_sort(l);
	uint64_t n[] = {l->files.n, n_bytes_of_list(l)};
	comm_broadcast(c, n, sizeof n);
	uint8_t *bytes = malloc(n[1] + 1);
	bool ok = bytes;
	if (comm_agree(c, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK) {
		if (c->part == 0)
			pack_list(l, bytes);
		comm_broadcast(c, bytes, n[1]);
		ok = c->part == 0 || unpack_list(bytes, n[0], l);
	}
	if (!ok)
		log_error(NULL, "out of memory");
	free(bytes);
	return comm_agree(c, ok ? STATUS_OK : STATUS_NO_MEMORY);
}

/* ---- files ---- */

struct splitting {
	struct load_opening *o;
	struct comm *c;
	unsigned n_workers;
	uint64_t *rows;    /* by part, with an end entry: its first path */
	/* by path of this part; empty: all parts have to open the file */
	struct load_outlines *outlines;
	atomic_bool needs_all;
	atomic_bool failed;
};

bool load_split_is_even(const struct comm *c, const uint64_t *weights, const uint64_t *rows)
{
	uint64_t all = 0, most = 0;
	for (int i = 0; i < c->n_parts; i++) {
		uint64_t sum = 0;
		for (uint64_t k = rows[i]; k < rows[i + 1]; k++)
			sum += weights[k];
		all += sum;
		most = sum > most ? sum : most;
	}
	return c->n_parts > 1 && most <= all / (uint64_t)c->n_parts * 3 / 2;
}

/* Sets the rows of the parts. False: they would be uneven. */
static bool cut_rows(const struct splitting *w, uint64_t *weights)
{
	const struct load_list *l = w->o->l;
	for (size_t i = 0; i < l->files.n; i++)
		weights[i] = l->files.at[i].n_bytes + 1;
	comm_cut(w->c, weights, l->files.n, w->rows);
	return load_split_is_even(w->c, weights, w->rows);
}

/*
 * Checks a file of this part's row and makes its outline, unless all parts have to open the file.
 */
static void check_own(void *arg, size_t i, unsigned worker)
{
	struct splitting *w = arg;
	const uint64_t path = w->rows[w->c->part] + i;
	struct load_opened *one = &w->o->opened[path];
	(void)worker;
	if (one->result != STATUS_OK)
		return;
	if (load_outline_needs_all(&one->file))
		atomic_store(&w->needs_all, true);
	if (!load_outline_suffices(&one->file))
		return;
	const bool suffices = load_check_values(&one->file);
	if (suffices && !load_outline_add(&w->outlines[path], path, &one->file))
		atomic_store(&w->failed, true);
	load_release(&one->file, LOAD_ALL);
	if (!suffices) { /* it will be opened again, in all parts */
		load_file_close(&one->file);
		one->is_done = false;
	}
}

static bool join_outlines(const struct splitting *w, struct load_outlines *all)
{
	bool ok = !atomic_load(&w->failed);
	for (uint64_t i = w->rows[w->c->part]; ok && i < w->rows[w->c->part + 1]; i++) {
		struct load_outlines *one = &w->outlines[i];
		uint8_t *to = one->bytes.n ? vec_extend(&all->bytes, one->bytes.n) : NULL;
		if (to)
			memcpy(to, one->bytes.at, one->bytes.n);
		ok = to || !one->bytes.n;
		vec_free(&one->bytes);
	}
	return ok;
}

/* Takes the outlines of files in the rows of other parts. False: one is not sound. */
static bool take_outlines(const struct splitting *w, const uint8_t *bytes, const uint64_t *first)
{
	bool ok = true;
	for (uint64_t at = 0, part = 0; at < first[w->c->n_parts];) {
		const struct load_outline *head = (const void *)(bytes + at);
		struct load_opened *one = &w->o->opened[head->path];
		while (at >= first[part + 1])
			part++;
		one->file.reader = (int)part + 1;
		if (!one->is_done) {
			one->is_done = true;
			one->result = load_outline_read(head, w->o->l->files.at[head->path].path,
							&one->file);
			ok &= one->result == STATUS_OK && load_outline_suffices(&one->file);
		}
		at += head->n_bytes;
	}
	return ok;
}

/* Exchanges outlines. Ends a step. */
static enum status exchange(struct splitting *w)
{
	struct load_outlines own = {0};
	struct comm *c = w->c;
	uint64_t *first = calloc((size_t)c->n_parts + 1, sizeof *first);
	const bool ok = first && join_outlines(w, &own);
	uint8_t *all = NULL;
	if (comm_agree(c, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK)
		all = comm_join(c, own.bytes.at, own.bytes.n, 1, first);
	if (all)
		comm_agree(c, take_outlines(w, all, first) ? STATUS_OK : STATUS_DIFFERS);
	vec_free(&own.bytes);
	free(all);
	free(first);
	return c->failed;
}

/* Opens this part's row. Afterwards the parts know which files all of them have to open. */
static enum status open_rows(struct splitting *w, struct load_job *job)
{
	struct load_opening *o = w->o;
	const struct comm *c = w->c;
	o->first = w->rows[c->part];
	o->end = w->rows[c->part + 1];
	load_opening_run(o, w->n_workers);
	pool_run(o->end - o->first, w->n_workers, check_own, w);
	job->is_split = !comm_max(c, atomic_load(&w->needs_all));
	return job->is_split ? exchange(w) : STATUS_OK;
}

enum status load_split_open(struct load_opening *o, struct load_job *job, enum status s,
			    unsigned n_workers)
{
	struct comm *c = job->comm;
	const size_t n = o->l->files.n;
	struct splitting w = {.o = o,
			      .c = c,
			      .n_workers = n_workers,
			      .rows = calloc((size_t)c->n_parts + 1, sizeof *w.rows),
			      .outlines = calloc(n + 1, sizeof *w.outlines)};
	uint64_t *weights = calloc(n + 1, sizeof *weights);
	const bool ok = w.rows && w.outlines && weights;
	if (!ok)
		log_error(NULL, "out of memory");
	s = comm_agree(c, ok ? s : STATUS_NO_MEMORY);
	if (s == STATUS_OK && cut_rows(&w, weights))
		s = open_rows(&w, job);
	o->first = 0;
	o->end = n;
	if (s == STATUS_OK)
		load_opening_run(o, n_workers);
	free(w.rows);
	for (size_t i = 0; w.outlines && i < n; i++)
		vec_free(&w.outlines[i].bytes);
	free(w.outlines);
	free(weights);
	return s;
}
