/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpu=nvidia,yield: a profiler of the program uses CUPTI, which serves only one subscriber. We stay
 * subscribed, and the program's calls come here (front/front.h). Its subscription is ours under
 * another handle. From its first kind of records until its last one is disabled and all of its
 * buffers are back, the device's records are its own: our kinds are off, buffers are its buffers,
 * and times are by its clock. We count what is launched meanwhile.
 *
 * CUPTI cannot be handed over in earnest. To unsubscribe or to switch kinds beside a thread that is
 * in a call makes CUPTI lose all later records of that thread (doc/notes/cupti-facts.md K, O). So
 * launches are held for each switch, also for those that the program asks for. Callbacks of calls
 * cannot be given to the program: they could never be taken back.
 *
 * Test: tests/cli/gpu/cupti_yield.sh.
 */
#include "hpcrun-lite/gpu/cupti/front/front.h"
#include "hpcrun-lite/gpu/cupti/pc/nv_pc.h"
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#include "common/safe/clock.h"
#include "common/safe/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define HOLD_NS UINT64_C(1000000000)
/* How long the program's profiler waits for our records of earlier launches. */
#define EARLIER_NS UINT64_C(2000000000)
/* After this time without a kind on, we ask for buffers that the program does not ask for. */
#define FORGOTTEN_NS UINT64_C(1000000000)
#define MAX_RESOURCES 64u
#define TEXT_BYTES 256u

static const struct cupti_table *behind;
static char handle; /* its address is the program's handle */

/* Under the guard. */
static struct {
	bool kind[CUPTI_ACTIVITY_KIND_COUNT];
	unsigned n_kinds;
	bool is_refused;  /* until the next registration of buffers */
	bool has_sharing; /* the program set whether threads have buffers of their own */
	uint8_t has_own_buffers;
	uint64_t since_ns, idle_ns, total_ns;
	uint32_t n_windows, n_told;
} window;

static struct {
	_Atomic(CUpti_BuffersCallbackRequestFunc) request;
	_Atomic(CUpti_BuffersCallbackCompleteFunc) complete;
	_Atomic(CUpti_TimestampCallbackFunc) clock;
	_Atomic uint32_t n_buffers; /* that CUPTI holds */
	_Atomic(CUpti_CallbackFunc) callback;
	_Atomic(void *) user;
	_Atomic uint64_t resources; /* enabled callback ids, a bit each */
} theirs;

/* ---- from CUPTI to the program ---- */

bool nv_yield_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	CUpti_BuffersCallbackRequestFunc f =
		atomic_load_explicit(&theirs.request, memory_order_acquire);
	if (!nv_yield_is_away())
		return false;
	*buffer = NULL;
	*bytes = *max_records = 0;
	atomic_fetch_add_explicit(&theirs.n_buffers, 1, memory_order_relaxed);
	if (f)
		f(buffer, bytes, max_records);
	if (!*buffer)
		atomic_fetch_sub_explicit(&theirs.n_buffers, 1, memory_order_release);
	return true;
}

void nv_yield_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
		       size_t valid_bytes)
{
	CUpti_BuffersCallbackCompleteFunc f =
		atomic_load_explicit(&theirs.complete, memory_order_acquire);
	if (!buffer)
		return;
	if (f)
		f(context, stream, buffer, bytes, valid_bytes);
	atomic_fetch_sub_explicit(&theirs.n_buffers, 1, memory_order_release);
}

void nv_yield_resource(CUpti_CallbackId id, const void *data)
{
	CUpti_CallbackFunc f = atomic_load_explicit(&theirs.callback, memory_order_acquire);
	uint64_t enabled = atomic_load_explicit(&theirs.resources, memory_order_relaxed);
	if (f && id < MAX_RESOURCES && (enabled >> id & 1u))
		f(atomic_load_explicit(&theirs.user, memory_order_relaxed),
		  CUPTI_CB_DOMAIN_RESOURCE, id, data);
}

/* CUPTI's usual clock. */
static uint64_t CUPTIAPI real_time(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* ---- stepping aside ---- */

/* CUPTI may create threads here. They inherit blocked signals, and that they are not measured. */
static bool begin(sigset_t *old)
{
	sigset_t all;
	nv.host->suspend(nv.host);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, old);
	return nv_guard_take(nv.lib.now_ns() + HOLD_NS);
}

static void end(bool is_guarded, const sigset_t *old)
{
	if (is_guarded)
		nv_guard_give();
	pthread_sigmask(SIG_SETMASK, old, NULL);
	nv.host->resume(nv.host);
}

static bool go_away(void)
{
	if (window.is_refused || !nv_pc_gate_close(nv.lib.now_ns() + HOLD_NS)) {
		if (!window.is_refused)
			nv_note("a profiler of the program gets no records, because launches could "
				"not be held for it",
				"", "");
		window.is_refused = true;
		return false;
	}
	nv_switch_away();
	nv_pc_gate_open();
	if (!nv_guard_until_idle(nv.lib.now_ns() + EARLIER_NS))
		nv_flush_force(MSR_GPU_LOSS_PENDING);
	CUpti_TimestampCallbackFunc f = atomic_load_explicit(&theirs.clock, memory_order_acquire);
	nv.lib.cuptiActivityRegisterTimestampCallback(f ? f : real_time);
	size_t bytes = sizeof window.has_own_buffers;
	if (window.has_sharing)
		behind->cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER,
						  &bytes, &window.has_own_buffers);
	atomic_store_explicit(&nv_trace.is_away, true, memory_order_release);
	window.since_ns = nv.lib.now_ns();
	window.n_windows++;
	return true;
}

/* Under the guard: comes back if the program has what it asked for. */
static void come_back(void)
{
	size_t n_dropped = 0, bytes = sizeof(uint8_t);
	uint8_t own_buffers = 1;
	if (!nv_yield_is_away() || window.n_kinds ||
	    atomic_load_explicit(&theirs.n_buffers, memory_order_acquire) ||
	    !nv_pc_gate_close(nv.lib.now_ns() + HOLD_NS))
		return;
	/* of the program's records, which are nothing to us */
	nv.lib.cuptiActivityGetNumDroppedRecords(NULL, 0, &n_dropped);
	if (window.has_sharing)
		behind->cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER,
						  &bytes, &own_buffers);
	nv_records_set_clock();
	atomic_store_explicit(&nv_trace.is_away, false, memory_order_release);
	nv_switch_back();
	nv_pc_gate_open();
	window.total_ns += nv.lib.now_ns() - window.since_ns;
	nv_switch_work();
}

void nv_yield_work(void)
{
	if (!nv_yield_is_away() || window.n_kinds)
		return;
	if (nv.lib.now_ns() > window.idle_ns + FORGOTTEN_NS)
		nv.lib.cuptiActivityFlushAll(0);
	come_back();
}

void nv_yield_say(void)
{
	char line[TEXT_BYTES];
	struct text t = text_in(line, sizeof line);
	if (window.n_told == window.n_windows)
		return;
	window.n_told = window.n_windows;
	uint64_t ns =
		window.total_ns + (nv_yield_is_away() ? nv.lib.now_ns() - window.since_ns : 0);
	text_put(&t, "a profiler of the program used CUPTI ");
	text_put_u64(&t, window.n_windows);
	text_put(&t, window.n_windows == 1 ? " time, " : " times, ");
	text_put_u64(&t, ns / 1000000);
	nv_note(line, " ms in all; what was launched then is counted as lost (yielded)", "");
}

/* ---- from the program to CUPTI ---- */

/* The back end can do nothing more, or this is another process. */
static bool is_past(void)
{
	return !nv_is_here() || nv_trace_is_over();
}

static CUptiResult CUPTIAPI subscribe(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *user)
{
	if (is_past())
		return behind->cuptiSubscribe(s, f, user);
	if (!s || !f)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (atomic_load_explicit(&theirs.callback, memory_order_acquire))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	atomic_store_explicit(&theirs.user, user, memory_order_relaxed);
	atomic_store_explicit(&theirs.callback, f, memory_order_release);
	*s = (CUpti_SubscriberHandle)(void *)&handle;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI subscribe_v2(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f,
					 void *user, CUpti_SubscriberParams *p)
{
	return is_past() ? behind->cuptiSubscribe_v2(s, f, user, p) : subscribe(s, f, user);
}

static bool is_ours(CUpti_SubscriberHandle s)
{
	return (void *)s == &handle;
}

static CUptiResult CUPTIAPI unsubscribe(CUpti_SubscriberHandle s)
{
	if (!is_ours(s))
		return behind->cuptiUnsubscribe(s);
	atomic_store_explicit(&theirs.resources, 0, memory_order_relaxed);
	atomic_store_explicit(&theirs.callback, NULL, memory_order_release);
	return CUPTI_SUCCESS;
}

/* Callbacks of resources are few, so none is disabled in CUPTI. */
static CUptiResult CUPTIAPI enable_callback(uint32_t on, CUpti_SubscriberHandle s,
					    CUpti_CallbackDomain d, CUpti_CallbackId id)
{
	if (!is_ours(s))
		return behind->cuptiEnableCallback(on, s, d, id);
	if (d != CUPTI_CB_DOMAIN_RESOURCE || is_past())
		return CUPTI_ERROR_NOT_COMPATIBLE;
	if (id >= MAX_RESOURCES)
		return CUPTI_ERROR_INVALID_PARAMETER;
	CUptiResult r = on ? nv.lib.cuptiEnableCallback(1, nv.subscriber, d, id) : CUPTI_SUCCESS;
	if (on && r == CUPTI_SUCCESS)
		atomic_fetch_or_explicit(&theirs.resources, UINT64_C(1) << id,
					 memory_order_relaxed);
	if (!on)
		atomic_fetch_and_explicit(&theirs.resources, ~(UINT64_C(1) << id),
					  memory_order_relaxed);
	return r;
}

static CUptiResult CUPTIAPI enable_domain(uint32_t on, CUpti_SubscriberHandle s,
					  CUpti_CallbackDomain d)
{
	if (!is_ours(s))
		return behind->cuptiEnableDomain(on, s, d);
	CUptiResult r = d == CUPTI_CB_DOMAIN_RESOURCE ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_COMPATIBLE;
	for (CUpti_CallbackId id = 1; r == CUPTI_SUCCESS && id < CUPTI_CBID_RESOURCE_SIZE; id++)
		r = enable_callback(on, s, d, id);
	return r;
}

static CUptiResult CUPTIAPI enable_all_domains(uint32_t on, CUpti_SubscriberHandle s)
{
	return is_ours(s) ? CUPTI_ERROR_NOT_COMPATIBLE : behind->cuptiEnableAllDomains(on, s);
}

static CUptiResult CUPTIAPI get_callback_state(uint32_t *on, CUpti_SubscriberHandle s,
					       CUpti_CallbackDomain d, CUpti_CallbackId id)
{
	if (!is_ours(s))
		return behind->cuptiGetCallbackState(on, s, d, id);
	if (!on)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*on = d == CUPTI_CB_DOMAIN_RESOURCE && id < MAX_RESOURCES &&
	      (atomic_load_explicit(&theirs.resources, memory_order_relaxed) >> id & 1u);
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI register_callbacks(CUpti_BuffersCallbackRequestFunc r,
					       CUpti_BuffersCallbackCompleteFunc c)
{
	sigset_t old;
	if (is_past())
		return behind->cuptiActivityRegisterCallbacks(r, c);
	if (!r || !c)
		return CUPTI_ERROR_INVALID_PARAMETER;
	bool is_guarded = begin(&old);
	atomic_store_explicit(&theirs.request, r, memory_order_release);
	atomic_store_explicit(&theirs.complete, c, memory_order_release);
	if (is_guarded)
		window.is_refused = false;
	end(is_guarded, &old);
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI register_clock(CUpti_TimestampCallbackFunc f)
{
	if (!f)
		return CUPTI_ERROR_INVALID_PARAMETER;
	atomic_store_explicit(&theirs.clock, f, memory_order_release);
	return is_past() || nv_yield_is_away() ? behind->cuptiActivityRegisterTimestampCallback(f)
					       : CUPTI_SUCCESS;
}

/*
 * Whether threads have buffers of their own is set in windows alone. In a buffer that threads
 * share, a long kernel holds back the records of all, ours too (doc/notes/cupti-facts.md).
 */
static CUptiResult CUPTIAPI set_attribute(CUpti_ActivityAttribute a, size_t *bytes, void *value)
{
	sigset_t old;
	if (is_past() || a != CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER || !bytes || !value ||
	    *bytes != sizeof(uint8_t))
		return behind->cuptiActivitySetAttribute(a, bytes, value);
	bool is_guarded = begin(&old);
	CUptiResult r = CUPTI_ERROR_UNKNOWN;
	if (is_guarded) {
		window.has_sharing = true;
		memcpy(&window.has_own_buffers, value, sizeof window.has_own_buffers);
		r = nv_yield_is_away() ? behind->cuptiActivitySetAttribute(a, bytes, value)
				       : CUPTI_SUCCESS;
	}
	end(is_guarded, &old);
	return r;
}

static CUptiResult ask_cupti(CUpti_ActivityKind k, bool on)
{
	return on ? behind->cuptiActivityEnable(k) : behind->cuptiActivityDisable(k);
}

/* Under the guard, in a window. Launches are held, or the program does as it would without us. */
static CUptiResult switch_kind(CUpti_ActivityKind k, bool on)
{
	bool is_held = nv_pc_gate_close(nv.lib.now_ns() + HOLD_NS);
	CUptiResult r = ask_cupti(k, on);
	if (is_held)
		nv_pc_gate_open();
	if (r == CUPTI_SUCCESS && (unsigned)k < CUPTI_ACTIVITY_KIND_COUNT && window.kind[k] != on) {
		window.kind[k] = on;
		window.n_kinds += on ? 1u : -1u;
		window.idle_ns = nv.lib.now_ns();
	}
	return r;
}

static CUptiResult ask_for_kind(CUpti_ActivityKind k, bool on)
{
	sigset_t old;
	int saved = errno;
	if (is_past())
		return ask_cupti(k, on);
	bool is_guarded = begin(&old);
	CUptiResult r = on           ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
			: is_guarded ? CUPTI_SUCCESS
				     : CUPTI_ERROR_UNKNOWN;
	if (is_guarded && (nv_yield_is_away() || (on && go_away()))) {
		r = switch_kind(k, on);
		come_back(); /* after the last kind, or if the first one was refused */
	}
	end(is_guarded, &old);
	errno = saved;
	return r;
}

static CUptiResult CUPTIAPI enable(CUpti_ActivityKind k)
{
	return ask_for_kind(k, true);
}

static CUptiResult CUPTIAPI disable(CUpti_ActivityKind k)
{
	return ask_for_kind(k, false);
}

/* Outside of windows CUPTI has only our records. */
static CUptiResult CUPTIAPI flush_all(uint32_t flag)
{
	sigset_t old;
	int saved = errno;
	if (is_past() || nv_yield_is_away()) {
		CUptiResult r = behind->cuptiActivityFlushAll(flag);
		if (!is_past()) {
			bool is_guarded = begin(&old);
			if (is_guarded)
				come_back();
			end(is_guarded, &old);
		}
		errno = saved;
		return r;
	}
	return CUPTI_SUCCESS;
}

/* Only for the program: it has neither kinds nor a subscription any more. */
static CUptiResult CUPTIAPI finalize(void)
{
	if (is_past())
		return behind->cuptiFinalize();
	for (unsigned k = 0; k < CUPTI_ACTIVITY_KIND_COUNT; k++)
		if (window.kind[k])
			disable((CUpti_ActivityKind)k);
	flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	return unsubscribe((CUpti_SubscriberHandle)(void *)&handle);
}

static const struct cupti_table table = {
	.cuptiSubscribe = subscribe,
	.cuptiSubscribe_v2 = subscribe_v2,
	.cuptiUnsubscribe = unsubscribe,
	.cuptiFinalize = finalize,
	.cuptiEnableCallback = enable_callback,
	.cuptiEnableDomain = enable_domain,
	.cuptiEnableAllDomains = enable_all_domains,
	.cuptiGetCallbackState = get_callback_state,
	.cuptiActivityRegisterCallbacks = register_callbacks,
	.cuptiActivityRegisterTimestampCallback = register_clock,
	.cuptiActivitySetAttribute = set_attribute,
	.cuptiActivityEnable = enable,
	.cuptiActivityDisable = disable,
	.cuptiActivityFlushAll = flush_all,
};

void nv_yield_start(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, CUPTI_FRONT_SYMBOL);
	cupti_front_fn *find = (cupti_front_fn *)(uintptr_t)symbol;
	struct cupti_front *front = find ? find() : NULL;
	behind = front ? front->behind() : NULL;
	if (behind)
		atomic_store_explicit(&front->client, &table, memory_order_release);
	else
		nv_note("cannot stand in front of CUPTI; profilers of the program get no records",
			"", "");
}
