/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processes, threads, time and contexts are in the part. Test:
 * tests/cli/prof/prof_filter.sh.
 */
#include "common/base/log.h"
#include "hpcprof-lite/filter/filter_part.h"
#include "hpcprof-lite/filter/filter_text.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- processes ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* `item` is a pid if it has only digits, else a path, a base name, or a pattern for one of them. */
static bool is_process(const struct model_process *p, const char *item)
{
	if (item[strspn(item, "0123456789")] == 0)
		return strtoull(item, NULL, 10) == p->pid;
	return strcmp(item, p->executable) == 0 || fnmatch(item, base_name(p->executable), 0) == 0;
}

/* Logs which programs there are, each once. */
static enum status refuse_process(const struct model *m, const char *item)
{
	enum { MOST = 8 };
	char have[512] = "";
	unsigned n = 0;
	for (uint32_t i = 0; i < m->n_processes && n < MOST; i++) {
		bool is_new = true;
		for (uint32_t k = 0; k < i && is_new; k++)
			is_new = strcmp(m->processes[k].executable, m->processes[i].executable);
		if (is_new)
			snprintf(have + strlen(have), sizeof have - strlen(have), "%s%s pid %u",
				 n++ ? ", " : "", base_name(m->processes[i].executable),
				 m->processes[i].pid);
	}
	log_error(NULL, "--process: no process '%s' was measured; there is: %s", item, have);
	return STATUS_USAGE;
}

/* Clears wanted[] of the processes that no item names. */
static enum status match_processes(const struct model *m, const char *list, bool *wanted)
{
	const char *name;
	bool *named = calloc((size_t)m->n_processes + 1, sizeof *named);
	enum status s = named ? STATUS_OK : STATUS_NO_MEMORY;
	for (size_t n; s == STATUS_OK && (n = filter_next_name(&list, &name));) {
		char *item = strndup(name, n);
		bool any = false;
		for (uint32_t i = 0; item && i < m->n_processes; i++) {
			bool is_one = is_process(&m->processes[i], item);
			named[i] |= is_one;
			any |= is_one;
		}
		s = !item ? STATUS_NO_MEMORY : any ? STATUS_OK : refuse_process(m, item);
		free(item);
	}
	for (uint32_t i = 0; s == STATUS_OK && i < m->n_processes; i++)
		wanted[i] &= named[i];
	free(named);
	return s;
}

/* Every item of the list must have a process, so that a typing error is seen. */
static enum status match_ranks(const struct model *m, const char *list, bool *wanted)
{
	struct filter_range r;
	int32_t least = INT32_MAX, most = -1;
	for (uint32_t i = 0; i < m->n_processes; i++) {
		int32_t rank = m->processes[i].rank;
		least = rank >= 0 && rank < least ? rank : least;
		most = rank > most ? rank : most;
		wanted[i] &= rank >= 0 && filter_list_has(list, (uint32_t)rank);
	}
	if (most < 0) {
		log_error(NULL, "--rank: the processes of this run have no ranks");
		return STATUS_USAGE;
	}
	for (const char *at = list; filter_next_range(&at, &r);) {
		bool any = false;
		for (uint32_t i = 0; i < m->n_processes && !any; i++)
			any = m->processes[i].rank >= (int32_t)r.first &&
			      m->processes[i].rank <= (int32_t)r.last;
		if (any)
			continue;
		log_error(NULL, "--rank: no process has rank %u; there is: %d to %d", r.first,
			  least, most);
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

/* ---- time ---- */

static uint64_t moment_ns(const struct filter_moment *t, uint64_t whole_ns)
{
	double ns = t->is_percent ? (double)whole_ns * (t->value / 100) : t->value * 1e9;
	return (uint64_t)llround(ns);
}

static enum status choose_time(struct filter_part *p)
{
	const struct model *m = p->from;
	struct filter_moment from, to;
	uint64_t whole_ns = m->end_ns - m->start_ns;
	p->has_time = p->f->time && filter_read_time(p->f->time, &from, &to);
	if (!p->has_time)
		return STATUS_OK;
	uint64_t from_ns = from.is_given ? moment_ns(&from, whole_ns) : 0,
		 until_ns = to.is_given ? moment_ns(&to, whole_ns) : UINT64_MAX;
	p->from_ns = m->start_ns + from_ns;
	/* The last sample comes at the end of the run, and 100% includes it. */
	p->until_ns = until_ns >= whole_ns ? UINT64_MAX : m->start_ns + until_ns;
	if (from_ns <= whole_ns && p->from_ns < p->until_ns)
		return STATUS_OK;
	log_error(NULL, "--time: the run lasted %.9g s: nothing is in '%s'", (double)whole_ns / 1e9,
		  p->f->time);
	return STATUS_USAGE;
}

static bool is_in_time(const struct filter_part *p, uint64_t start_ns, uint64_t end_ns)
{
	return !p->has_time || (start_ns < p->until_ns && end_ns >= p->from_ns);
}

/* ---- threads ---- */

static enum status match_threads(const struct filter_part *p, const bool *wanted)
{
	struct filter_range r;
	for (const char *at = p->f->threads; at && filter_next_range(&at, &r);) {
		bool any = false;
		uint32_t most = 0;
		for (uint32_t i = 0; i < p->from->n_profiles && !any; i++) {
			const struct model_profile *t = &p->from->profiles[i];
			if (t->kind != MODEL_PROFILE_THREAD || !wanted[t->process])
				continue;
			any = t->thread >= r.first && t->thread <= r.last;
			most = t->thread > most ? t->thread : most;
		}
		if (any)
			continue;
		log_error(NULL, "--thread: no process has a thread %u; the highest number is %u",
			  r.first, most);
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

/*
 * Clears wanted[] of the processes that did not run in the range of time, and had no GPU queue that
 * did.
 */
static bool match_time(const struct filter_part *p, bool *wanted)
{
	const struct model *m = p->from;
	bool *ran = calloc((size_t)m->n_processes + 1, sizeof *ran);
	if (!ran)
		return false;
	for (uint32_t i = 0; i < m->n_processes; i++)
		ran[i] = is_in_time(p, m->processes[i].start_ns, m->processes[i].end_ns);
	for (uint32_t i = 0; i < m->n_profiles; i++)
		ran[m->profiles[i].process] |=
			is_in_time(p, m->profiles[i].start_ns, m->profiles[i].end_ns);
	for (uint32_t i = 0; i < m->n_processes; i++)
		wanted[i] &= ran[i];
	free(ran);
	return true;
}

/* A thread whose time is over may still have operations on a GPU. */
static bool is_thread_in_time(const struct filter_part *p, const struct model_profile *t)
{
	return p->from->processes[t->process].n_gpu || is_in_time(p, t->start_ns, t->end_ns);
}

static enum status keep_threads(struct filter_part *p, const bool *wanted)
{
	const struct model *m = p->from;
	bool any = false;
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_profile *t = &m->profiles[i];
		if (t->kind != MODEL_PROFILE_THREAD || !wanted[t->process] ||
		    (p->f->threads && !filter_list_has(p->f->threads, t->thread)) ||
		    !is_thread_in_time(p, t))
			continue;
		p->profile_to[i] = p->process_to[t->process] = 0;
		any = true;
	}
	for (uint32_t i = 0; i < m->n_processes && !p->f->threads; i++)
		if (wanted[i]) {
			p->process_to[i] = 0;
			any = true;
		}
	if (any)
		return STATUS_OK;
	log_error(NULL, "the filters leave nothing: no process matches all of them");
	return STATUS_USAGE;
}

/* ---- functions ---- */

static bool has_name(const char *name, const char *wanted)
{
	size_t n = strlen(wanted);
	return strncmp(name, wanted, n) == 0 &&
	       (!name[n] || strcmp(name + n, MODEL_GUESSED_SUFFIX) == 0);
}

/* The functions with the most similar names, each once: "; there is: a, b". */
static enum status refuse_function(const struct model *m, const bool *occurs, const char *name)
{
	enum { MOST = 3 };
	uint32_t best[MOST];
	unsigned distance[MOST], n = 0;
	for (uint32_t i = 0; i < m->n_functions; i++) {
		unsigned d = occurs[i] ? filter_distance(name, m->functions[i].name) : UINT32_MAX,
			 at = n;
		bool is_new = d <= 1 + strlen(name) / 2;
		for (unsigned k = 0; k < n; k++)
			is_new &= strcmp(m->functions[best[k]].name, m->functions[i].name) != 0;
		if (!is_new || (n == MOST && d >= distance[MOST - 1]))
			continue;
		n += n < MOST;
		for (at = n - 1; at && distance[at - 1] > d; at--) {
			best[at] = best[at - 1];
			distance[at] = distance[at - 1];
		}
		best[at] = i;
		distance[at] = d;
	}
	char have[1024] = "";
	for (unsigned k = 0; k < n; k++)
		snprintf(have + strlen(have), sizeof have - strlen(have), "%s%.300s",
			 k ? ", " : "; there is: ", m->functions[best[k]].name);
	log_error(NULL, "--below: no function '%s' was measured%s", name,
		  n ? have : "; --by function shows their names");
	return STATUS_USAGE;
}

/* An exact name wins over a pattern: "operator[]" is both. */
static bool find_functions(const struct model *m, const char *wanted, const bool *occurs,
			   bool *matches)
{
	bool any = false;
	for (uint32_t i = 0; i < m->n_functions; i++)
		any |= matches[i] = occurs[i] && has_name(m->functions[i].name, wanted);
	for (uint32_t i = 0; !any && i < m->n_functions; i++)
		matches[i] = occurs[i] && fnmatch(wanted, m->functions[i].name, 0) == 0;
	for (uint32_t i = 0; !any && i < m->n_functions; i++)
		any = matches[i];
	return any;
}

static enum status choose_contexts(struct filter_part *p)
{
	const struct model *m = p->from;
	if (!p->f->below)
		return STATUS_OK;
	bool *occurs = calloc((size_t)m->n_functions + 1, sizeof *occurs),
	     *matches = calloc((size_t)m->n_functions + 1, sizeof *matches);
	p->below = calloc((size_t)m->n_contexts + 1, sizeof *p->below);
	enum status s = occurs && matches && p->below ? STATUS_OK : STATUS_NO_MEMORY;
	for (uint32_t c = 0; s == STATUS_OK && c < m->n_contexts; c++)
		if (m->contexts[c].kind == MODEL_CONTEXT_FUNCTION)
			occurs[m->contexts[c].function] = true;
	if (s == STATUS_OK && !find_functions(m, p->f->below, occurs, matches))
		s = refuse_function(m, occurs, p->f->below);
	for (uint32_t i = 1; s == STATUS_OK && i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		p->below[i] = p->below[c->parent] ||
			      (c->kind == MODEL_CONTEXT_FUNCTION && matches[c->function]);
	}
	free(occurs);
	free(matches);
	return s;
}

enum status filter_choose(struct filter_part *p)
{
	const struct model *m = p->from;
	bool *wanted = malloc((size_t)m->n_processes + 1);
	if (!wanted)
		return STATUS_NO_MEMORY;
	memset(wanted, true, m->n_processes);
	enum status s = choose_time(p);
	if (s == STATUS_OK && p->f->ranks)
		s = match_ranks(m, p->f->ranks, wanted);
	if (s == STATUS_OK && p->f->processes)
		s = match_processes(m, p->f->processes, wanted);
	if (s == STATUS_OK)
		s = match_threads(p, wanted);
	if (s == STATUS_OK && (!filter_keep_threads(p, wanted) || !match_time(p, wanted)))
		s = STATUS_NO_MEMORY;
	if (s == STATUS_OK)
		s = keep_threads(p, wanted);
	if (s == STATUS_OK)
		s = choose_contexts(p);
	free(wanted);
	return s;
}

/* ---- for people ---- */

bool filter_describe(struct filter_part *p)
{
	const struct {
		const char *what, *value;
	} all[] = {{"rank", p->f->ranks},
		   {"process", p->f->processes},
		   {"thread", p->f->threads},
		   {"time", p->f->time},
		   {"below", p->f->below}};
	char *text = NULL;
	size_t n_bytes = 0, n = 0;
	FILE *out = open_memstream(&text, &n_bytes);
	if (!out)
		return false;
	if (p->from->part)
		fprintf(out, "%s; ", p->from->part);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (!all[i].value)
			continue;
		fprintf(out, "%s%s %s", n++ ? "; " : "", all[i].what, all[i].value);
		if (all[i].value != p->f->time)
			continue;
		uint64_t end_ns = p->until_ns < p->from->end_ns ? p->until_ns : p->from->end_ns;
		fprintf(out, " (%.9g s to %.9g s of %.9g s)",
			(double)(p->from_ns - p->from->start_ns) / 1e9,
			(double)(end_ns - p->from->start_ns) / 1e9,
			(double)(p->from->end_ns - p->from->start_ns) / 1e9);
	}
	if (fclose(out) != 0) {
		free(text);
		return false;
	}
	p->to->part_has_gaps = p->below || p->from->part_has_gaps;
	return (p->to->part = model_own(p->to, text)) != NULL;
}
