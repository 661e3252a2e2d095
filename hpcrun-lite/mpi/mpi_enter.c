/* SPDX-License-Identifier: BSD-3-Clause */
/* See mpi_enter.h. Test: tests/cli/mpi/mpi_truth.sh. */
#include "hpcrun-lite/mpi/mpi_enter.h"

#include "common/safe/clock.h"
#include "hpcrun-lite/mpi/mpi_bytes.h"
#include "hpcrun-lite/mpi/mpi_poll.h"

#include <dlfcn.h>
#include <errno.h>

__thread uintptr_t mpi_outermost;

/* ---- the run time ---- */

static _Atomic(const struct mpi_host *) host;
static _Atomic bool has_looked;
static _Atomic uint32_t generation;

static const struct mpi_host *find_host(void)
{
	const struct mpi_host *h = atomic_load_explicit(&host, memory_order_acquire);
	if (__builtin_expect(h || atomic_load_explicit(&has_looked, memory_order_relaxed), 1))
		return h;
	int saved = errno;
	mpi_host_fn *find = (mpi_host_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, MPI_HOST_SYMBOL);
	h = find ? find(MPI_HOST_VERSION) : NULL;
	errno = saved;
	atomic_store_explicit(&host, h, memory_order_release);
	atomic_store_explicit(&has_looked, true, memory_order_relaxed);
	return h;
}

/* Returns NULL if the process is not measured. A forked child starts with no communicators. */
static const struct mpi_host *live_host(void)
{
	const struct mpi_host *h = find_host();
	uint32_t now = h ? h->generation() : 0;
	uint32_t before = atomic_load_explicit(&generation, memory_order_relaxed);
	if (!now)
		return NULL;
	if (__builtin_expect(now != before, 0)) {
		if (before)
			mpi_objects_reset();
		atomic_store_explicit(&generation, now, memory_order_relaxed);
	}
	return h;
}

/* ---- before ---- */

static void find_object(struct mpi_frame *f, const struct mpi_call_form *form, const uintptr_t *a)
{
	const struct mpi_library *l = mpi_library(f->function);
	const bool is_file = form->object == MPI_OBJECT_FILE;
	if (l->abi == MPI_ABI_UNKNOWN)
		return;
	if (form->on)
		f->on = mpi_objects_find(form->object, mpi_handle(l, is_file, a[form->on]));
	if (form->frees) {
		f->freed_handle = mpi_handle_at(l, is_file, a[form->frees]);
		f->on = f->freed = mpi_objects_take(form->object, f->freed_handle);
	}
	if (f->on && form->kind != MPI_KIND_NONE)
		f->number = atomic_fetch_add_explicit(&f->on->n_collectives, 1,
						      memory_order_relaxed);
}

static uint64_t begin(const struct mpi_host *h, const struct mpi_frame *f)
{
	return h->begin((const void *)(uintptr_t)mpi_enter,
			&(struct mpi_event){.comm = f->on ? f->on->id : 0,
					    .peer = f->peer,
					    .call = f->call,
					    .is_poll = f->poll != NULL});
}

void mpi_enter(struct mpi_frame *f, const uintptr_t *a)
{
	const struct mpi_call_form *form = &mpi_call_forms[f->call];
	const struct mpi_host *h = f->host = live_host();
	mpi_outermost = (uintptr_t)f;
	f->on = f->freed = NULL;
	f->number = 0;
	f->peer = MSR_MPI_NO_PEER;
	f->is_measured = f->is_untimed = false;
	f->poll = NULL;
	if (!h)
		return;
	if (form->found) {
		f->poll = mpi_poll_of(f->call, atomic_load_explicit(&generation,
								    memory_order_relaxed));
		f->is_untimed = !mpi_poll_is_timed(f->poll);
		if (f->is_untimed)
			return;
	}
	if (form->on || form->frees)
		find_object(f, form, a);
	if (form->peer) {
		const struct mpi_arguments c = {mpi_library(f->function), form, a, f->is_large,
						f->on};
		bool is_null;
		f->peer = mpi_bytes_peer(&c, form->peer, &is_null);
	}
	f->enter_ns = begin(h, f);
	f->is_measured = f->enter_ns != 0;
}

/* ---- after ---- */

static void add_object(const struct mpi_host *h, const struct mpi_library *l,
		       const struct mpi_frame *f, const struct mpi_call_form *form,
		       const uintptr_t *a)
{
	const bool is_file = form->new_object == MPI_OBJECT_FILE;
	struct mpi_new_object new = {
		.kind = form->new_object,
		.handle = mpi_handle_at(l, is_file, a[form->creates]),
		.parent = f->on,
		.number = form->tag ? (uint32_t)a[form->tag] : f->number,
		.is_of_group = form->tag != 0,
		.is_copy = f->call == MPI_CALL_Comm_dup || f->call == MPI_CALL_Comm_dup_with_info,
		.n_dimensions = form->n_dimensions ? (int)a[form->n_dimensions] : 0,
		.is_graph = f->call == MPI_CALL_Graph_create,
		.is_dist_graph = f->call == MPI_CALL_Dist_graph_create ||
				 f->call == MPI_CALL_Dist_graph_create_adjacent,
	};
	if (f->call == MPI_CALL_Cart_sub && l->cart_dimensions(new.handle, &new.n_dimensions) != 0)
		new.n_dimensions = 0;
	mpi_objects_add(h, l, &new);
}

/* The call has succeeded. Records the objects that it made or freed. */
static void follow(const struct mpi_host *h, const struct mpi_library *l, struct mpi_frame *f,
		   const struct mpi_call_form *form, const uintptr_t *a)
{
	if (f->call == MPI_CALL_Init || f->call == MPI_CALL_Init_thread)
		mpi_objects_start(h, l);
	if (form->creates)
		add_object(h, l, f, form, a);
	if (form->on && !f->on && form->object == MPI_OBJECT_COMM) {
		const uintptr_t handle = mpi_handle(l, false, a[form->on]);
		mpi_objects_add(h, l, &(struct mpi_new_object){.kind = MPI_OBJECT_COMM,
							       .handle = handle});
		f->on = mpi_objects_find(MPI_OBJECT_COMM, handle);
		f->number = UINT64_MAX; /* not matched */
	}
}

static void record(const struct mpi_host *h, const struct mpi_library *l,
		   const struct mpi_frame *f, const struct mpi_call_form *form, const uintptr_t *a,
		   uint64_t leave_ns, bool is_good)
{
	const struct mpi_arguments c = {l, form, a, f->is_large, f->on};
	bool is_null;
	struct mpi_event e = {.enter_ns = f->enter_ns,
			      .leave_ns = leave_ns,
			      .number = f->number,
			      .comm = f->on ? f->on->id : 0,
			      .peer = MSR_MPI_NO_PEER,
			      .call = f->call,
			      .is_collective = is_good && form->kind != MPI_KIND_NONE && f->on &&
					       f->on->identity && f->on->size > 1 &&
					       f->number != UINT64_MAX};
	if (is_good) {
		e.peer = mpi_bytes_peer(&c, form->peer, &is_null);
		mpi_bytes_of(&c, &e.sent, &e.received);
	}
	if (f->poll && !f->is_untimed)
		e.enter_ns = leave_ns - mpi_poll_ns(f->poll, f->enter_ns, leave_ns);
	_Atomic uint64_t *n_calls = h->end(&e);
	if (f->poll)
		f->poll->n_calls = n_calls;
}

/* The time of this poll is in that of the next timed poll. */
static void leave_untimed(struct mpi_frame *f, const struct mpi_call_form *form,
			  const uintptr_t *a, int result)
{
	const struct mpi_host *h = f->host;
	if (result == 0 && !*(const int *)a[form->found]) {
		h->again(f->poll->n_calls);
		return;
	}
	if (form->on)
		find_object(f, form, a);
	f->enter_ns = 0;
	if (begin(h, f))
		record(h, mpi_library(f->function), f, form, a, 0, result == 0);
}

void mpi_leave(struct mpi_frame *f, const uintptr_t *a, int result)
{
	const uint64_t leave_ns = f->is_measured ? clock_mono_ns() : 0;
	const struct mpi_call_form *form = &mpi_call_forms[f->call];
	const struct mpi_host *h = f->host;
	if (f->is_untimed) {
		leave_untimed(f, form, a, result);
	} else if (h) {
		const struct mpi_library *l = mpi_library(f->function);
		if (result == 0)
			follow(h, l, f, form, a);
		else
			mpi_objects_put_back(f->freed, form->object, f->freed_handle);
		if (f->is_measured)
			record(h, l, f, form, a, leave_ns, result == 0);
	}
	mpi_outermost = 0;
}
