/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time in code without names or lines: which files, and what mends it. Doc:
 * doc/findings.md#names. Test: tests/unit/prof/test_findings_code.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include <stdio.h>
#include <stdlib.h>

#define LEAST_UNNAMED 0.1
#define LEAST_LINELESS 0.3

static bool is_code(const struct model *m, uint32_t context)
{
	const uint32_t module = m->contexts[context].module;
	return module < m->n_modules && !m->modules[module].is_gpu &&
	       !m->modules[module].is_python && !m->modules[module].is_outside &&
	       m->modules[module].role != MODEL_MODULE_LAUNCH; /* vendors keep their names */
}

static bool is_unnamed(const struct model *m, const struct model_context *c)
{
	return c->activity == MODEL_WORK && c->function < m->n_functions &&
	       m->functions[c->function].is_unnamed;
}

/* Names of system libraries are enough; programs should have lines. */
static bool is_lineless(const struct model *m, const struct model_context *c)
{
	const struct model_module *x = &m->modules[c->module];
	return x->role == MODEL_MODULE_PROGRAM && x->structure != MODEL_STRUCTURE_LINES &&
	       strncmp(x->path, "/usr/lib", 8) != 0 && strncmp(x->path, "/lib", 4) != 0;
}

/* Lists the modules with the most time, as "solver, libx.so.1". */
static void name_modules(const struct model *m, double *seconds, struct finding *f)
{
	size_t n = 0;
	for (unsigned k = 0; k < 3; k++) {
		uint32_t best = MODEL_NONE;
		for (uint32_t i = 0; i < m->n_modules; i++)
			if (seconds[i] > 0 && (best == MODEL_NONE || seconds[i] > seconds[best]))
				best = i;
		if (best == MODEL_NONE || n >= sizeof f->subject - 1)
			return;
		const char *slash = strrchr(m->modules[best].path, '/');
		n += (size_t)snprintf(f->subject + n, sizeof f->subject - n, "%s%.70s",
				      n ? ", " : "", slash ? slash + 1 : m->modules[best].path);
		seconds[best] = 0;
	}
}

static bool add(struct finding_run *r, bool lines, struct findings *to, bool *is_found)
{
	const struct model *m = r->m;
	struct finding f =
		lines ? finding_begin("no-lines", "the program has no line numbers",
				      "compile with -g, also together with -O2; nothing becomes "
				      "slower")
		      : finding_begin("no-names", "code without names of functions",
				      "do not strip (-s), compile with -g; for files of the system "
				      "install their debug symbols (-dbgsym, -debuginfo), or "
				      "fetch them by build id with debuginfod-find");
	double whole = 0, here = 0, *seconds = calloc((size_t)m->n_modules + 1, sizeof *seconds);
	if (!seconds)
		return false;
	for (uint32_t c = 1; c < m->n_contexts; c++) {
		const struct model_context *x = &m->contexts[c];
		whole += r->self[c];
		if (r->self[c] <= 0 || !is_code(m, c) ||
		    !(lines ? is_lineless(m, x) : is_unnamed(m, x)))
			continue;
		here += r->self[c];
		seconds[x->module] += r->self[c];
	}
	name_modules(m, seconds, &f);
	free(seconds);
	*is_found = here > 0 && here >= (lines ? LEAST_LINELESS : LEAST_UNNAMED) * whole;
	if (!*is_found)
		return true;
	finding_fact(&f, "of the measured time", MODEL_SHARE, here / whole);
	return finding_add(r, to, &f, 0, 0, 0, 0);
}

bool rule_names(struct finding_run *r, struct findings *to)
{
	bool is_found;
	return add(r, false, to, &is_found) && (is_found || add(r, true, to, &is_found));
}
