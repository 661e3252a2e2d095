/* SPDX-License-Identifier: BSD-3-Clause */
/* See activity.h. Test: tests/unit/prof/test_activity.c. */
#include "hpcprof-lite/attribute/activity/activity.h"

#include "hpcprof-lite/attribute/known/known_runtime.h"
#include "hpcprof-lite/attribute/known/known_waits.h"

#include <stdlib.h>

/* The state of a path: in which library it is, and what the thread does there. */
struct state {
	uint8_t library;  /* enum runtime_library: NONE, OMP, MPI, GPU or TORCH */
	uint8_t activity; /* enum model_activity */
	bool is_in_program; /* the path has a frame of the program */
	uint8_t waits_on;   /* enum known_wait_object, of the innermost call of libc */
};

struct finding {
	const struct model *m;
	struct state *all;      /* by context */
	uint8_t *library;       /* by module: enum runtime_library */
	/* by function, because there are fewer functions than contexts */
	struct runtime_call *calls;
	bool *is_in_mpi;        /* by context: at or below a frame of MPI's libraries */
	bool *calls_runtime;    /* by module: it calls OpenMP or MPI from outside of MPI */
};

/* ---- modules ---- */

static enum runtime_library library_of(const struct finding *f, uint32_t function)
{
	uint32_t module = f->m->functions[function].module;
	return module < f->m->n_modules ? f->library[module] : RUNTIME_NONE;
}

/* The module of the frame that called this one; MODEL_NONE: an entry. */
static uint32_t caller_module(const struct model *m, uint32_t context)
{
	uint32_t parent = m->contexts[context].parent;
	uint32_t function = parent == MODEL_NONE ? MODEL_NONE : m->contexts[parent].function;
	return function < m->n_functions ? m->functions[function].module : MODEL_NONE;
}

static void find_libraries(struct finding *f)
{
	const struct model *m = f->m;
	for (uint32_t i = 0; i < m->n_modules; i++)
		f->library[i] = m->modules[i].is_python || m->modules[i].is_gpu
					? RUNTIME_NONE
					: (uint8_t)known_library(m->modules[i].path);
}

/*
 * Ignores calls inside of MPI: transports call back functions of MPI, but they are not the program.
 */
static void find_callers(struct finding *f)
{
	const struct model *m = f->m;
	for (uint32_t c = 1; c < m->n_contexts; c++) {
		const uint32_t parent = m->contexts[c].parent, function = m->contexts[c].function;
		const bool is_below = f->is_in_mpi[parent];
		f->is_in_mpi[c] = is_below;
		if (m->contexts[c].kind != MODEL_CONTEXT_FUNCTION || function >= m->n_functions)
			continue;
		const enum runtime_library library = library_of(f, function);
		f->is_in_mpi[c] |= library == RUNTIME_MPI;
		const uint32_t caller = caller_module(m, c);
		if (!is_below && caller < m->n_modules && f->library[caller] == RUNTIME_NONE &&
		    known_is_runtime(library, f->calls[function]))
			f->calls_runtime[caller] = true;
	}
}

static void find_calls(struct finding *f)
{
	for (uint32_t i = 0; i < f->m->n_functions; i++) {
		const struct model_function *x = &f->m->functions[i];
		if (x->module >= f->m->n_modules || !f->m->modules[x->module].is_python)
			f->calls[i] = known_call(x->name);
	}
}

/*
 * True for code of the program that `in` calls back. OpenMP calls only its own code and libc, so
 * all other code is the program's. MPI also calls transports and drivers. There, code of the
 * program is Python, or a module that also calls OpenMP or MPI elsewhere. Libraries of GPUs may be
 * linked into the program's file.
 */
static bool is_called_back(const struct finding *f, unsigned in, uint32_t function)
{
	uint32_t module = f->m->functions[function].module;
	if (library_of(f, function) != RUNTIME_NONE || module >= f->m->n_modules ||
	    f->m->functions[function].gpu_kind != MSR_GPU_NO_KIND)
		return false;
	return in == RUNTIME_NONE || in == RUNTIME_OMP ||
	       (in == RUNTIME_MPI && f->calls_runtime[module]) || f->m->modules[module].is_python;
}

/* ---- waits ---- */

static enum model_activity blocked_by(unsigned wait)
{
	switch (wait) {
	case 1 + MSR_WAIT_FUTEX: return MODEL_BLOCKED_LOCK;
	case 1 + MSR_WAIT_SEMAPHORE:
	case 1 + MSR_WAIT_THREAD: return MODEL_BLOCKED_THREAD;
	case 1 + MSR_WAIT_SLEEP: return MODEL_BLOCKED_SLEEP;
	case 1 + MSR_WAIT_POLL: return MODEL_BLOCKED_POLL;
	case 1 + MSR_WAIT_FILE:
	case 1 + MSR_WAIT_SOCKET:
	case 1 + MSR_WAIT_PIPE:
	case 1 + MSR_WAIT_SYNC:
	case 1 + MSR_WAIT_DEVICE:
	case 1 + MSR_WAIT_QUEUE:
	case 1 + MSR_WAIT_IO_URING: return MODEL_BLOCKED_IO;
	case 1 + MSR_WAIT_RUN_QUEUE: return MODEL_NO_CPU;
	default: return MODEL_BLOCKED_OTHER;
	}
}

static bool is_futex(unsigned wait)
{
	return wait == 1 + MSR_WAIT_FUTEX || wait == 1 + MSR_WAIT_THREAD;
}

/* Names say more than the kind of the call: timed locks look like condition variables. */
static enum model_activity blocked_in(unsigned waits_on, unsigned wait)
{
	if (!is_futex(wait) || waits_on == KNOWN_WAIT_NONE)
		return blocked_by(wait);
	return known_is_thread(waits_on) ? MODEL_BLOCKED_THREAD : MODEL_BLOCKED_LOCK;
}

/* A wait inside of a run-time library belongs to the call into that library. */
static struct state enter_wait(struct state above, unsigned wait)
{
	struct state s = above;
	if (wait == 1 + MSR_WAIT_OMP_END) {
		s.library = RUNTIME_OMP;
		s.activity = MODEL_OMP_BARRIER;
	} else if (above.activity == MODEL_OMP_OVERHEAD && is_futex(wait)) {
		s.activity = MODEL_OMP_BARRIER;
	} else if (above.activity == MODEL_WORK || above.activity == MODEL_OMP_OVERHEAD) {
		s.activity = (uint8_t)blocked_in(above.waits_on, wait);
	}
	return s;
}

/* ---- frames ---- */

/* True if a call inside of `above` says more than `above` itself. */
static bool is_better(struct state above, const struct runtime_call *call)
{
	if (above.library == RUNTIME_NONE)
		return true;
	if (above.library == RUNTIME_TORCH)
		return call->library == RUNTIME_MPI;
	return above.library == RUNTIME_OMP && call->library == RUNTIME_OMP &&
	       above.activity == MODEL_OMP_OVERHEAD && call->activity != MODEL_OMP_OVERHEAD;
}

/*
 * Enters a frame of a run-time library without a known call. The library's own threads start in
 * such a frame. In libgomp it may be a function without a name: GOMP_barrier and others end with a
 * jump to one, which leaves no frame of GOMP_barrier.
 */
static struct state enter_library(struct state above, unsigned library, bool is_unnamed)
{
	struct state s = above;
	if (above.library != RUNTIME_NONE)
		return above;
	s.library = (uint8_t)library;
	s.activity = library == RUNTIME_MPI ? MODEL_MPI_OTHER
		     : !above.is_in_program ? MODEL_OMP_IDLE
		     : is_unnamed           ? MODEL_OMP_BARRIER
					    : MODEL_OMP_OVERHEAD;
	return s;
}

static uint8_t waits_on(const struct finding *f, struct state above, uint32_t function)
{
	const unsigned library = library_of(f, function);
	if (library != RUNTIME_SYSTEM && library != RUNTIME_OURS)
		return KNOWN_WAIT_NONE;
	const enum known_wait_object object = known_wait_object(f->m->functions[function].name);
	return object == KNOWN_WAIT_NONE ? above.waits_on : (uint8_t)object;
}

static struct state enter_function(const struct finding *f, struct state above, uint32_t function)
{
	const struct model_function *x = &f->m->functions[function];
	if (x->wait)
		return enter_wait(above, x->wait);
	above.waits_on = waits_on(f, above, function);
	unsigned library = library_of(f, function);
	const struct runtime_call call = f->calls[function];
	struct state s = above;
	if (call.library != RUNTIME_NONE && is_better(above, &call)) {
		s.library = (uint8_t)call.library;
		s.activity = (uint8_t)call.activity;
	} else if (library == RUNTIME_OMP || library == RUNTIME_MPI) {
		return enter_library(above, library, x->is_unnamed);
	} else if (call.library == RUNTIME_NONE && is_called_back(f, above.library, function)) {
		s = (struct state){
			.library = RUNTIME_NONE, .activity = MODEL_WORK, .is_in_program = true};
	}
	return s;
}

static struct state state_of(const struct finding *f, uint32_t context)
{
	const struct model_context *c = &f->m->contexts[context];
	struct state above = context ? f->all[c->parent] : (struct state){0};
	if (c->kind == MODEL_CONTEXT_ENTRY && c->entry == MODEL_ENTRY_OMP_IDLE)
		return (struct state){.library = RUNTIME_OMP, .activity = MODEL_OMP_IDLE};
	if (c->kind == MODEL_CONTEXT_FUNCTION && c->function < f->m->n_functions)
		return enter_function(f, above, c->function);
	return above;
}

bool activity_find(struct model *m)
{
	struct finding f = {.m = m,
			    .all = calloc((size_t)m->n_contexts + 1, sizeof *f.all),
			    .library = calloc((size_t)m->n_modules + 1, sizeof *f.library),
			    .is_in_mpi = calloc((size_t)m->n_contexts + 1, sizeof *f.is_in_mpi),
			    .calls_runtime =
				    calloc((size_t)m->n_modules + 1, sizeof *f.calls_runtime),
			    .calls = calloc((size_t)m->n_functions + 1, sizeof *f.calls)};
	bool ok = f.all && f.library && f.is_in_mpi && f.calls_runtime && f.calls;
	if (ok) {
		find_libraries(&f);
		find_calls(&f);
		find_callers(&f);
	}
	for (uint32_t c = 0; ok && c < m->n_contexts; c++) {
		f.all[c] = state_of(&f, c);
		m->private_->contexts[c].activity = f.all[c].activity;
	}
	free(f.all);
	free(f.library);
	free(f.is_in_mpi);
	free(f.calls_runtime);
	free(f.calls);
	return ok;
}
