/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins what several files say about one process; see child_processes.h. Process ids are reused. So
 * a record of a wait belongs to a process only if it is the first one after the process's start, is
 * in the same measurement directory, and was written by the parent on the same host. Test:
 * tests/unit/prof/test_children.c.
 */
#include "hpcprof-lite/attribute/describe/child_processes.h"

#include "common/base/sorted.h"
#include "common/safe/fnv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* A child that a parent waited for. */
struct wait {
	uint64_t place;      /* host and directory */
	uint32_t parent, pid;
	const struct msr_child *record;
	bool is_taken;
};

/* An unmeasured program that was started, and the process that may wait for it. */
struct start {
	const struct load_unmeasured *u;
	uint64_t place;
	uint32_t parent;
	bool is_known;
	uint64_t cpu_ns;
};

struct part {
	const struct load_job *job;
	struct model *m;
	uint64_t *places;      /* by file */
	VEC(struct wait) waits;
	VEC(struct wait) unseen; /* measured processes without a wait record; `record` is not set */
	VEC(struct start) starts;
	VEC(struct model_unmeasured) groups;
};

static uint64_t place_of(const struct load_file *f)
{
	const char *slash = f->path ? strrchr(f->path, '/') : NULL;
	return fnv64(FNV64_START ^ f->header.host_id, f->path,
		     slash ? (size_t)(slash - f->path) : 0);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_waits(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;
	int c = compare_u64(x->place, y->place);
	c = c ? c : compare_u64(x->parent, y->parent);
	c = c ? c : compare_u64(x->pid, y->pid);
	return c ? c : compare_u64(x->record->end_ns, y->record->end_ns);
}

static bool collect(struct part *p)
{
	for (size_t i = 0; i < p->job->files.n; i++) {
		const struct load_file *f = &p->job->files.at[i];
		p->places[i] = place_of(f);
		for (size_t k = 0; k < f->children.n; k++) {
			struct wait *w = vec_push(&p->waits);
			if (!w)
				return false;
			*w = (struct wait){.place = p->places[i],
				.parent = f->header.pid,
				.pid = f->children.at[k].pid,
				.record = &f->children.at[k]};
		}
		for (size_t k = 0; k < f->unmeasured.n; k++) {
			struct start *s = vec_push(&p->starts);
			if (!s)
				return false;
			const struct load_unmeasured *u = &f->unmeasured.at[k];
			uint32_t parent = u->record->pid == f->header.pid ? f->header.parent_pid
									  : f->header.pid;
			*s = (struct start){.u = u, .place = p->places[i], .parent = parent};
		}
	}
	if (p->waits.n)
		qsort(p->waits.at, p->waits.n, sizeof *p->waits.at, compare_waits);
	return true;
}

/* The first wait of `parent` for `pid` that ended at `from_ns` or later. NULL: none. */
static struct wait *find_wait(
	struct part *p, uint64_t place, uint32_t parent, uint32_t pid, uint64_t from_ns)
{
	const struct msr_child record = {.end_ns = from_ns};
	const struct wait key = {.place = place, .parent = parent, .pid = pid, .record = &record};
	size_t lo = 0, hi = p->waits.n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (compare_waits(&p->waits.at[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	struct wait *w = lo < p->waits.n ? &p->waits.at[lo] : NULL;
	return w && pid && w->place == place && w->parent == parent && w->pid == pid ? w : NULL;
}

/* ---- ends ---- */

/*
 * The parent's record takes precedence: the process itself could record only what it was about to
 * do.
 */
static void settle_end(struct model_process *to, int status)
{
	if (WIFSIGNALED(status)) {
		to->exit_kind = MSR_EXIT_SIGNAL;
		to->exit_code = WTERMSIG(status);
	} else if (WIFEXITED(status)) {
		to->exit_kind = to->exit_kind == MSR_EXIT_RETURN ? MSR_EXIT_RETURN : MSR_EXIT_QUICK;
		to->exit_code = WEXITSTATUS(status);
	}
}

static int compare_parents(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;
	int c = compare_u64(x->place, y->place);
	return c ? c : compare_u64(x->parent, y->parent);
}

static bool settle_ends(struct part *p)
{
	for (size_t i = 0; i < p->job->files.n; i++) {
		const struct load_file *f = &p->job->files.at[i];
		bool is_replaced = f->header.exit_kind == MSR_EXIT_EXEC;
		const struct wait *w = find_wait(p, p->places[i], f->header.parent_pid,
			f->header.pid, f->header.start_mono_ns);
		if (w && !is_replaced)
			settle_end(&p->m->private_->processes[i], w->record->status);
		if (w || (is_replaced && f->unmeasured.n))
			continue;
		struct wait *unseen = vec_push(&p->unseen);
		if (!unseen)
			return false;
		*unseen = (struct wait){.place = p->places[i], .parent = f->header.parent_pid};
	}
	if (p->unseen.n)
		qsort(p->unseen.at, p->unseen.n, sizeof *p->unseen.at, compare_parents);
	return true;
}

/* ---- programs that were not measured ---- */

static int compare_starts(const void *a, const void *b)
{
	const struct start *x = a, *y = b;
	int c = compare_u64(x->place, y->place);
	c = c ? c : compare_u64(x->parent, y->parent);
	return c ? c : compare_u64(x->u->record->start_ns, y->u->record->start_ns);
}

static void settle_starts(struct part *p)
{
	for (size_t i = 0; i < p->starts.n; i++) {
		struct start *s = &p->starts.at[i];
		const struct msr_unmeasured *r = s->u->record;
		struct wait *w = find_wait(p, s->place, s->parent, r->pid, r->start_ns);
		if (!w || w->is_taken)
			continue;
		w->is_taken = s->is_known = true;
		s->cpu_ns = w->record->cpu_ns > r->cpu_before_ns
			? w->record->cpu_ns - r->cpu_before_ns
			: 0;
	}
	if (p->starts.n)
		qsort(p->starts.at, p->starts.n, sizeof *p->starts.at, compare_starts);
}

static bool add_group(struct part *p, const struct model_unmeasured *new)
{
	struct model_unmeasured *last = p->groups.n ? &p->groups.at[p->groups.n - 1] : NULL;
	if (!last || strcmp(last->path, new->path) != 0 || strcmp(last->why, new->why) != 0) {
		last = vec_push(&p->groups);
		if (last)
			*last = *new;
		return last;
	}
	last->n += new->n;
	last->n_unknown += new->n_unknown;
	last->cpu_ns =
		new->cpu_ns > UINT64_MAX - last->cpu_ns ? UINT64_MAX : last->cpu_ns + new->cpu_ns;
	return true;
}

/* The index of the first child that this process started, or where it would be. */
static size_t find_starts(const struct part *p, uint64_t place, uint32_t parent)
{
	size_t begin = sorted_below(p->starts.at, p->starts.n, place, place);
	const struct start *at = p->starts.at + begin;
	size_t n = sorted_up_to(at, p->starts.n - begin, place, place);
	return begin + sorted_below(at, n, parent, parent);
}

/*
 * Accounts for the CPU time of children without a record: system() waits inside libc, and Go makes
 * its own system calls. If only one unmeasured program can have used the time, the time counts for
 * that program.
 */
static bool settle_rest(struct part *p, size_t file, uint64_t rest_ns)
{
	const struct load_file *f = &p->job->files.at[file];
	const struct wait key = {.place = p->places[file], .parent = f->header.pid};
	struct start *first = NULL;
	uint64_t before_ns = 0;
	bool is_one = true;
	if (p->unseen.n && bsearch(&key, p->unseen.at, p->unseen.n, sizeof key, compare_parents))
		return true; /* measured children may be in it */
	size_t from = find_starts(p, key.place, key.parent), to = from;
	for (; to < p->starts.n && p->starts.at[to].place == key.place
		&& p->starts.at[to].parent == key.parent;
		to++) {
		struct start *s = &p->starts.at[to];
		if (s->is_known || s->u->record->start_ns < f->header.start_mono_ns)
			continue;
		first = first ? first : s;
		is_one = is_one && strcmp(first->u->path, s->u->path) == 0;
		before_ns += s->u->record->cpu_before_ns < rest_ns ? s->u->record->cpu_before_ns
								   : rest_ns;
	}
	if (!first)
		return add_group(p,
			&(struct model_unmeasured){.path = f->executable,
				.why = "their start was not seen",
				.is_starter = true,
				.cpu_ns = rest_ns});
	if (!is_one)
		return true;
	first->cpu_ns =
		rest_ns > before_ns ? rest_ns - before_ns : 0; /* the first start gets all of it */
	for (size_t i = from; i < to; i++)
		p->starts.at[i].is_known |=
			p->starts.at[i].u->record->start_ns >= f->header.start_mono_ns;
	return true;
}

static bool settle_rests(struct part *p)
{
	for (size_t i = 0; i < p->job->files.n; i++) {
		const struct load_file *f = &p->job->files.at[i];
		for (size_t k = 0; k < f->children.n; k++)
			if (f->children.at[k].pid == 0
				&& !settle_rest(p, i, f->children.at[k].cpu_ns))
				return false;
	}
	return true;
}

static int compare_names(const void *a, const void *b)
{
	const struct start *x = a, *y = b;
	int c = strcmp(x->u->path, y->u->path);
	return c ? c : compare_u64(x->u->record->reason, y->u->record->reason);
}

static bool group(struct part *p)
{
	if (p->starts.n)
		qsort(p->starts.at, p->starts.n, sizeof *p->starts.at, compare_names);
	for (size_t i = 0; i < p->starts.n; i++) {
		const struct start *s = &p->starts.at[i];
		const struct model_unmeasured new = {.path = s->u->path,
			.why = msr_unmeasured_name(s->u->record->reason),
			.n = 1,
			.n_unknown = !s->is_known,
			.cpu_ns = s->cpu_ns};
		if (!add_group(p, &new))
			return false;
	}
	return true;
}

static int compare_groups(const void *a, const void *b)
{
	const struct model_unmeasured *x = a, *y = b;
	int c = compare_u64(y->cpu_ns, x->cpu_ns);
	c = c ? c : strcmp(x->path, y->path);
	return c ? c : strcmp(x->why, y->why);
}

bool children_settle(struct model *m, const struct load_job *job)
{
	struct part p = {.job = job, .m = m};
	p.places = calloc(job->files.n + 1, sizeof *p.places);
	bool ok = p.places && collect(&p) && settle_ends(&p);
	if (ok) {
		settle_starts(&p);
		ok = settle_rests(&p) && group(&p);
	}
	if (ok && p.groups.n) {
		qsort(p.groups.at, p.groups.n, sizeof *p.groups.at, compare_groups);
		m->n_unmeasured = (uint32_t)p.groups.n;
		m->unmeasured = model_own(m, p.groups.at);
		ok = m->unmeasured;
		p.groups.at = NULL;
		m->n_unmeasured = ok ? m->n_unmeasured : 0;
	}
	free(p.groups.at);
	vec_free(&p.waits);
	vec_free(&p.unseen);
	vec_free(&p.starts);
	free(p.places);
	return ok;
}
