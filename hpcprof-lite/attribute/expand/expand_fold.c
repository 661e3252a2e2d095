/* SPDX-License-Identifier: BSD-3-Clause */
/* See expand_fold.h. Test: tests/unit/prof/test_activity.c. */
#include "hpcprof-lite/attribute/expand/expand_fold.h"

#include "common/base/sorted.h"
#include "hpcprof-lite/attribute/known/known_runtime.h"
#include "hpcprof-lite/attribute/known/known_waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLED_BYTES = 128 }; /* of the name of a function of OpenMP */

/* Where the path to a node is. Nodes share equal places. */
struct place {
	uint8_t library;   /* enum runtime_library: NONE, OMP, MPI or SYSTEM */
	bool calls_back;   /* in a call that runs functions of the program right away */
	bool waits;        /* in a call of OpenMP that waits */
	uint32_t call;     /* context of the call; everything inside counts there */
	uint32_t caller;   /* context that made the call */
	uint32_t region;   /* context that forked the surrounding region; 0: unknown */
};

struct expand_fold {
	struct expand_run *r;
	const struct merge_tree *tree;
	uint8_t *library;     /* by module, enum runtime_library */
	bool *is_program;     /* by module: its functions are called back, also by MPI */
	uint32_t *place_of;   /* by node: index into `places` */
	bool *is_in_mpi;      /* by node: at or below a frame of MPI's libraries */
	bool *waits;          /* by node: a frame of libc between its call and a wait */
	/* the MPI module that our interposed functions call; MERGE_NO_MODULE: none */
	uint32_t mpi_behind;
	VEC(struct place) places;
};

/* ---- modules ---- */

static enum runtime_library library_of(const struct expand_fold *f, const struct merge_node *n)
{
	return n->module < f->r->n_modules ? f->library[n->module] : RUNTIME_NONE;
}

static bool is_runtime(enum runtime_library library)
{
	return library == RUNTIME_OMP || library == RUNTIME_MPI || library == RUNTIME_OURS;
}

/* Returns true if there is anything to fold. */
static bool find_libraries(struct expand_fold *f)
{
	const struct expand_run *r = f->r;
	bool any = false;
	f->mpi_behind = MERGE_NO_MODULE;
	for (uint32_t i = 0; i < r->n_modules; i++) {
		const struct expand_module *m = &r->modules[i];
		bool has_names = m->is_python || m->is_jit;
		f->library[i] = has_names ? RUNTIME_NONE : (uint8_t)known_library(m->path);
		f->is_program[i] = has_names;
	}
	for (size_t i = 1; i < f->tree->nodes.n; i++) {
		const struct merge_node *n = &f->tree->nodes.at[i],
					*above = &f->tree->nodes.at[n->parent];
		bool is_wait = n->parent && n->module == MERGE_NO_MODULE;
		enum runtime_library library = library_of(f, n);
		any |= is_wait || library == RUNTIME_OMP || library == RUNTIME_MPI ||
		       (!n->parent && n->link_addr == MSR_ENTRY_OMP_IDLE);
		if (library == RUNTIME_MPI && library_of(f, above) == RUNTIME_OURS &&
		    f->mpi_behind == MERGE_NO_MODULE)
			f->mpi_behind = n->module;
	}
	return any;
}

static bool is_libc(const struct expand_fold *f, const struct merge_node *n)
{
	const enum runtime_library library = library_of(f, n);
	return library == RUNTIME_SYSTEM || library == RUNTIME_OURS;
}

/*
 * True for waits that a function was called for. A thread may be stopped or ready to run anywhere,
 * so those waits do not count.
 */
static bool is_call_that_waits(const struct merge_node *n)
{
	return n->parent && n->module == MERGE_NO_MODULE && n->link_addr >= MSR_WAIT &&
	       n->link_addr != MSR_WAIT + MSR_WAIT_OMP_END &&
	       n->link_addr != MSR_WAIT + MSR_WAIT_RUN_QUEUE &&
	       n->link_addr != MSR_WAIT + MSR_WAIT_MEMORY &&
	       n->link_addr != MSR_WAIT + MSR_WAIT_STOPPED;
}

/* Marks the frames of libc from which only frames of libc lead to a wait. */
static void find_waits(struct expand_fold *f)
{
	for (size_t i = f->tree->nodes.n; i-- > 1;) {
		const struct merge_node *n = &f->tree->nodes.at[i];
		if ((f->waits[i] || is_call_that_waits(n)) &&
		    is_libc(f, &f->tree->nodes.at[n->parent]))
			f->waits[n->parent] = true;
	}
}

static bool is_called_back(const struct expand_fold *f, const struct merge_node *n,
			   unsigned library)
{
	if (n->module >= f->r->n_modules) /* code outside of all modules */
		return n->module == MERGE_UNKNOWN && library == RUNTIME_OMP;
	if (f->library[n->module] != RUNTIME_NONE)
		return false;
	return library == RUNTIME_OMP || f->is_program[n->module];
}

/* ---- functions ---- */

/* The scope of the function at an address, or STRUCTURE_NONE. */
static uint32_t find_function(const struct expand_fold *f, const struct merge_node *n)
{
	const struct structure *s =
		n->module < f->r->n_modules ? f->r->modules[n->module].structure : NULL;
	struct structure_place place;
	if (!s || !structure_lookup(s, n->link_addr, &place))
		return STRUCTURE_NONE;
	uint32_t id = place.scope;
	for (uint32_t up; id != STRUCTURE_NONE; id = up) {
		up = structure_get_scope(s, id).parent;
		if (up == STRUCTURE_NONE)
			break;
	}
	return id;
}

/* True for a function that a compiler made from a parallel region or task. */
static bool is_outlined(const struct expand_fold *f, const struct merge_node *n)
{
	uint32_t scope = n->module < f->r->n_modules && f->is_program[n->module]
				 ? find_function(f, n)
				 : STRUCTURE_NONE;
	return scope != STRUCTURE_NONE &&
	       model_is_outlined(
		       structure_get_scope(f->r->modules[n->module].structure, scope).name);
}

/* The name of the PLT stub that is called just before the return address; NULL: unknown. */
static const char *find_stub(const struct structure *s, uint64_t link_addr)
{
	enum { CALL_BYTES = 5 };
	const uint64_t call = link_addr + 1 - CALL_BYTES;
	const size_t n = structure_n_calls(s),
		     i = sorted_prefix(n, k, structure_get_call(s, k).link_addr < call);
	if (i == n || structure_get_call(s, i).link_addr != call ||
	    structure_get_call(s, i).target == STRUCTURE_NONE)
		return NULL;
	return structure_get_scope(s, structure_get_call(s, i).target).name;
}

/*
 * Exported functions of OpenMP end with jumps to functions without a name, which leave no frame of
 * the exported function. Finds the exported name at the call. False: the frame is that of the
 * called function.
 */
static bool find_called(const struct expand_fold *f, const struct merge_node *n,
			char name[CALLED_BYTES])
{
	const struct merge_node *caller = &f->tree->nodes.at[n->parent];
	const struct structure *s = caller->module < f->r->n_modules
					    ? f->r->modules[caller->module].structure
					    : NULL;
	const uint32_t scope = find_function(f, n);
	if (!s || caller->module == n->module || scope == STRUCTURE_NONE ||
	    structure_get_scope(f->r->modules[n->module].structure, scope).origin !=
		    STRUCTURE_FROM_EH_FRAME)
		return false;
	const char *stub = find_stub(s, caller->link_addr);
	if (!stub)
		return false;
	snprintf(name, CALLED_BYTES, "%.*s", (int)strcspn(stub, "@"), stub);
	return true;
}

static struct runtime_call find_call(const struct expand_fold *f, const struct merge_node *n)
{
	char called[CALLED_BYTES];
	uint32_t scope = find_function(f, n);
	if (scope == STRUCTURE_NONE)
		return (struct runtime_call){.library = RUNTIME_NONE};
	if (find_called(f, n, called))
		return known_call(called);
	return known_call(structure_get_scope(f->r->modules[n->module].structure, scope).name);
}

/*
 * Marks the modules of the program. Ignores calls inside of MPI: transports call back functions of
 * MPI, but they are not the program.
 */
static void find_callers(struct expand_fold *f)
{
	for (size_t i = 1; i < f->tree->nodes.n; i++) {
		const struct merge_node *n = &f->tree->nodes.at[i],
					*above = &f->tree->nodes.at[n->parent];
		const enum runtime_library library = library_of(f, n);
		const bool is_below = f->is_in_mpi[n->parent];
		struct runtime_call call = {.library = RUNTIME_NONE};
		f->is_in_mpi[i] = is_below || library == RUNTIME_MPI;
		if (is_below || above->module >= f->r->n_modules ||
		    library_of(f, above) != RUNTIME_NONE)
			continue;
		if (library == RUNTIME_OURS)
			call = find_call(f, n);
		if (known_is_runtime(library, call))
			f->is_program[above->module] = true;
	}
}

/* The name of the function at the frame; NULL: it has none. */
static const char *find_name(const struct expand_fold *f, const struct merge_node *n)
{
	const uint32_t scope = find_function(f, n);
	return scope == STRUCTURE_NONE
		       ? NULL
		       : structure_get_scope(f->r->modules[n->module].structure, scope).name;
}

/* Finds or makes a function that has no source. */
static uint32_t find_named(struct expand_run *r, const struct merge_node *n, const char *name)
{
	return expand_find_named(
		r, (struct expand_function){.name = expand_intern_name(r, name, n->marked),
					    .linkage_name = strtab_add_z(r->e->strings, ""),
					    .module = n->module,
					    .file = MODEL_NONE,
					    .definition = MODEL_NONE,
					    .guessed = n->marked});
}

/*
 * True for one of our functions that interposes a function of MPI. It appears as MPI's function,
 * without our source.
 */
static bool is_in_front_of_mpi(const struct expand_fold *f, const struct merge_node *n,
			       const struct runtime_call *call)
{
	return call->library == RUNTIME_MPI && library_of(f, n) == RUNTIME_OURS &&
	       f->mpi_behind != MERGE_NO_MODULE;
}

/* Makes the context of the function, without a line. */
static uint32_t enter_function(struct expand_fold *f, uint32_t caller, const struct merge_node *n,
			       const struct runtime_call *call)
{
	struct expand_run *r = f->r;
	char called[CALLED_BYTES];
	uint32_t id = find_function(f, n), function;
	if (is_in_front_of_mpi(f, n, call)) {
		struct merge_node behind = *n;
		behind.module = f->mpi_behind;
		function = find_named(r, &behind, find_name(f, n));
	} else if (find_called(f, n, called)) {
		function = find_named(r, n, called);
	} else if (id != STRUCTURE_NONE) {
		struct structure_scope scope =
			structure_get_scope(r->modules[n->module].structure, id);
		function = expand_find_function(r, n->module, &scope, n->marked);
	} else {
		function = expand_find_unknown(r, n->module, n->marked);
	}
	return r->failed ? 0 : expand_enter_function(r, caller, function, MODEL_CALL);
}

/* ---- places ---- */

static uint32_t put_place(struct expand_fold *f, struct place p)
{
	struct place *at = vec_push(&f->places);
	if (!at) {
		f->r->failed = true;
		return 0;
	}
	*at = p;
	return (uint32_t)(f->places.n - 1);
}

/* Enters a call from `caller` into a run-time library. */
static uint32_t enter_call(struct expand_fold *f, uint32_t i, uint32_t caller, uint32_t region,
			   struct runtime_call call)
{
	uint32_t context = enter_function(f, caller, &f->tree->nodes.at[i], &call);
	f->place_of[i] = put_place(
		f, (struct place){.library = (uint8_t)call.library,
				  .calls_back = call.calls_back,
				  .waits = call.library == RUNTIME_OMP &&
					   call.activity != MODEL_OMP_OVERHEAD,
				  .call = context,
				  .caller = caller,
				  .region = region});
	return context;
}

/* A callback of a run-time library goes below the line that it belongs to. */
static uint32_t line_of_callback(const struct place *p)
{
	if (p->library == RUNTIME_MPI)
		return p->call;
	return p->calls_back || !p->region ? p->caller : p->region;
}

/* The place in the program after a callback. */
static uint32_t leave(struct expand_fold *f, const struct place *p)
{
	uint32_t region = p->library == RUNTIME_OMP && p->calls_back ? p->caller : p->region;
	return region ? put_place(f, (struct place){.region = region}) : 0;
}

/*
 * The wait at the end of a region is below the line that forked it, next to the function of the
 * region. Other waits are below the frame that waited.
 */
static uint32_t enter_wait(struct expand_fold *f, uint32_t i, uint32_t above, struct place p,
			   uint32_t (*normal)(struct expand_run *r, uint32_t above,
					      const struct merge_node *n))
{
	const struct merge_node *n = &f->tree->nodes.at[i];
	bool is_end = n->link_addr == MSR_WAIT + MSR_WAIT_OMP_END;
	if (is_end && p.library == RUNTIME_OMP)
		above = p.caller;
	uint32_t context = normal(f->r, above, n);
	if (is_end)
		f->place_of[i] = put_place(f, (struct place){.library = RUNTIME_OMP,
							     .waits = true,
							     .call = context,
							     .caller = above,
							     .region = above});
	return context;
}

/* Enters a frame inside of a run-time library. */
static uint32_t enter_inside(struct expand_fold *f, uint32_t i, struct place p,
			     uint32_t (*normal)(struct expand_run *r, uint32_t above,
						const struct merge_node *n))
{
	const struct merge_node *n = &f->tree->nodes.at[i];
	if (is_called_back(f, n, p.library)) {
		f->place_of[i] = leave(f, &p);
		return normal(f->r, line_of_callback(&p), n);
	}
	/* clang jumps to a barrier from the end of a region: it is not below the region's frame */
	if (p.library == RUNTIME_OMP && !p.waits && library_of(f, n) == RUNTIME_OMP) {
		struct runtime_call call = find_call(f, n);
		if (call.library == RUNTIME_OMP && call.activity != MODEL_OMP_OVERHEAD)
			return enter_call(f, i, p.caller, p.calls_back ? p.caller : p.region, call);
	}
	return p.call;
}

/*
 * Enters a call of libc that waits. It gets the name that programs know, and everything that libc
 * calls until the wait counts there. When a condition variable takes its mutex again, that is a
 * call of its own. Returns false if the frame is not such a call.
 */
static bool enter_libc(struct expand_fold *f, uint32_t i, uint32_t above, uint32_t *context)
{
	const struct merge_node *n = &f->tree->nodes.at[i];
	const struct place *p = &f->places.at[f->place_of[i]];
	const bool is_inside = p->library == RUNTIME_SYSTEM;
	const uint32_t region = p->region;
	const char *name = f->waits[i] && is_libc(f, n) ? find_name(f, n) : NULL;
	if (!f->waits[i] || (!is_inside && p->library != RUNTIME_NONE) ||
	    (!is_inside && name && known_is_start(name)))
		return false;
	if (is_inside && (!name || known_wait_object(name) != KNOWN_WAIT_LOCK)) {
		*context = p->call;
		return true;
	}
	char exported[KNOWN_NAME_BYTES];
	if (name)
		known_exported_name(name, exported);
	const uint32_t function = name ? find_named(f->r, n, exported)
				       : expand_find_unknown(f->r, n->module, n->marked);
	*context = f->r->failed ? 0 : expand_enter_function(f->r, above, function, MODEL_CALL);
	f->place_of[i] = put_place(f, (struct place){.library = RUNTIME_SYSTEM,
						     .call = *context,
						     .caller = above,
						     .region = region});
	return true;
}

uint32_t expand_fold_enter(struct expand_fold *f, uint32_t i,
			   uint32_t (*normal)(struct expand_run *r, uint32_t above,
					      const struct merge_node *n))
{
	const struct merge_node *n = &f->tree->nodes.at[i];
	uint32_t above = f->r->e->context_of[n->parent];
	f->place_of[i] = f->place_of[n->parent];
	struct place p = f->places.at[f->place_of[i]];
	if (n->module == MERGE_NO_MODULE && n->parent)
		return enter_wait(f, i, above, p, normal);
	if (n->module == MERGE_NO_MODULE) {
		uint32_t entry = normal(f->r, above, n);
		if (n->link_addr == MSR_ENTRY_OMP_IDLE)
			f->place_of[i] = put_place(f, (struct place){.library = RUNTIME_OMP,
								     .waits = true,
								     .call = entry,
								     .caller = entry});
		return entry;
	}
	uint32_t context;
	if (enter_libc(f, i, above, &context))
		return context;
	if (p.library == RUNTIME_SYSTEM)
		f->place_of[i] = p.region ? put_place(f, (struct place){.region = p.region}) : 0;
	else if (p.library != RUNTIME_NONE)
		return enter_inside(f, i, p, normal);
	enum runtime_library library = library_of(f, n);
	if (!is_runtime(library)) {
		/* the path of a worker continues at the thread that forked, without a call */
		if (is_outlined(f, n))
			f->place_of[i] = put_place(f, (struct place){.region = above});
		return normal(f->r, above, n);
	}
	struct runtime_call call = find_call(f, n);
	if (library == RUNTIME_OURS && call.library != RUNTIME_OMP && call.library != RUNTIME_MPI)
		return normal(f->r, above, n);
	if (library != RUNTIME_OURS && call.library != library)
		call = (struct runtime_call){.library = library};
	return enter_call(f, i, above, p.region, call);
}

/* ---- open and close ---- */

bool expand_fold_open(struct expand_run *r, const struct merge_tree *t, struct expand_fold **fold)
{
	struct expand_fold *f = calloc(1, sizeof *f);
	*fold = f;
	if (!f)
		return false;
	*f = (struct expand_fold){
		.r = r,
		.tree = t,
		.library = calloc((size_t)r->n_modules + 1, sizeof *f->library),
		.is_program = calloc((size_t)r->n_modules + 1, sizeof *f->is_program)};
	if (!f->library || !f->is_program)
		return false;
	if (!find_libraries(f)) {
		expand_fold_close(f);
		*fold = NULL;
		return true;
	}
	f->place_of = calloc(t->nodes.n + 1, sizeof *f->place_of);
	f->is_in_mpi = calloc(t->nodes.n + 1, sizeof *f->is_in_mpi);
	f->waits = calloc(t->nodes.n + 1, sizeof *f->waits);
	put_place(f, (struct place){0});
	if (!f->place_of || !f->is_in_mpi || !f->waits || r->failed)
		return false;
	find_callers(f);
	find_waits(f);
	return true;
}

void expand_fold_close(struct expand_fold *f)
{
	if (!f)
		return;
	free(f->library);
	free(f->is_program);
	free(f->place_of);
	free(f->is_in_mpi);
	free(f->waits);
	vec_free(&f->places);
	free(f);
}
