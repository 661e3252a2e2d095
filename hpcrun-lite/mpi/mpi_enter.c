/* SPDX-License-Identifier: BSD-3-Clause */
/* See mpi_enter.h. Test: tests/cli/mpi/mpi_truth.sh. */
#include "hpcrun-lite/mpi/mpi_enter.h"

#include "common/safe/clock.h"
#include "hpcrun-lite/mpi/mpi_bytes.h"
#include "hpcrun-lite/mpi/mpi_poll.h"
#include "hpcrun-lite/mpi/mpi_requests.h"

#include <dlfcn.h>
#include <errno.h>

__thread uintptr_t mpi_outermost;

/* ---- the run time ---- */

static _Atomic(const struct mpi_host *) host;
static _Atomic bool has_looked;
static _Atomic uint32_t generation;

static __attribute__((noinline)) const struct mpi_host *look_for_host(void)
{
	int saved = errno;
	mpi_host_fn *find = (mpi_host_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, MPI_HOST_SYMBOL);
	const struct mpi_host *h = find ? find(MPI_HOST_VERSION) : NULL;
	errno = saved;
	atomic_store_explicit(&host, h, memory_order_release);
	atomic_store_explicit(&has_looked, true, memory_order_relaxed);
	return h;
}

/* A forked child starts with no communicators. */
static __attribute__((noinline)) void begin_generation(uint32_t before, uint32_t now)
{
	if (before) {
		mpi_objects_reset();
		mpi_requests_reset();
	}
	atomic_store_explicit(&generation, now, memory_order_relaxed);
}

/* Returns NULL if the process is not measured. */
static const struct mpi_host *live_host(void)
{
	const struct mpi_host *h = atomic_load_explicit(&host, memory_order_acquire);
	if (__builtin_expect(!h && !atomic_load_explicit(&has_looked, memory_order_relaxed), 0))
		h = look_for_host();
	const uint32_t now = h ? h->generation() : 0,
		       before = atomic_load_explicit(&generation, memory_order_relaxed);
	if (__builtin_expect(now && now != before, 0))
		begin_generation(before, now);
	return now ? h : NULL;
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

/* The other side of the requests that the call waits for. A call that starts them forgets them. */
static void find_requests(const struct mpi_frame *f, const struct mpi_call_form *form,
			  const uintptr_t *a, struct mpi_other_side *to)
{
	const struct mpi_request_array r = {mpi_library(f->function), a[form->requests],
					    form->requests == 1 ? 1 : (int)a[form->requests - 1]};
	struct mpi_other_side other;
	if (form->is_nonblocking)
		mpi_requests_remove_all(&r);
	else if (mpi_requests_agree(&r, &other))
		*to = other;
}

static uint64_t begin(const struct mpi_frame *f, const uintptr_t *a)
{
	const struct mpi_call_form *form = &mpi_call_forms[f->call];
	struct mpi_other_side other = {.comm = f->on ? f->on->id : 0, .peer = f->peer};
	if (form->requests)
		find_requests(f, form, a, &other);
	return f->host->begin((const void *)(uintptr_t)mpi_enter,
			      &(struct mpi_event){.comm = other.comm,
						  .peer = other.peer,
						  .way = (uint16_t)other.way,
						  .call = f->call,
						  .is_poll = f->poll != NULL});
}

static void find_peer(struct mpi_frame *f, const struct mpi_call_form *form, const uintptr_t *a)
{
	const struct mpi_arguments c = {mpi_library(f->function), form, a, f->is_large, f->on};
	bool is_null;
	f->peer = mpi_bytes_peer(&c, form->peer, &is_null);
}

/* Walks the stack, and says in the file that the thread is in the call, unless it is a poll. */
static __attribute__((noinline)) void begin_call(struct mpi_frame *f, const uintptr_t *a)
{
	const struct mpi_call_form *form = &mpi_call_forms[f->call];
	f->on = f->freed = NULL;
	f->number = 0;
	f->peer = MSR_MPI_NO_PEER;
	f->is_measured = false;
	if (!f->host)
		return;
	if (form->on || form->frees)
		find_object(f, form, a);
	if (form->peer)
		find_peer(f, form, a);
	const uint64_t enter_ns = begin(f, a);
	f->is_measured = enter_ns != 0;
	if (!f->poll)
		f->enter_ns = enter_ns;
}

/* We walk the stack of a poll after it. Before, that would make the poll take 20 % longer. */
void mpi_enter(struct mpi_frame *f, const uintptr_t *a)
{
	f->host = live_host();
	mpi_outermost = (uintptr_t)f;
	f->poll = NULL;
	if (!f->host || !mpi_call_forms[f->call].found) {
		begin_call(f, a);
		return;
	}
	f->poll = mpi_poll_of(f->call, atomic_load_explicit(&generation, memory_order_relaxed));
	f->is_timed = mpi_poll_is_timed(f->poll);
	if (f->is_timed)
		f->enter_ns = clock_mono_ns();
	else
		f->enter_ticks = clock_ticks();
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

static bool makes_request(unsigned call, const struct mpi_call_form *form)
{
	if (call >= MPI_CALL_Rput && call <= MPI_CALL_Rget_accumulate)
		return true;
	return form->is_nonblocking && !form->found && !form->requests && call != MPI_CALL_Win_test;
}

/* Calls that make a request have a pointer to it as their last argument. */
static void follow_request(const struct mpi_library *l, const struct mpi_frame *f,
			   const struct mpi_call_form *form, const uintptr_t *a)
{
	if (l->abi == MPI_ABI_UNKNOWN)
		return;
	const uintptr_t handle = mpi_handle_at(l, false, a[form->n]);
	if (form->group == MPI_GROUP_P2P && f->on && !form->source &&
	    (f->peer >= 0 || f->peer == MSR_MPI_ANY_PEER))
		mpi_requests_add(handle, &(struct mpi_other_side){f->on->id, f->peer,
								  form->send ? MSR_MPI_WAY_TO
									     : MSR_MPI_WAY_FROM});
	else
		mpi_requests_remove(handle);
}

/* The call has succeeded. Records the objects that it made or freed, and the request. */
static void follow(const struct mpi_host *h, const struct mpi_library *l, struct mpi_frame *f,
		   const struct mpi_call_form *form, const uintptr_t *a)
{
	if (f->call == MPI_CALL_Init || f->call == MPI_CALL_Init_thread)
		mpi_objects_start(h, l);
	if (form->creates)
		add_object(h, l, f, form, a);
	if (makes_request(f->call, form))
		follow_request(l, f, form, a);
	if (form->on && !f->on && form->object == MPI_OBJECT_COMM) {
		const uintptr_t handle = mpi_handle(l, false, a[form->on]);
		mpi_objects_add(h, l, &(struct mpi_new_object){.kind = MPI_OBJECT_COMM,
							       .handle = handle});
		f->on = mpi_objects_find(MPI_OBJECT_COMM, handle);
		f->number = UINT64_MAX; /* not matched */
	}
}

/* `ns`: the time of the call. */
static void record(const struct mpi_library *l, const struct mpi_frame *f, const uintptr_t *a,
		   uint64_t leave_ns, uint64_t ns, bool is_good)
{
	const struct mpi_call_form *form = &mpi_call_forms[f->call];
	const struct mpi_arguments c = {l, form, a, f->is_large, f->on};
	bool is_null;
	struct mpi_event e = {.enter_ns = leave_ns - ns,
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
	_Atomic uint64_t *n_calls = f->host->end(&e);
	if (f->poll)
		f->poll->n_calls = n_calls;
}

static __attribute__((noinline)) void end_call(struct mpi_frame *f, const uintptr_t *a, int result)
{
	const uint64_t leave_ns = f->is_measured ? clock_mono_ns() : 0;
	const struct mpi_call_form *form = &mpi_call_forms[f->call];
	if (!f->host)
		return;
	const struct mpi_library *l = mpi_library(f->function);
	if (result == 0)
		follow(f->host, l, f, form, a);
	else
		mpi_objects_put_back(f->freed, form->object, f->freed_handle);
	if (f->is_measured)
		record(l, f, a, leave_ns, leave_ns - f->enter_ns, result == 0);
}

static __attribute__((noinline)) void record_poll(struct mpi_frame *f, const uintptr_t *a,
						  int result, uint64_t ns)
{
	const struct mpi_library *l = mpi_library(f->function);
	if (result == 0)
		follow(f->host, l, f, &mpi_call_forms[f->call], a);
	if (f->is_measured)
		record(l, f, a, ns, ns, result == 0);
}

static bool has_found(const struct mpi_frame *f, const uintptr_t *a, int result)
{
	return result != 0 || *(const int *)a[mpi_call_forms[f->call].found];
}

static __attribute__((noinline)) void end_timed_poll(struct mpi_frame *f, const uintptr_t *a,
						     int result)
{
	const uint64_t leave_ns = clock_mono_ns(), ticks = clock_ticks();
	mpi_poll_compare(f->poll, leave_ns, ticks, clock_mono_ns());
	begin_call(f, a);
	record_poll(f, a, result,
		    mpi_poll_ns(f->poll, f->enter_ns, leave_ns,
				!f->is_measured || has_found(f, a, result)));
}

static __attribute__((noinline)) void end_long_poll(struct mpi_frame *f, const uintptr_t *a,
						    int result, int64_t ticks)
{
	const uint64_t ns = mpi_poll_ticks_ns(f->poll, ticks, clock_mono_ns());
	begin_call(f, a);
	record_poll(f, a, result, ns);
}

static void end_poll(struct mpi_frame *f, const uintptr_t *a, int result)
{
	const int64_t ticks = (int64_t)(clock_ticks() - f->enter_ticks);
	if (mpi_poll_is_skipped(f->poll, ticks, has_found(f, a, result)))
		f->poll->n_skipped += f->host->again(f->poll->n_calls);
	else
		end_long_poll(f, a, result, ticks);
}

void mpi_leave(struct mpi_frame *f, const uintptr_t *a, int result)
{
	if (!f->poll)
		end_call(f, a, result);
	else if (f->is_timed)
		end_timed_poll(f, a, result);
	else
		end_poll(f, a, result);
	mpi_outermost = 0;
}
