/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_launch.h. Test: tests/unit/prof/test_view_launch.c. */
#include "hpcprof-lite/view/view_launch.h"

#include "hpcprof-lite/view/view_gpu.h"

#include <string.h>

/* Code between a launch in the source and the GPU, and the interpreter that runs Python's lines. */
static bool is_machinery(const struct model *m, const struct model_context *c, const char *kernel)
{
	const struct model_function *f =
		c->function < m->n_functions ? &m->functions[c->function] : NULL;
	if (f && (f->is_launch || strcmp(f->name, kernel) ==
					  0)) /* the host's function of the same name launches it */
		return true;
	unsigned role =
		c->module < m->n_modules ? m->modules[c->module].role : MODEL_MODULE_PROGRAM;
	return role == MODEL_MODULE_LAUNCH || role == MODEL_MODULE_INTERPRETER;
}

/*
 * Below a Python line there may be lines of extension modules with debug information. If there are
 * none, as in PyTorch, the user's Python line says more than a line of a library.
 */
static uint32_t find_site(const struct model *m, uint32_t kernel)
{
	const char *name = m->functions[m->contexts[kernel].function].name;
	uint32_t function = MODEL_NONE, last = kernel;
	for (uint32_t c = m->contexts[kernel].parent;
	     c != MODEL_NONE && m->contexts[c].kind != MODEL_CONTEXT_ROOT;
	     last = c, c = m->contexts[c].parent) {
		const struct model_context *at = &m->contexts[c];
		bool is_place =
			at->kind == MODEL_CONTEXT_LINE || at->kind == MODEL_CONTEXT_INSTRUCTION;
		if (!is_place || is_machinery(m, at, name))
			continue;
		if (at->kind == MODEL_CONTEXT_LINE)
			return at->module < m->n_modules && m->modules[at->module].is_python
				       ? model_find_python_line(m, c)
				       : c;
		if (function == MODEL_NONE)
			function = c;
	}
	return function != MODEL_NONE ? function : last;
}

/* A placeholder below another one is that of a graph node. */
static uint32_t find_node(const struct model *m, uint32_t kernel)
{
	uint32_t placeholder = m->contexts[kernel].parent, above = m->contexts[placeholder].parent;
	bool is_node = above != MODEL_NONE && m->contexts[above].kind == MODEL_CONTEXT_FUNCTION &&
		       view_is_placeholder(m, m->contexts[above].function);
	return is_node ? placeholder : MODEL_NONE;
}

/* A guessed frame at the site itself is marked by its name. */
static bool is_on_guess(const struct model *m, uint32_t kernel, uint32_t site)
{
	for (uint32_t c = kernel; c != MODEL_NONE && c != site; c = m->contexts[c].parent)
		if (m->contexts[c].marked)
			return true;
	return false;
}

struct view_launch view_launch_of(const struct model *m, uint32_t kernel)
{
	uint32_t site = find_site(m, kernel);
	return (struct view_launch){.site = site,
				    .node = find_node(m, kernel),
				    .is_on_guess = is_on_guess(m, kernel, site)};
}

uint32_t view_launch_caller(const struct model *m, uint32_t context)
{
	uint32_t at = context;
	if (!view_is_placeholder(m, m->contexts[at].function))
		at = m->contexts[at].parent;
	while (at != MODEL_NONE && (m->contexts[at].kind != MODEL_CONTEXT_FUNCTION ||
				    view_is_placeholder(m, m->contexts[at].function)))
		at = m->contexts[at].parent;
	return at;
}
