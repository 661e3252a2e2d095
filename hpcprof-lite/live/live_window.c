/* SPDX-License-Identifier: BSD-3-Clause */
/* See live_window.h. Must not write into the mapped files. */
#include "hpcprof-lite/live/live_window.h"

#include "common/base/now.h"
#include "common/base/sorted.h"
#include "hpcprof-lite/load/load_records.h"
#include "hpcprof-lite/load/load_running.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An operation of a GPU may end so many looks after its launch. */
enum { LAUNCH_LOOKS = 60, OLD_LAUNCHES = 100000 };
/* Paths that continue others nest no deeper (attribute/merge/forward_paths.h). */
enum { FORWARD_DEPTH = 64 };

struct seen_value {
	uint64_t count, sum;
};

struct seen_thread {
	VEC(struct seen_value) values; /* by cell id */
	struct {
		VEC(struct msr_cell);
	} added[LIVE_LOOKS]; /* by look */
};

/* How many records an extent of the GPU had. */
struct seen_part {
	uint64_t n[LAUNCH_LOOKS]; /* by look */
};

struct live_window {
	struct map ended, threads, parts; /* keys: see key_of() */
	VEC(struct seen_thread) seen_threads;
	VEC(struct seen_part) seen_parts;
	uint64_t look;                    /* number of this one */
	uint64_t look_ns[LIVE_LOOKS + 1]; /* when, by look */
};

struct live_window *live_window_new(void)
{
	return calloc(1, sizeof(struct live_window));
}

void live_window_free(struct live_window *w)
{
	for (size_t i = 0; w && i < w->seen_threads.n; i++) {
		vec_free(&w->seen_threads.at[i].values);
		for (size_t k = 0; k < LIVE_LOOKS; k++)
			vec_free(&w->seen_threads.at[i].added[k]);
	}
	if (!w)
		return;
	vec_free(&w->seen_threads);
	vec_free(&w->seen_parts);
	map_free(&w->ended);
	map_free(&w->threads);
	map_free(&w->parts);
	free(w);
}

const struct map *live_window_ended(const struct live_window *w)
{
	return &w->ended;
}

/* A process: the children of fork in one file differ in pid or start. */
static uint64_t key_of(const struct load_file *f)
{
	const uint64_t words[] = {f->header.host_id, f->header.pid, f->header.start_mono_ns,
				  f->header.exec_seq};
	return hash_bytes(words, sizeof words);
}

/* ---- samples ---- */

static struct seen_thread *find_thread(struct live_window *w, const struct load_file *f,
				       const struct load_thread *t, bool *is_new)
{
	const uint64_t next = w->seen_threads.n,
		       id = map_put(&w->threads, key_of(f), t->number, next);
	*is_new = id == next;
	if (id == MAP_NONE || (*is_new && !vec_push(&w->seen_threads)))
		return NULL;
	return &w->seen_threads.at[id];
}

/* Adds what the cell got since the last look. */
static bool look_at_cell(struct seen_thread *s, uint64_t id, const struct msr_cell *c, size_t slot)
{
	if (s->values.n <= id && !vec_extend(&s->values, id + 1 - s->values.n))
		return false;
	struct seen_value *v = &s->values.at[id];
	struct msr_cell new = *c;
	if (c->count < v->count || c->sum < v->sum || (c->count == v->count && c->sum == v->sum))
		return true;
	new.count -= v->count;
	new.sum -= v->sum;
	*v = (struct seen_value){c->count, c->sum};
	struct msr_cell *to = vec_push(&s->added[slot]);
	if (to)
		*to = new;
	return to;
}

/* True for cells in the file; load_unsampled_wait() adds one that is not. */
static bool is_of_file(const struct load_file *f, const struct load_part *p)
{
	return p->content >= f->map.bytes && p->content < f->map.bytes + f->map.n_bytes;
}

static bool look_at_thread(struct live_window *w, const struct load_file *f,
			   const struct load_thread *t)
{
	bool is_new;
	struct seen_thread *s = find_thread(w, f, t, &is_new);
	if (!s)
		return false;
	const size_t slot = w->look % LIVE_LOOKS;
	const uint64_t last_ns = w->look ? w->look_ns[(w->look - 1) % (LIVE_LOOKS + 1)] : 0;
	vec_clear(&s->added[slot]);
	for (size_t p = 0; p < t->cells.n; p++) {
		const struct load_part *part = &t->cells.at[p];
		const struct msr_cell *cells = (const void *)part->content;
		for (uint64_t i = 0; is_of_file(f, part) && i < part->n_bytes / sizeof *cells; i++)
			if (part->first + i < f->map.n_bytes / sizeof *cells &&
			    !look_at_cell(s, part->first + i, &cells[i], slot))
				return false;
	}
	/* nobody knows when an old thread got what the first look finds */
	if (is_new && (!w->look || t->record->start_ns < last_ns))
		vec_clear(&s->added[slot]);
	return true;
}

/* ---- what is used of the tree ---- */

static size_t index_of(const struct load_file *f, uint32_t thread)
{
	const size_t at = sorted_below(f->threads.at, f->threads.n, number, thread);
	return at < f->threads.n && f->threads.at[at].number == thread ? at : SIZE_MAX;
}

/*
 * Marks the node and its callers; `used` is by thread of the file, then by node. `depth`: how many
 * paths this one continues.
 */
static void use(const struct load_file *f, bool **used, size_t thread, uint32_t node,
		unsigned depth)
{
	while (thread < f->threads.n && depth <= FORWARD_DEPTH) {
		const struct load_thread *t = &f->threads.at[thread];
		const struct msr_node *n = node < t->n_nodes ? load_node(t, node) : NULL;
		if (!n || !node || used[thread][node] || t->node_to[node] == LOAD_DAMAGED)
			return;
		used[thread][node] = true;
		if (load_is_forward(n->addr))
			use(f, used, index_of(f, msr_forward_thread(n->addr)),
			    msr_forward_node(n->addr), depth + 1);
		node = n->parent;
	}
}

static void use_launches(const struct load_file *f, bool **used)
{
	for (size_t p = 0; p < f->gpu.launches.n; p++) {
		const struct load_gpu_part *part = &f->gpu.launches.at[p];
		const size_t thread = index_of(f, part->thread);
		for (uint64_t i = 0; i < part->n; i++) {
			const struct msr_gpu_launch *l = load_gpu_at(part, i);
			use(f, used, thread, l->kind_node & MSR_TRACE_NODE_MAX, 0);
		}
	}
}

/* The tree loses its other nodes, so that it is merged in the time that the window needs. */
static bool prune(struct load_file *f)
{
	bool **used = calloc(f->threads.n + 1, sizeof *used), ok = used;
	for (size_t i = 0; ok && i < f->threads.n; i++)
		ok = (used[i] = calloc(f->threads.at[i].n_nodes, 1));
	for (size_t i = 0; ok && i < f->threads.n; i++)
		for (size_t p = 0; p < f->threads.at[i].cells.n; p++) {
			const struct load_part *part = &f->threads.at[i].cells.at[p];
			const struct msr_cell *c = (const void *)part->content;
			for (uint64_t k = 0; k < part->n_bytes / sizeof *c; k++)
				use(f, used, i, c[k].node, 0);
		}
	if (ok)
		use_launches(f, used);
	for (size_t i = 0; used && i < f->threads.n; i++) {
		struct load_thread *t = &f->threads.at[i];
		for (uint32_t n = 1; ok && n < t->n_nodes; n++)
			if (!used[i][n])
				t->node_to[n] = LOAD_DAMAGED;
		free(used[i]);
	}
	free(used);
	return ok;
}

/* ---- GPUs ---- */

/*
 * Notes how many records the extents have, and takes those out that were there `n_looks` before.
 * Of what the first look finds, it keeps the last `n_old`.
 */
static bool cut_parts(struct live_window *w, struct load_file *f, struct load_gpu_part *parts,
		      size_t n, unsigned n_looks, uint64_t n_old)
{
	const uint64_t key = key_of(f);
	for (size_t i = 0; i < n; i++) {
		const uint64_t offset = (uint64_t)(parts[i].content - f->map.bytes),
			       next = w->seen_parts.n, id = map_put(&w->parts, key, offset, next);
		if (id == MAP_NONE || (id == next && !vec_push(&w->seen_parts)))
			return false;
		struct seen_part *s = &w->seen_parts.at[id];
		for (size_t k = 0; !w->look && k < LAUNCH_LOOKS; k++)
			s->n[k] = parts[i].n > n_old ? parts[i].n - n_old : 0;
		const uint64_t before = s->n[(w->look + LAUNCH_LOOKS - n_looks) % LAUNCH_LOOKS],
			       gone = before < parts[i].n ? before : parts[i].n;
		s->n[w->look % LAUNCH_LOOKS] = parts[i].n;
		parts[i].content += gone * parts[i].stride;
		parts[i].n -= gone;
	}
	return true;
}

static bool cut_gpu(struct live_window *w, struct load_file *f)
{
	struct load_gpu *g = &f->gpu;
	g->aggregates.n = g->energies.n = g->values.n = 0;
	return cut_parts(w, f, g->ops.at, g->ops.n, LIVE_LOOKS, 0) &&
	       cut_parts(w, f, g->pcs.at, g->pcs.n, LIVE_LOOKS, 0) &&
	       cut_parts(w, f, g->ranges.at, g->ranges.n, LIVE_LOOKS, 0) &&
	       cut_parts(w, f, g->launches.at, g->launches.n, LAUNCH_LOOKS - 1, OLD_LAUNCHES);
}

/* ---- threads and processes ---- */

/* One list of cells: the sum of several of one node and metric is taken later. */
static struct msr_cell *join_added(const struct seen_thread *s, size_t *n)
{
	*n = 0;
	for (size_t k = 0; k < LIVE_LOOKS; k++)
		*n += s->added[k].n;
	struct msr_cell *all = malloc((*n + 1) * sizeof *all), *to = all;
	for (size_t k = 0; all && k < LIVE_LOOKS; k++) {
		if (s->added[k].n)
			memcpy(to, s->added[k].at, s->added[k].n * sizeof *to);
		to += s->added[k].n;
	}
	return all;
}

/*
 * A sample of OFFCPU may be of a wait that began long before. A thread cannot have been off the
 * processor for longer than the window less its CPU time.
 */
static void bound_waits(const struct load_file *f, struct msr_cell *cells, size_t n,
			uint64_t window_ns)
{
	uint64_t on = 0, off = 0;
	for (size_t i = 0; i < n; i++) {
		const struct msr_metric *k = f->metrics[cells[i].metric % MSR_MAX_METRICS];
		on += k && !strcmp(k->name, "CPUTIME") ? cells[i].sum : 0;
		off += k && !strcmp(k->name, MSR_METRIC_OFFCPU) ? cells[i].sum : 0;
	}
	const uint64_t most = window_ns > on ? window_ns - on : 0;
	for (size_t i = 0; off > most && i < n; i++) {
		const struct msr_metric *k = f->metrics[cells[i].metric % MSR_MAX_METRICS];
		if (k && !strcmp(k->name, MSR_METRIC_OFFCPU))
			cells[i].sum =
				(uint64_t)((double)cells[i].sum / (double)off * (double)most);
	}
}

static bool cut_thread(struct live_window *w, struct load_file *f, struct load_thread *t,
		       uint64_t from_ns, uint64_t until_ns)
{
	bool is_new;
	size_t n;
	struct seen_thread *s = find_thread(w, f, t, &is_new);
	struct msr_cell *cells = s ? join_added(s, &n) : NULL;
	void **owned = cells ? vec_push(&f->owned) : NULL;
	if (!owned || (!t->copy && !load_make_record(t))) {
		if (!owned)
			free(cells);
		return false;
	}
	*owned = cells;
	struct msr_thread *r = t->copy;
	if (r->start_ns < from_ns)
		r->start_ns = from_ns;
	if (!r->end_ns || r->end_ns > until_ns)
		r->end_ns = until_ns;
	r->cpu_start_ns = r->cpu_end_ns = 0; /* only known for the whole life */
	r->cpu_off_ns = 0;
	bound_waits(f, cells, n, r->end_ns > r->start_ns ? r->end_ns - r->start_ns : 0);
	vec_clear(&t->cells);
	struct load_part *part = n ? vec_push(&t->cells) : NULL;
	if (part)
		*part = (struct load_part){.content = (const void *)cells,
					   .n_bytes = n * sizeof *cells};
	return part || !n;
}

/* Removes the threads that ended before. */
static void drop_threads(struct load_file *f, uint64_t from_ns)
{
	size_t kept = 0;
	for (size_t i = 0; i < f->threads.n; i++) {
		struct load_thread *t = &f->threads.at[i];
		if (t->record->end_ns && t->record->end_ns <= from_ns)
			load_free_thread(t);
		else
			f->threads.at[kept++] = *t;
	}
	f->threads.n = kept;
}

/* Takes out what is only known for the whole run. */
static void drop_sums(struct load_file *f)
{
	load_mpi_free(&f->mpi);
	memset(&f->mpi, 0, sizeof f->mpi);
	f->regions.n = f->phases.n = f->children.n = f->unmeasured.n = f->spawns.n = 0;
	if (!f->threads.n) { /* GPU work counts in threads */
		load_gpu_free(&f->gpu);
		memset(&f->gpu, 0, sizeof f->gpu);
	}
	struct msr_header *h = &f->header;
	h->cpu_start_ns = h->cpu_end_ns = h->throttled_start_ns = h->throttled_end_ns = 0;
	h->off_ns = 0;
	h->off_since_ns = 0;
	memset(&h->usage, 0, sizeof h->usage);
}

static bool cut_file(struct live_window *w, struct load_file *f, uint64_t from_ns, uint64_t at_ns)
{
	struct msr_header *h = &f->header;
	const uint64_t end_ns = h->end_mono_ns && h->end_mono_ns < at_ns ? h->end_mono_ns : at_ns,
		       start_ns = h->start_mono_ns > from_ns ? h->start_mono_ns : from_ns;
	bool ok = cut_gpu(w, f);
	drop_threads(f, from_ns);
	for (size_t i = 0; ok && i < f->threads.n; i++)
		ok = cut_thread(w, f, &f->threads.at[i], start_ns, end_ns);
	drop_sums(f);
	if (!ok || !prune(f))
		return false;
	h->start_real_ns += start_ns - h->start_mono_ns;
	h->start_mono_ns = start_ns;
	h->end_mono_ns = end_ns > start_ns ? end_ns : start_ns;
	return true;
}

/* Notes the files whose processes have all ended, so that nobody opens them again. */
static bool note_ended(struct live_window *w, const struct load_job *job)
{
	struct map running = {0};
	bool ok = true;
	for (size_t i = 0; ok && i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		if (f->running != LOAD_ENDED)
			ok = map_put(&running, hash_bytes(f->path, strlen(f->path)), 0, 0) !=
			     MAP_NONE;
	}
	for (size_t i = 0; ok && i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		struct stat st;
		if (map_get(&running, hash_bytes(f->path, strlen(f->path)), 0) == MAP_NONE &&
		    lstat(f->path, &st) == 0)
			ok = map_put(&w->ended, st.st_dev, st.st_ino, w->look) != MAP_NONE;
	}
	map_free(&running);
	return ok;
}

/* What is `at_ns` by the clock of the process, which may be of another host. */
static uint64_t now_of(const struct load_file *f, uint64_t at_ns)
{
	if (f->copied_ns)
		return f->copied_ns;
	return f->running != LOAD_UNKNOWN
		       ? at_ns
		       : now_ns(CLOCK_REALTIME) - f->header.start_real_ns + f->header.start_mono_ns;
}

bool live_window_cut(struct live_window *w, struct load_job *job, uint64_t at_ns, double *seconds)
{
	const size_t room = LIVE_LOOKS + 1;
	const uint64_t first = w->look < LIVE_LOOKS ? 0 : w->look - LIVE_LOOKS;
	bool ok = true;
	w->look_ns[w->look % room] = at_ns;
	const uint64_t window_ns = at_ns - w->look_ns[first % room];
	for (size_t i = 0; ok && i < job->files.n; i++)
		for (size_t k = 0; ok && k < job->files.at[i].threads.n; k++)
			ok = look_at_thread(w, &job->files.at[i], &job->files.at[i].threads.at[k]);
	ok = ok && note_ended(w, job);
	for (size_t i = 0; ok && i < job->files.n; i++) {
		const uint64_t now = now_of(&job->files.at[i], at_ns);
		ok = cut_file(w, &job->files.at[i], now > window_ns ? now - window_ns : 0, now);
	}
	w->look++;
	*seconds = (double)window_ns / 1e9;
	return ok;
}
