/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in the program findings are; see finding_run.h. Test: tests/unit/prof/test_findings.c. */
#include "hpcprof-lite/view/findings/finding_run.h"

#include <stdlib.h>

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Code of the program itself: an executable of the run, or Python source of the user. */
static bool find_own(const struct model *m, uint32_t module)
{
	const struct model_module *x = &m->modules[module];
	const char *last = NULL; /* processes of a job run the same program */
	if (x->is_python)
		return !model_is_python_library(x->path);
	for (uint32_t i = 0; x->role == MODEL_MODULE_PROGRAM && i < m->n_processes; i++) {
		const char *executable = m->processes[i].executable;
		if (executable != last && strcmp(base(x->path), base(executable)) == 0)
			return true;
		last = executable;
	}
	return false;
}

bool *finding_find_own(const struct model *m)
{
	bool *own = calloc((size_t)m->n_modules + 1, sizeof *own);
	for (uint32_t i = 0; own && i < m->n_modules; i++)
		own[i] = find_own(m, i);
	return own;
}

/* Code between the program and the system, or of the system. */
static bool is_library(const struct model *m, uint32_t module)
{
	if (module >= m->n_modules)
		return true;
	const struct model_module *x = &m->modules[module];
	return x->role != MODEL_MODULE_PROGRAM || strncmp(x->path, "/usr/lib", 8) == 0 ||
	       strncmp(x->path, "/lib", 4) == 0;
}

/* A line, or an instruction whose line is not known. */
static bool is_place(const struct model_context *c)
{
	return c->kind == MODEL_CONTEXT_LINE || c->kind == MODEL_CONTEXT_INSTRUCTION;
}

uint32_t finding_site(const struct finding_run *r, uint32_t context)
{
	const struct model *m = r->m;
	uint32_t other = MODEL_NONE, function = MODEL_NONE;
	for (uint32_t c = context; c != MODEL_NONE && m->contexts[c].kind != MODEL_CONTEXT_ROOT;
	     c = m->contexts[c].parent) {
		const struct model_context *at = &m->contexts[c];
		if (is_place(at) && at->module < m->n_modules && r->own[at->module])
			return c;
		if (is_place(at) && other == MODEL_NONE && !is_library(m, at->module))
			other = c;
		if (at->kind == MODEL_CONTEXT_FUNCTION && function == MODEL_NONE &&
		    at->module != MODEL_NONE)
			function = c;
	}
	return other != MODEL_NONE ? other : function != MODEL_NONE ? function : context;
}

/* True if two contexts are the same line of the same function. */
static bool is_same(const struct model_context *a, const struct model_context *b)
{
	return a->kind == b->kind && a->function == b->function && a->file == b->file &&
	       a->line == b->line &&
	       (a->kind != MODEL_CONTEXT_INSTRUCTION || a->function != MODEL_NONE);
}

double *finding_weights(const struct model *m)
{
	return calloc((size_t)m->n_contexts + 1, sizeof(double));
}

/* The site with the most weight; MODEL_NONE: none has any. */
static uint32_t find_most(const struct model *m, const double *weights)
{
	uint32_t best = MODEL_NONE;
	for (uint32_t c = 0; c < m->n_contexts; c++)
		if (weights[c] > 0 && (best == MODEL_NONE || weights[c] > weights[best]))
			best = c;
	return best;
}

void finding_places(const struct finding_run *r, struct finding *f, double *weights)
{
	const struct model *m = r->m;
	double whole = 0;
	for (uint32_t c = m->n_contexts; c-- > 1;) { /* sites are at or above their contexts */
		const uint32_t site = weights[c] != 0 ? finding_site(r, c) : c;
		if (site == c)
			continue;
		weights[site] += weights[c];
		weights[c] = 0;
	}
	for (uint32_t c = 0; c < m->n_contexts; c++)
		whole += weights[c] > 0 ? weights[c] : 0;
	f->n_places = 0;
	while (f->n_places < VIEW_PLACES) {
		const uint32_t best = find_most(m, weights);
		double weight = 0;
		if (best == MODEL_NONE)
			return;
		for (uint32_t c = 0; c < m->n_contexts; c++)
			if (weights[c] > 0 && is_same(&m->contexts[c], &m->contexts[best])) {
				weight += weights[c];
				weights[c] = 0;
			}
		if (weight < 0.05 * whole)
			return;
		f->places[f->n_places++] = (struct view_place){best, weight / whole};
	}
}

bool finding_places_of(const struct finding_run *r, struct finding *f, unsigned activity)
{
	const struct model *m = r->m;
	double *weights = finding_weights(m);
	if (!weights)
		return false;
	for (uint32_t c = 0; c < m->n_contexts; c++)
		if (m->contexts[c].activity == activity)
			weights[c] = r->self[c];
	finding_places(r, f, weights);
	free(weights);
	return true;
}

/* True if a function of libc above the context, with only libc between, has one of the names. */
static bool is_in_libc_call(const struct model *m, uint32_t context, const char *const *words)
{
	for (uint32_t c = context; c != MODEL_NONE; c = m->contexts[c].parent) {
		const struct model_context *x = &m->contexts[c];
		if (x->kind != MODEL_CONTEXT_FUNCTION)
			continue;
		if (x->module >= m->n_modules || m->modules[x->module].role != MODEL_MODULE_START)
			return false;
		const char *name = m->functions[x->function].name;
		name += strspn(name, "_");
		for (size_t i = 0; words[i]; i++)
			if (strncmp(name, words[i], strlen(words[i])) == 0)
				return true;
	}
	return false;
}

double finding_libc_time(const struct finding_run *r, const char *const *words)
{
	double seconds = 0;
	for (uint32_t c = 1; c < r->m->n_contexts; c++)
		if (r->self[c] > 0 && r->m->contexts[c].activity == MODEL_WORK &&
		    is_in_libc_call(r->m, c, words))
			seconds += r->self[c];
	return seconds / r->lanes;
}

const char *finding_function(const struct model *m, uint32_t context)
{
	for (uint32_t c = context; c != MODEL_NONE; c = m->contexts[c].parent) {
		const uint32_t function = m->contexts[c].function;
		if (function < m->n_functions && !m->functions[function].wait &&
		    m->functions[function].module != MODEL_NONE)
			return m->functions[function].name;
	}
	return "";
}
