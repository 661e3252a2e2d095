/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_start.h. Test: tests/unit/test_view_tree.c. */
#include "hpcprof-lite/view/view_start.h"

static bool is_of_libc(const struct model *m, const struct model_function *f)
{
	return f->module < m->n_modules && m->modules[f->module].role == MODEL_MODULE_START;
}

bool view_is_start(const struct model *m, uint32_t function)
{
	static const char *const names[] = {"__libc_start_main", "__libc_start_main_impl",
					    "__libc_start_call_main", "generic_start_main",
					    "start_thread", "clone", "__clone", "clone3",
					    "__clone3"};
	if (function >= m->n_functions)
		return false;
	const struct model_function *f = &m->functions[function];
	for (size_t i = 0; is_of_libc(m, f) && i < sizeof names / sizeof *names; i++)
		if (strcmp(f->name, names[i]) == 0)
			return true;
	return strcmp(f->name, "_start") == 0;
}

/* libc's functions have no names if its symbols are not installed. */
static bool may_start(const struct model *m, uint32_t function)
{
	return view_is_start(m, function) ||
	       (function < m->n_functions && m->functions[function].is_unnamed &&
		is_of_libc(m, &m->functions[function]));
}

bool view_is_start_frame(const struct model *m, uint32_t context)
{
	const struct model_context *c = &m->contexts[context];
	if (c->kind != MODEL_CONTEXT_FUNCTION)
		return false;
	while ((c->kind == MODEL_CONTEXT_FUNCTION || c->kind == MODEL_CONTEXT_LINE ||
		c->kind == MODEL_CONTEXT_INSTRUCTION) &&
	       may_start(m, c->function))
		c = &m->contexts[c->parent];
	return c->kind == MODEL_CONTEXT_ENTRY &&
	       (c->entry == MODEL_ENTRY_MAIN || c->entry == MODEL_ENTRY_THREAD);
}
