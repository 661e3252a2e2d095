/* SPDX-License-Identifier: BSD-3-Clause */
/* See expand.h: the contexts of GPU operations. Test: tests/unit/prof_gpu/test_gpu_calls.c. */
#include "hpcprof-lite/attribute/expand/expand_run.h"

#include "hpcprof-lite/attribute/known/known_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct expand_run *expand_gpu_begin(struct expand *e, const struct expand_module *modules,
				    uint32_t n_modules)
{
	struct expand_run *r = malloc(sizeof *r);
	if (r && !expand_run_begin(r, e, modules, n_modules)) {
		free(r);
		r = NULL;
	}
	return r;
}

bool expand_gpu_end(struct expand_run *r)
{
	bool ok = expand_run_end(r);
	free(r);
	return ok;
}

uint32_t expand_gpu_entry(struct expand_run *r, enum model_entry entry)
{
	return expand_enter_entry(r, entry, 0);
}

/* The names are HPCToolkit's where it has one. */
static const char *placeholder_name(enum msr_gpu_kind kind, unsigned detail)
{
	switch (kind) {
	case MSR_GPU_KERNEL: return "<gpu kernel>";
	case MSR_GPU_COPY:
		return detail == MSR_GPU_COPY_H2D   ? "<gpu copyin>"
		       : detail == MSR_GPU_COPY_D2H ? "<gpu copyout>"
						    : "<gpu copy>";
	case MSR_GPU_SET: return "<gpu memset>";
	case MSR_GPU_ALLOC: return "<gpu alloc>";
	case MSR_GPU_FREE: return "<gpu delete>";
	case MSR_GPU_SYNC: return "<gpu sync>";
	case MSR_GPU_MARKER: return "<gpu marker>";
	default: return "<gpu operation>";
	}
}

uint32_t expand_gpu_placeholder(struct expand_run *r, uint32_t parent, enum msr_gpu_kind kind,
				unsigned detail)
{
	struct strtab *strings = r->e->strings;
	struct expand_function f = {.name = strtab_add_z(strings, placeholder_name(kind, detail)),
				    .linkage_name = strtab_add_z(strings, ""),
				    .module = MODEL_NONE,
				    .file = MODEL_NONE,
				    .definition = MODEL_NONE,
				    .gpu_kind = (uint8_t)kind};
	uint32_t function = expand_find_named(r, f);
	return r->failed ? 0 : expand_enter_function(r, parent, function, MODEL_CALL);
}

/* Names of CUDA's errors. The numbers are the same in all versions. */
static const char *error_name(uint32_t error)
{
	static const struct {
		uint32_t error;
		const char *name;
	} names[] = {{1, "CUDA_ERROR_INVALID_VALUE"},
		     {2, "CUDA_ERROR_OUT_OF_MEMORY"},
		     {3, "CUDA_ERROR_NOT_INITIALIZED"},
		     {4, "CUDA_ERROR_DEINITIALIZED"},
		     {98, "CUDA_ERROR_INVALID_DEVICE_FUNCTION"},
		     {100, "CUDA_ERROR_NO_DEVICE"},
		     {101, "CUDA_ERROR_INVALID_DEVICE"},
		     {200, "CUDA_ERROR_INVALID_IMAGE"},
		     {201, "CUDA_ERROR_INVALID_CONTEXT"},
		     {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
		     {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
		     {218, "CUDA_ERROR_INVALID_PTX"},
		     {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
		     {400, "CUDA_ERROR_INVALID_HANDLE"},
		     {401, "CUDA_ERROR_ILLEGAL_STATE"},
		     {500, "CUDA_ERROR_NOT_FOUND"},
		     {600, "CUDA_ERROR_NOT_READY"},
		     {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
		     {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
		     {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
		     {703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING"},
		     {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
		     {710, "CUDA_ERROR_ASSERT"},
		     {714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
		     {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
		     {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
		     {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
		     {718, "CUDA_ERROR_INVALID_PC"},
		     {719, "CUDA_ERROR_LAUNCH_FAILED"},
		     {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
		     {800, "CUDA_ERROR_NOT_PERMITTED"},
		     {801, "CUDA_ERROR_NOT_SUPPORTED"},
		     {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
		     {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
		     {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
		     {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
		     {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
		     {999, "CUDA_ERROR_UNKNOWN"}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].error == error)
			return names[i].name;
	return NULL;
}

uint32_t expand_gpu_refused(struct expand_run *r, uint32_t parent, enum msr_gpu_kind kind,
			    uint32_t error)
{
	struct strtab *strings = r->e->strings;
	const char *known = error_name(error);
	char name[96];
	if (known)
		snprintf(name, sizeof name, "<gpu %s refused: %s>", msr_gpu_kind_name(kind), known);
	else
		snprintf(name, sizeof name, "<gpu %s refused: error %u>", msr_gpu_kind_name(kind),
			 error);
	struct expand_function f = {.name = strtab_add_z(strings, name),
				    .linkage_name = strtab_add_z(strings, ""),
				    .module = MODEL_NONE,
				    .file = MODEL_NONE,
				    .definition = MODEL_NONE,
				    .gpu_kind = MSR_GPU_NO_KIND};
	uint32_t function = expand_find_named(r, f);
	return r->failed ? 0 : expand_enter_function(r, parent, function, MODEL_CALL);
}

/*
 * The line that made the call at `site`: the innermost line of the program outside of site's
 * function, which belongs to the API. For Python, lines in the user's files are preferred.
 * MODEL_NONE: none.
 */
static uint32_t line_of_caller(const struct expand_run *r, uint32_t site)
{
	const struct expand *e = r->e;
	uint32_t at = site, api = e->contexts.at[site].function;
	uint32_t library = MODEL_NONE; /* the innermost line of a Python library */
	const char *stub = NULL;
	for (; at && at != MODEL_NONE; at = e->contexts.at[at].parent) {
		const struct model_context *c = &e->contexts.at[at];
		if (c->kind != MODEL_CONTEXT_LINE || c->function == api ||
		    (c->function != MODEL_NONE &&
		     known_by_nvcc(strtab_get(e->strings, e->functions.at[c->function].name),
				   &stub)))
			continue;
		bool is_python = c->module < r->n_modules && r->modules[c->module].is_python;
		if (library != MODEL_NONE && !is_python)
			continue;
		if (!is_python ||
		    !model_is_python_library(strtab_get(e->strings, e->files.at[c->file])))
			return at;
		library = library == MODEL_NONE ? at : library;
	}
	return library;
}

uint32_t expand_gpu_graph_node(struct expand_run *r, uint32_t placeholder, uint32_t site)
{
	struct strtab *strings = r->e->strings;
	uint32_t line = r->failed ? MODEL_NONE : line_of_caller(r, site);
	char *name = NULL;
	if (line == MODEL_NONE)
		return placeholder;
	const struct model_context *c = &r->e->contexts.at[line];
	const char *path = strtab_get(strings, r->e->files.at[c->file]),
		   *slash = strrchr(path, '/');
	if (asprintf(&name, "<graph node of %s:%u, %s>", slash ? slash + 1 : path, c->line,
		     strtab_get(strings, r->e->functions.at[c->function].name)) < 0) {
		r->failed = true;
		return 0;
	}
	struct expand_function f = {.name = strtab_add_z(strings, name),
				    .linkage_name = strtab_add_z(strings, ""),
				    .module = MODEL_NONE,
				    .file = MODEL_NONE,
				    .definition = MODEL_NONE,
				    .gpu_kind = MSR_GPU_KERNEL,
				    .is_node = true,
				    .node_function = c->function,
				    .node_file = c->file,
				    .node_line = c->line};
	free(name);
	uint32_t function = expand_find_named(r, f);
	return r->failed ? 0 : expand_enter_function(r, placeholder, function, MODEL_CALL);
}

/* The function's scope in its module's structure, or STRUCTURE_NONE. */
static uint32_t find_scope(const struct expand_run *r, const struct expand_kernel *k)
{
	const struct structure *s =
		k->module < r->n_modules ? r->modules[k->module].structure : NULL;
	return s ? structure_find_function(s, k->name, NULL) : STRUCTURE_NONE;
}

static uint32_t function_of(struct expand_run *r, const struct expand_kernel *k)
{
	uint32_t scope_id = find_scope(r, k);
	if (scope_id != STRUCTURE_NONE) {
		struct structure_scope scope =
			structure_get_scope(r->modules[k->module].structure, scope_id);
		/* An alias of a kernel keeps its own name: the program launched it by that name. */
		if (strcmp(scope.linkage_name, k->name) == 0 || strcmp(scope.name, k->name) == 0)
			return expand_find_function(r, k->module, &scope, false);
	}
	struct expand_function f = {
		.name = strtab_add_z(r->e->strings, k->source_name[0] ? k->source_name
						    : k->name[0]      ? k->name
								      : "<unknown kernel>"),
		.linkage_name = strtab_add_z(r->e->strings, k->name),
		.module = k->module,
		.file = MODEL_NONE,
		.definition = MODEL_NONE};
	return expand_find_named(r, f);
}

uint32_t expand_gpu_kernel(struct expand_run *r, uint32_t placeholder,
			   const struct expand_kernel *k)
{
	uint32_t function = function_of(r, k);
	return r->failed ? 0 : expand_enter_function(r, placeholder, function, MODEL_CALL);
}

static uint32_t outermost(const struct structure *s, uint32_t scope)
{
	for (uint32_t parent; (parent = structure_get_scope(s, scope).parent) != STRUCTURE_NONE;)
		scope = parent;
	return scope;
}

uint32_t expand_gpu_place(struct expand_run *r, uint32_t kernel, const struct expand_kernel *f,
			  uint64_t offset)
{
	const struct structure *s =
		f->module < r->n_modules ? r->modules[f->module].structure : NULL;
	struct structure_place place = {.scope = STRUCTURE_NONE, .file = STRUCTURE_NONE};
	uint32_t scope = find_scope(r, f), function = function_of(r, f);
	if (r->failed)
		return 0;
	uint64_t addr = offset;
	if (scope != STRUCTURE_NONE) {
		addr += structure_get_scope(s, scope).entry;
		if (!structure_lookup(s, addr, &place))
			place = (struct structure_place){.scope = STRUCTURE_NONE,
							 .file = STRUCTURE_NONE};
	}
	/* The kernel itself is below the placeholder; a function that it calls is below the kernel.
	 */
	bool is_kernel = r->e->contexts.at[kernel].function == function &&
			 (place.scope == STRUCTURE_NONE || outermost(s, place.scope) == scope);
	uint32_t above = is_kernel ? r->e->contexts.at[kernel].parent : kernel;
	uint32_t at = place.scope != STRUCTURE_NONE
			      ? expand_enter_scopes(r, above, f->module, place.scope, false)
			      : expand_enter_function(r, above, function, MODEL_CALL);
	if (r->failed)
		return 0;
	return expand_enter_place(r, at, f->module, &place, addr);
}

uint32_t expand_gpu_frame(struct expand_run *r, uint32_t above, uint32_t module, uint64_t link_addr)
{
	return r->failed ? 0
			 : expand_enter_frame(
				   r, above,
				   &(struct merge_node){.module = module, .link_addr = link_addr});
}

uint32_t expand_gpu_parent(const struct expand_run *r, uint32_t context)
{
	return r->failed ? 0 : r->e->contexts.at[context].parent;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_functions(const struct expand *e, uint32_t a, uint32_t b)
{
	if (a == b || a == MODEL_NONE || b == MODEL_NONE)
		return compare_u64(a, b);
	const struct expand_function *f = &e->functions.at[a], *g = &e->functions.at[b];
	int c = strcmp(strtab_get(e->strings, f->name), strtab_get(e->strings, g->name));
	if (c == 0)
		c = strcmp(strtab_get(e->strings, f->linkage_name),
			   strtab_get(e->strings, g->linkage_name));
	if (c == 0)
		c = compare_u64(f->module, g->module);
	return c ? c : compare_u64(f->definition, g->definition);
}

int expand_gpu_compare(const struct expand_run *r, uint32_t a, uint32_t b)
{
	const struct expand *e = r->e;
	while (a != b && a != MODEL_NONE && b != MODEL_NONE) {
		const struct model_context *x = &e->contexts.at[a], *y = &e->contexts.at[b];
		int c = compare_u64(x->kind, y->kind);
		if (c == 0)
			c = compare_u64(x->entry, y->entry);
		if (c == 0)
			c = compare_functions(e, x->function, y->function);
		if (c == 0)
			c = compare_u64(x->relation, y->relation);
		if (c == 0 && x->file != y->file && x->file != MODEL_NONE && y->file != MODEL_NONE)
			c = strcmp(strtab_get(e->strings, e->files.at[x->file]),
				   strtab_get(e->strings, e->files.at[y->file]));
		if (c == 0)
			c = compare_u64(x->line, y->line);
		if (c == 0)
			c = compare_u64(x->link_addr, y->link_addr);
		if (c)
			return c;
		a = x->parent;
		b = y->parent;
	}
	return compare_u64(a, b);
}

const struct structure *expand_gpu_structure(const struct expand_run *r, uint32_t module)
{
	return module < r->n_modules ? r->modules[module].structure : NULL;
}
