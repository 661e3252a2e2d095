/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets a profiler of the program use CUPTI, which serves only one subscriber. We stay subscribed
 * and get the program's calls (front/front.h). The program gets our subscription and the callbacks
 * that it asks for; nv_yield.c gives it the records. Until its first call this costs nothing.
 *
 * When the program disables a callback while other threads use CUDA, it stays enabled in CUPTI, and
 * we no longer pass it on. The reason: CUPTI loses track of a thread that is in a call whose
 * callback is disabled (doc/notes/cupti-facts.md K).
 *
 * PC sampling, counters and a recording end at the program's first call. If the program has another
 * copy of CUPTI than we do, it gets ours, because the driver serves only one copy in a process.
 *
 * Test: tests/cli/gpu/cupti_yield.sh.
 */
#include "hpcrun-lite/gpu/cupti/counters/nv_counters.h"
#include "hpcrun-lite/gpu/cupti/front/front.h"
#include "hpcrun-lite/gpu/cupti/pc/nv_pc.h"
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

/* How long the program's profiler waits until PC sampling and counters have ended. */
#define END_NS UINT64_C(2000000000)
#define N_DOMAINS ((unsigned)CUPTI_CB_DOMAIN_SIZE)
#define N_OPEN 8u /* nested calls of a thread */

static struct cupti_table behind;
const struct cupti_table *const nv_client_behind = &behind;

static struct {
	_Atomic bool is_taken; /* a subscriber owns the other fields */
	_Atomic(CUpti_CallbackFunc) callback; /* NULL: the program is not subscribed */
	_Atomic(void *) user;
	/* which callbacks the program wants, by domain and id */
	_Atomic bool wants[N_DOMAINS][NV_MAX_CALLS];
} client;

/*
 * What our entry of a call left for its end. CUPTI has one word of correlationData for each call,
 * and it belongs to the program from its first call of CUPTI on.
 */
static __thread struct {
	uint64_t left;
	uint32_t call, correlation;
} open_calls[N_OPEN] __attribute__((tls_model("initial-exec")));
static __thread uint32_t n_open __attribute__((tls_model("initial-exec")));
static __thread uint32_t n_delivering __attribute__((tls_model("initial-exec")));
/* Greater than 0 while we call the driver ourselves; these are not the program's calls. */
static __thread uint32_t n_ours __attribute__((tls_model("initial-exec")));

/* ---- from CUPTI to the program ---- */

static bool wants(CUpti_CallbackDomain d, CUpti_CallbackId id)
{
	return (unsigned)d < N_DOMAINS && id < NV_MAX_CALLS &&
	       atomic_load_explicit(&client.wants[d][id], memory_order_relaxed);
}

static void deliver(CUpti_CallbackDomain d, CUpti_CallbackId id, const void *data)
{
	CUpti_CallbackFunc f = atomic_load_explicit(&client.callback, memory_order_acquire);
	if (!f || n_ours || !wants(d, id))
		return;
	nv_switch_count_caller();
	n_delivering++;
	f(atomic_load_explicit(&client.user, memory_order_relaxed), d, id, data);
	n_delivering--;
}

static void keep(CUpti_CallbackId id, uint32_t correlation, uint64_t left)
{
	open_calls[n_open % N_OPEN].left = left;
	open_calls[n_open % N_OPEN].call = id;
	open_calls[n_open % N_OPEN].correlation = correlation;
	n_open++;
}

/*
 * Returns false if there is no entry. Then the call began before the program used CUPTI, and our
 * value is in correlationData.
 */
static bool take(CUpti_CallbackId id, uint32_t correlation, uint64_t *left)
{
	for (uint32_t i = 0; i < n_open && i < N_OPEN; i++) {
		uint32_t at = (n_open - 1 - i) % N_OPEN;
		if (open_calls[at].call != id || open_calls[at].correlation != correlation)
			continue;
		*left = open_calls[at].left;
		n_open -= i + 1; /* inner calls that never returned are over */
		return true;
	}
	return false;
}

static void call_ours(CUpti_CallbackId id, const CUpti_CallbackData *d,
		      void (*ours)(CUpti_CallbackDomain, CUpti_CallbackId, const void *))
{
	uint64_t theirs = *d->correlationData, left;
	if (d->callbackSite == CUPTI_API_ENTER)
		*d->correlationData = 0;
	else if (take(id, d->correlationId, &left))
		*d->correlationData = left;
	else
		theirs = 0;
	n_ours++;
	ours(CUPTI_CB_DOMAIN_DRIVER_API, id, d);
	n_ours--;
	if (d->callbackSite == CUPTI_API_ENTER)
		keep(id, d->correlationId, *d->correlationData);
	*d->correlationData = theirs;
}

/*
 * The program's callback runs outside of our gate in front of launches, because it may close the
 * gate.
 */
void nv_client_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data,
			void (*ours)(CUpti_CallbackDomain, CUpti_CallbackId, const void *))
{
	const CUpti_CallbackData *d = data;
	if (domain != CUPTI_CB_DOMAIN_DRIVER_API) {
		n_ours++;
		ours(domain, id, data);
		n_ours--;
		deliver(domain, id, data);
		return;
	}
	if (d->callbackSite == CUPTI_API_ENTER)
		deliver(domain, id, data);
	if (nv_call_at(id))
		call_ours(id, d, ours);
	if (d->callbackSite != CUPTI_API_ENTER)
		deliver(domain, id, data);
}

/* ---- the first call ---- */

/* Returns true if the back end can do nothing more, or this is another process. */
static bool is_past(void)
{
	return !nv_is_here() || nv_trace_is_over();
}

static void say_ended(const char *what)
{
	nv_note("a profiler of the program uses CUPTI: ", what,
		" end here, operations are still traced");
}

/* Ends counters, PC sampling and the recording, each once. */
static void end_exclusive(void)
{
	uint64_t until_ns = nv.lib.now_ns() + END_NS;
	if (nv_counters_are_on()) {
		if (nv_counters_give_way(until_ns))
			say_ended("counters");
		else
			nv_note("a profiler of the program uses CUPTI, but counters cannot end: a "
				"launch does not return",
				"", "");
	}
	if (nv.options.record_bytes)
		nv_end_recording("a profiler of the program uses CUPTI");
}

bool nv_client_comes(void)
{
	sigset_t old;
	if (is_past())
		return false;
	if (nv_yield_has_client())
		return true;
	int saved = errno;
	end_exclusive();
	bool is_guarded = nv_yield_begin(&old);
	if (is_guarded) {
		bool is_first = !atomic_load_explicit(&nv_trace.has_client, memory_order_relaxed);
		if (is_first && nv.options.pc != NV_PC_OFF) {
			if (nv_pc_leave(nv.lib.now_ns() + END_NS))
				say_ended("PC samples");
			else
				nv_note("a profiler of the program uses CUPTI, but PC sampling "
					"cannot end while kernels run",
					"", "");
		}
		atomic_store_explicit(&nv_trace.has_client, true, memory_order_seq_cst);
	}
	nv_yield_end(is_guarded, &old);
	errno = saved;
	return !is_past() && nv_yield_has_client();
}

/* ---- from the program to CUPTI ---- */

static CUptiResult CUPTIAPI subscribe(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *user)
{
	if (!nv_client_comes())
		return nv_client_behind->cuptiSubscribe(s, f, user);
	if (!s || !f)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (atomic_exchange_explicit(&client.is_taken, true, memory_order_acquire))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	/* Release: a thread that sees the function also sees `user`. */
	atomic_store_explicit(&client.user, user, memory_order_relaxed);
	atomic_store_explicit(&client.callback, f, memory_order_release);
	*s = nv.subscriber;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI subscribe_v2(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f,
					 void *user, CUpti_SubscriberParams *p)
{
	return nv_client_comes() ? subscribe(s, f, user)
				 : nv_client_behind->cuptiSubscribe_v2(s, f, user, p);
}

/*
 * Returns true for our subscription, also after the end of measurement, when calls are passed on.
 */
static bool is_ours(CUpti_SubscriberHandle s)
{
	return s && s == nv.subscriber &&
	       atomic_load_explicit(&client.callback, memory_order_acquire);
}

/*
 * Disables a callback that the program no longer wants. Callbacks that we need stay enabled, and so
 * do those for resources, which are few.
 */
static void take_back(CUpti_CallbackDomain d, CUpti_CallbackId id)
{
	bool is_used = d == CUPTI_CB_DOMAIN_RESOURCE ||
		       (d == CUPTI_CB_DOMAIN_DRIVER_API && nv_call_at(id));
	if (atomic_exchange_explicit(&client.wants[d][id], false, memory_order_relaxed) &&
	    !is_used && !n_delivering && (is_past() || nv_switch_is_only_caller()))
		nv_client_behind->cuptiEnableCallback(0, nv.subscriber, d, id);
}

static CUptiResult CUPTIAPI enable_callback(uint32_t on, CUpti_SubscriberHandle s,
					    CUpti_CallbackDomain d, CUpti_CallbackId id)
{
	if (!is_ours(s) || (unsigned)d >= N_DOMAINS || id >= NV_MAX_CALLS)
		return nv_client_behind->cuptiEnableCallback(on, s, d, id);
	if (!on) {
		take_back(d, id);
		return CUPTI_SUCCESS;
	}
	/* before CUPTI enables it, because a call may be entered at once */
	bool was = atomic_exchange_explicit(&client.wants[d][id], true, memory_order_relaxed);
	CUptiResult r = nv_client_behind->cuptiEnableCallback(1, s, d, id);
	if (r != CUPTI_SUCCESS)
		atomic_store_explicit(&client.wants[d][id], was, memory_order_relaxed);
	return r;
}

static CUptiResult CUPTIAPI enable_domain(uint32_t on, CUpti_SubscriberHandle s,
					  CUpti_CallbackDomain d)
{
	if (!is_ours(s) || (unsigned)d >= N_DOMAINS)
		return nv_client_behind->cuptiEnableDomain(on, s, d);
	CUptiResult r = on ? nv_client_behind->cuptiEnableDomain(1, s, d) : CUPTI_SUCCESS;
	for (CUpti_CallbackId id = 0; r == CUPTI_SUCCESS && id < NV_MAX_CALLS; id++)
		if (on)
			atomic_store_explicit(&client.wants[d][id], true, memory_order_relaxed);
		else
			take_back(d, id);
	return r;
}

static CUptiResult CUPTIAPI enable_all_domains(uint32_t on, CUpti_SubscriberHandle s)
{
	if (!is_ours(s))
		return nv_client_behind->cuptiEnableAllDomains(on, s);
	CUptiResult r = on ? nv_client_behind->cuptiEnableAllDomains(1, s) : CUPTI_SUCCESS;
	for (unsigned d = 1; r == CUPTI_SUCCESS && d < N_DOMAINS; d++)
		for (CUpti_CallbackId id = 0; id < NV_MAX_CALLS; id++)
			if (on)
				atomic_store_explicit(&client.wants[d][id], true,
						      memory_order_relaxed);
			else
				take_back((CUpti_CallbackDomain)d, id);
	return r;
}

static CUptiResult CUPTIAPI get_callback_state(uint32_t *on, CUpti_SubscriberHandle s,
					       CUpti_CallbackDomain d, CUpti_CallbackId id)
{
	CUptiResult r = nv_client_behind->cuptiGetCallbackState(on, s, d, id);
	if (r == CUPTI_SUCCESS && is_ours(s))
		*on = wants(d, id);
	return r;
}

static CUptiResult CUPTIAPI unsubscribe(CUpti_SubscriberHandle s)
{
	if (!is_ours(s))
		return nv_client_behind->cuptiUnsubscribe(s);
	for (unsigned d = 1; d < N_DOMAINS; d++)
		for (CUpti_CallbackId id = 0; id < NV_MAX_CALLS; id++)
			take_back((CUpti_CallbackDomain)d, id);
	atomic_store_explicit(&client.callback, NULL, memory_order_release);
	atomic_store_explicit(&client.is_taken, false, memory_order_release);
	return CUPTI_SUCCESS;
}

/* Finalizes only for the program, which then has no kinds of records and no subscription. */
static CUptiResult CUPTIAPI finalize(void)
{
	if (!nv_client_comes())
		return nv_client_behind->cuptiFinalize();
	nv_yield_finalize();
	if (is_ours(nv.subscriber))
		unsubscribe(nv.subscriber);
	return CUPTI_SUCCESS;
}

static struct cupti_table table = {
	.cuptiSubscribe = subscribe,
	.cuptiSubscribe_v2 = subscribe_v2,
	.cuptiUnsubscribe = unsubscribe,
	.cuptiFinalize = finalize,
	.cuptiEnableCallback = enable_callback,
	.cuptiEnableDomain = enable_domain,
	.cuptiEnableAllDomains = enable_all_domains,
	.cuptiGetCallbackState = get_callback_state,
};

static struct cupti_front *find_front(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, CUPTI_FRONT_SYMBOL);
	cupti_front_fn *find = (cupti_front_fn *)(uintptr_t)symbol;
	return find ? find() : NULL;
}

bool nv_client_is_first(void)
{
	const void *text = NULL;
	struct cupti_front *front = find_front();
	if (!front)
		return true;
	const bool was_called = atomic_load_explicit(&front->was_called, memory_order_relaxed);
	return !atomic_load_explicit(&front->has_stranger, memory_order_acquire) &&
	       (!was_called || !front->behind(&text) || text == nv.lib.cupti_text);
}

void nv_client_start(void)
{
	struct cupti_front *front = find_front();
	void *library = front ? dlopen(nv.lib.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	if (!library) {
		nv_note("cannot stand in front of CUPTI; profilers of the program get nothing", "",
			"");
		return;
	}
#define FIND(name, parameters, arguments) \
	{ \
		void *found = front->symbol(library, #name); \
		memcpy(&behind.name, &found, sizeof found); \
	}
	CUPTI_FRONT_FUNCTIONS(FIND)
#define PASS(name, parameters, arguments) table.name = behind.name;
	CUPTI_FRONT_PASSED(PASS)
	nv_yield_fill(&table);
	front->library = library;
	atomic_store_explicit(&front->client, &table, memory_order_release);
}
