/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program does before its work: imports of Python, loading of libraries and of GPU code,
 * compilation at run time. Doc: doc/findings.md#start-up. Test:
 * tests/unit/prof/test_findings_code.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include <stdlib.h>

/* Long runs pay it once; less is no finding. */
#define LEAST_STARTUP 0.1

enum kind { IMPORT, LOAD, COMPILE, N_KINDS };

/* A module of Python that another one imports. Python's own frames of importlib are folded away. */
static bool is_import(const struct model *m, uint32_t context)
{
	const struct model_context *c = &m->contexts[context];
	if (strncmp(m->functions[c->function].name, "<module>", 8) != 0)
		return false;
	for (uint32_t at = c->parent; at != MODEL_NONE; at = m->contexts[at].parent) {
		const struct model_context *above = &m->contexts[at];
		if (above->kind == MODEL_CONTEXT_FUNCTION && above->module < m->n_modules &&
		    m->modules[above->module].is_python)
			return true;
	}
	return false;
}

static bool begins_startup(const struct model *m, uint32_t context, enum kind kind)
{
	static const char *const names[N_KINDS][8] = {
		[LOAD] = {"_dl_start", "_dl_start_final", "dl_main", "_dl_relocate_object",
			  "call_init", "_dl_init", "_dl_map_object", "dlopen"},
		[COMPILE] = {"cuModuleLoadData", "cuModuleLoadDataEx", "cuLibraryLoadData",
			     "nvrtcCompileProgram", "clBuildProgram", "cuModuleLoadFatBinary",
			     "backend_compile", "nvPTXCompilerCompile"}};
	const struct model_context *c = &m->contexts[context];
	if (c->kind != MODEL_CONTEXT_FUNCTION || c->function >= m->n_functions)
		return false;
	if (kind == IMPORT)
		return is_import(m, context);
	const char *name = m->functions[c->function].name;
	for (size_t i = 0; i < 8 && names[kind][i]; i++)
		if (strcmp(name, names[kind][i]) == 0)
			return true;
	return false;
}

/* The time in and below the outermost functions of this kind. */
static double find_weights(const struct finding_run *r, enum kind kind, double *weights)
{
	const struct model *m = r->m;
	double sum = 0;
	uint32_t end = 0;
	for (uint32_t c = 1; c < m->n_contexts; c++) {
		if (c >= end && begins_startup(m, c, kind))
			end = c + m->contexts[c].subtree_n;
		weights[c] = c < end && r->self[c] > 0 ? r->self[c] : 0;
		sum += weights[c];
	}
	return sum / r->lanes;
}

bool rule_startup(struct finding_run *r, struct findings *to)
{
	struct finding found[N_KINDS] = {
		[IMPORT] = finding_begin("import", "start-up: imports of Python",
					 "import less, or where it is needed; look at python3 -X "
					 "importtime"),
		[LOAD] = finding_begin("load", "start-up: loading of libraries",
				       "link fewer libraries; keep them on a local disk"),
		[COMPILE] = finding_begin("compile", "start-up: compilation at run time",
					  "keep a cache of compiled code; compile for this GPU; "
					  "load lazily (CUDA_MODULE_LOADING=LAZY)")};
	double *weights = finding_weights(r->m);
	bool ok = weights;
	for (unsigned k = 0; ok && k < N_KINDS; k++) {
		const double lost = find_weights(r, (enum kind)k, weights);
		if (lost < LEAST_STARTUP * r->elapsed || r->elapsed <= 0)
			continue;
		finding_fact(&found[k], "of the elapsed time", MODEL_SHARE, lost / r->elapsed);
		finding_places(r, &found[k], weights);
		ok = finding_add(r, to, &found[k], lost, 0, lost / 2, lost);
	}
	free(weights);
	return ok;
}
