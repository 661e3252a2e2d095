/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of the device for a profiler of the program (nv_client.c). A window begins when the
 * program enables its first kind of records. It ends when the last kind is disabled and all of the
 * program's buffers are back. In a window our kinds are off, and CUPTI uses the program's buffers
 * and clock. We count the launches. A session of a profiler that samples or counts is also a
 * window, because our records would change its results.
 *
 * We cannot really hand over CUPTI. If we unsubscribe or switch kinds while a thread is in a call,
 * CUPTI loses all later records of that thread (doc/notes/cupti-facts.md K, O). So we hold launches
 * for each switch, including switches that the program asks for.
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
/*
 * If no kind has been on for this time, we ask CUPTI for buffers that the program does not ask for.
 */
#define FORGOTTEN_NS UINT64_C(1000000000)
#define TEXT_BYTES 256u

/* Under the guard. */
static struct {
	bool kind[CUPTI_ACTIVITY_KIND_COUNT];
	unsigned n_kinds, n_sessions;
	bool is_refused;  /* until the next registration of buffers */
	bool has_sharing; /* the program has set the attribute for buffers per thread */
	uint8_t has_own_buffers;
	uint64_t since_ns, idle_ns, total_ns;
	uint32_t n_windows, n_told;
} window;

static struct {
	_Atomic(CUpti_BuffersCallbackRequestFunc) request;
	_Atomic(CUpti_BuffersCallbackCompleteFunc) complete;
	_Atomic(CUpti_TimestampCallbackFunc) clock;
	_Atomic uint32_t n_buffers; /* the program's buffers that CUPTI holds */
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

/* CUPTI's usual clock. */
static uint64_t CUPTIAPI real_time(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* ---- stepping aside ---- */

/* CUPTI may create threads here. They inherit blocked signals, and that they are not measured. */
bool nv_yield_begin(sigset_t *old)
{
	sigset_t all;
	nv.host->suspend(nv.host);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, old);
	return nv_guard_take(nv.lib.now_ns() + HOLD_NS);
}

void nv_yield_end(bool is_guarded, const sigset_t *old)
{
	if (is_guarded)
		nv_guard_give();
	pthread_sigmask(SIG_SETMASK, old, NULL);
	nv.host->resume(nv.host);
}

static bool go_away(void)
{
	/* sampling has ended at the program's first call, unless kernels ran too long */
	if (window.is_refused || !nv_pc_leave(nv.lib.now_ns() + HOLD_NS) ||
	    !nv_pc_gate_close(nv.lib.now_ns() + HOLD_NS)) {
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
		nv_client_behind->cuptiActivitySetAttribute(
			CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &bytes,
			&window.has_own_buffers);
	atomic_store_explicit(&nv_trace.is_away, true, memory_order_release);
	window.since_ns = nv.lib.now_ns();
	window.n_windows++;
	return true;
}

/* Under the guard: ends the window if the program has got everything that it asked for. */
static void come_back(void)
{
	size_t n_dropped = 0, bytes = sizeof(uint8_t);
	uint8_t own_buffers = 1;
	if (!nv_yield_is_away() || window.n_kinds || window.n_sessions ||
	    atomic_load_explicit(&theirs.n_buffers, memory_order_acquire) ||
	    !nv_pc_gate_close(nv.lib.now_ns() + HOLD_NS))
		return;
	/* reset the count of dropped records: these were the program's */
	nv.lib.cuptiActivityGetNumDroppedRecords(NULL, 0, &n_dropped);
	if (window.has_sharing)
		nv_client_behind->cuptiActivitySetAttribute(
			CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &bytes, &own_buffers);
	nv_records_set_clock();
	atomic_store_explicit(&nv_trace.is_away, false, memory_order_release);
	nv_switch_back();
	nv_pc_gate_open();
	window.total_ns += nv.lib.now_ns() - window.since_ns;
	nv_switch_work();
}

void nv_yield_work(void)
{
	if (!nv_yield_is_away() || window.n_kinds || window.n_sessions)
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

static CUptiResult CUPTIAPI register_callbacks(CUpti_BuffersCallbackRequestFunc r,
					       CUpti_BuffersCallbackCompleteFunc c)
{
	sigset_t old;
	if (!nv_client_comes())
		return nv_client_behind->cuptiActivityRegisterCallbacks(r, c);
	if (!r || !c)
		return CUPTI_ERROR_INVALID_PARAMETER;
	bool is_guarded = nv_yield_begin(&old);
	atomic_store_explicit(&theirs.request, r, memory_order_release);
	atomic_store_explicit(&theirs.complete, c, memory_order_release);
	if (is_guarded)
		window.is_refused = false;
	nv_yield_end(is_guarded, &old);
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI register_clock(CUpti_TimestampCallbackFunc f)
{
	if (!f)
		return CUPTI_ERROR_INVALID_PARAMETER;
	bool is_kept = nv_client_comes() && !nv_yield_is_away();
	atomic_store_explicit(&theirs.clock, f, memory_order_release);
	return is_kept ? CUPTI_SUCCESS
		       : nv_client_behind->cuptiActivityRegisterTimestampCallback(f);
}

/*
 * The attribute for buffers per thread is set only in windows. If threads share a buffer, a long
 * kernel delays the records of all threads, also ours (doc/notes/cupti-facts.md).
 */
static CUptiResult CUPTIAPI set_attribute(CUpti_ActivityAttribute a, size_t *bytes, void *value)
{
	sigset_t old;
	if (!nv_client_comes() || a != CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER || !bytes ||
	    !value || *bytes != sizeof(uint8_t))
		return nv_client_behind->cuptiActivitySetAttribute(a, bytes, value);
	bool is_guarded = nv_yield_begin(&old);
	CUptiResult r = CUPTI_ERROR_UNKNOWN;
	if (is_guarded) {
		window.has_sharing = true;
		memcpy(&window.has_own_buffers, value, sizeof window.has_own_buffers);
		r = CUPTI_SUCCESS;
		if (nv_yield_is_away())
			r = nv_client_behind->cuptiActivitySetAttribute(a, bytes, value);
	}
	nv_yield_end(is_guarded, &old);
	return r;
}

/* A request of the program: to begin or end a kind of records or a session. */
struct request {
	enum { KIND, KIND_IN_CONTEXT, KIND_AND_DUMP, SESSION } what;
	bool on;
	CUpti_ActivityKind kind;
	CUcontext context;
	CUptiResult (*session)(void *params); /* CUPTI's */
	void *params;
};

static CUptiResult ask_cupti(const struct request *q)
{
	const struct cupti_table *t = nv_client_behind;
	switch (q->what) {
	case KIND:
		return q->on ? t->cuptiActivityEnable(q->kind) : t->cuptiActivityDisable(q->kind);
	case KIND_IN_CONTEXT:
		return q->on ? t->cuptiActivityEnableContext(q->context, q->kind)
			     : t->cuptiActivityDisableContext(q->context, q->kind);
	case KIND_AND_DUMP:
		return t->cuptiActivityEnableAndDump(q->kind);
	default:
		return q->session ? q->session(q->params) : CUPTI_ERROR_NOT_SUPPORTED;
	}
}

/* Counts the kinds and sessions that are on. */
static void note_request(const struct request *q)
{
	if (q->what == SESSION) {
		window.n_sessions += q->on ? 1u : window.n_sessions ? -1u : 0;
	} else if ((unsigned)q->kind < CUPTI_ACTIVITY_KIND_COUNT &&
		   window.kind[q->kind] != q->on) {
		window.kind[q->kind] = q->on;
		window.n_kinds += q->on ? 1u : -1u;
	}
	window.idle_ns = nv.lib.now_ns();
}

/*
 * Under the guard, in a window: holds launches while kinds are switched. If that fails, the switch
 * happens as it would without us.
 */
static CUptiResult do_request(const struct request *q)
{
	bool is_held = q->what != SESSION && nv_pc_gate_close(nv.lib.now_ns() + HOLD_NS);
	CUptiResult r = ask_cupti(q);
	if (is_held)
		nv_pc_gate_open();
	if (r == CUPTI_SUCCESS)
		note_request(q);
	return r;
}

static CUptiResult serve(const struct request *q)
{
	sigset_t old;
	int saved = errno;
	if (!nv_client_comes())
		return ask_cupti(q);
	bool is_guarded = nv_yield_begin(&old);
	CUptiResult r = q->on        ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
			: is_guarded ? CUPTI_SUCCESS
				     : CUPTI_ERROR_UNKNOWN;
	if (is_guarded && (nv_yield_is_away() || (q->on && go_away()))) {
		r = do_request(q);
		/* ends the window after the last one, or if the first one was refused */
		come_back();
	}
	nv_yield_end(is_guarded, &old);
	errno = saved;
	return r;
}

static CUptiResult CUPTIAPI enable(CUpti_ActivityKind k)
{
	return serve(&(struct request){.what = KIND, .on = true, .kind = k});
}

static CUptiResult CUPTIAPI disable(CUpti_ActivityKind k)
{
	return serve(&(struct request){.what = KIND, .kind = k});
}

static CUptiResult CUPTIAPI enable_and_dump(CUpti_ActivityKind k)
{
	return serve(&(struct request){.what = KIND_AND_DUMP, .on = true, .kind = k});
}

static CUptiResult CUPTIAPI enable_context(CUcontext c, CUpti_ActivityKind k)
{
	return serve(&(struct request){
		.what = KIND_IN_CONTEXT, .on = true, .kind = k, .context = c});
}

static CUptiResult CUPTIAPI disable_context(CUcontext c, CUpti_ActivityKind k)
{
	return serve(&(struct request){.what = KIND_IN_CONTEXT, .kind = k, .context = c});
}

/* Whether a function begins or ends a session follows from its name. */
#define IN_FRONT(name, parameters, arguments) \
	static CUptiResult ask_##name(void *params) \
	{ \
		return nv_client_behind->name(params); \
	} \
	static CUptiResult CUPTIAPI do_##name parameters \
	{ \
		return serve(&(struct request){ \
			.what = SESSION, \
			.on = !strstr(#name, "Disable") && !strstr(#name, "EndSession"), \
			.session = nv_client_behind->name ? ask_##name : NULL, \
			.params = p}); \
	}
CUPTI_FRONT_SESSIONS(IN_FRONT)

/* Does nothing outside of windows, where CUPTI has only our records. */
static CUptiResult CUPTIAPI flush_all(uint32_t flag)
{
	sigset_t old;
	int saved = errno;
	if (!nv_client_comes())
		return nv_client_behind->cuptiActivityFlushAll(flag);
	if (!nv_yield_is_away())
		return CUPTI_SUCCESS;
	CUptiResult r = nv_client_behind->cuptiActivityFlushAll(flag);
	bool is_guarded = nv_yield_begin(&old);
	if (is_guarded)
		come_back();
	nv_yield_end(is_guarded, &old);
	errno = saved;
	return r;
}

static CUptiResult CUPTIAPI get_dropped(CUcontext c, uint32_t stream, size_t *n)
{
	if (!nv_client_comes() || nv_yield_is_away() || !n)
		return nv_client_behind->cuptiActivityGetNumDroppedRecords(c, stream, n);
	*n = 0;
	return CUPTI_SUCCESS;
}

void nv_yield_finalize(void)
{
	for (unsigned k = 0; k < CUPTI_ACTIVITY_KIND_COUNT; k++)
		if (window.kind[k])
			disable((CUpti_ActivityKind)k);
	flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

void nv_yield_fill(struct cupti_table *t)
{
	t->cuptiActivityRegisterCallbacks = register_callbacks;
	t->cuptiActivityRegisterTimestampCallback = register_clock;
	t->cuptiActivitySetAttribute = set_attribute;
	t->cuptiActivityEnable = enable;
	t->cuptiActivityDisable = disable;
	t->cuptiActivityEnableAndDump = enable_and_dump;
	t->cuptiActivityEnableContext = enable_context;
	t->cuptiActivityDisableContext = disable_context;
	t->cuptiActivityGetNumDroppedRecords = get_dropped;
	t->cuptiActivityFlushAll = flush_all;
#define FILL(name, parameters, arguments) t->name = do_##name;
	CUPTI_FRONT_SESSIONS(FILL)
}
