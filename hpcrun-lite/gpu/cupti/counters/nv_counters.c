/* SPDX-License-Identifier: BSD-3-Clause */
/* See nv_counters.h. Tests: tests/unit/cupti/test_counters.c, tests/cli/gpu/counters.sh. */
#include "hpcrun-lite/gpu/cupti/counters/nv_counters.h"

#include "common/safe/text.h"
#include "hpcrun-lite/gpu/cupti/counters/nv_counter_replay.h"
#include "hpcrun-lite/gpu/cupti/counters/nv_counter_session.h"
#include "hpcrun-lite/gpu/cupti/nv_shared.h"

#include <signal.h>
#include <string.h>

#define MAX_SESSIONS 64u
/* Longest wait for another thread's launch; its kernel may wait for one of ours. */
#define MOST_WAIT_NS UINT64_C(2000000000)
#define NOTHING "; no kernel is counted"

static struct {
	_Atomic bool is_on;
	struct nv_profiler api;
	struct nv_counter_list list;
	/* Held during each launch and while a session is used. Take it before the guard. */
	pthread_mutex_t lock;
	struct nv_counter_session session[MAX_SESSIONS];
	unsigned n_sessions;
	/* session of the launch that is counted now; NULL: none */
	struct nv_counter_session *current;
	uint64_t current_id;
	uint64_t replayed_ns; /* duration of the last replayed kernel */
	bool is_initialized, has_said_absent, has_said_refused, has_said_lost;
} counters;

/* Number of nested driver calls of this thread. Only the outermost one counts. */
static __thread unsigned depth __attribute__((tls_model("initial-exec")));
static __thread bool is_holding __attribute__((tls_model("initial-exec")));

bool nv_counters_are_on(void)
{
	return atomic_load_explicit(&counters.is_on, memory_order_relaxed);
}

/* ---- CUPTI may wait, and may make threads, which inherit signals and that they are ours ---- */

struct inside {
	sigset_t signals;
	bool has_guard;
};

/* has_guard: the caller holds the guard. */
static struct inside begin_inside(bool has_guard)
{
	struct inside i = {.has_guard = has_guard};
	sigset_t all;
	nv.host->suspend(nv.host);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &i.signals);
	if (!has_guard)
		nv_guard_take(0);
	return i;
}

static void end_inside(const struct inside *i)
{
	if (!i->has_guard)
		nv_guard_give();
	pthread_sigmask(SIG_SETMASK, &i->signals, NULL);
	nv.host->resume(nv.host);
}

/* ---- sessions ---- */

static void say_refused(const struct nv_counter_session *s, const struct nv_counter_refusal *why,
			const char *consequence)
{
	char line[256];
	struct text t = text_in(line, sizeof line);
	if (counters.has_said_refused)
		return;
	counters.has_said_refused = true;
	if (why->what) {
		text_put(&t, why->what);
		if (why->r != CUPTI_SUCCESS) {
			text_put(&t, ": ");
			text_put(&t, nv_result_name(why->r));
		}
		if (why->r == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
			text_put(&t, " (only root may read counters, unless the driver is loaded "
				     "with NVreg_RestrictProfilingToAdminUsers=0)");
	} else if (s->n_passes < 2) {
		text_put(&t, "CUPTI counts ");
		text_put(&t, s->of_instructions);
		text_put(&t, " only in kernels that it replays; add replay-kernels");
	} else {
		text_put(&t, "the counters need ");
		text_put_u64(&t, s->n_passes);
		text_put(&t, " passes; ask for fewer, or add replay-kernels to run each kernel "
			     "so often");
	}
	nv_note("", line, consequence);
}

static void say_absent(const char *name)
{
	if (!counters.has_said_absent)
		nv_note("this GPU has no counter ", name, "; it is left out");
	counters.has_said_absent = true;
}

static void define(struct nv_counter_session *s)
{
	for (unsigned i = 0; i < s->n_counters; i++)
		for (unsigned k = 0; k < counters.list.n; k++) {
			const struct nv_counter *c = &counters.list.at[k];
			if (s->names[i] == c->name)
				s->ids[i] =
					nv.host->counter(nv.host, c->name, c->description, c->unit);
		}
}

/* Call when the driver is ready: inside cuInit, where our back end starts, CUPTI refuses it. */
static bool initialize(struct nv_counter_refusal *why)
{
	CUpti_Profiler_Initialize_Params p = {.structSize =
						      CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
	if (counters.is_initialized)
		return true;
	CUptiResult r = counters.api.cuptiProfilerInitialize(&p);
	counters.is_initialized = r == CUPTI_SUCCESS;
	if (r != CUPTI_SUCCESS)
		*why = (struct nv_counter_refusal){"CUPTI refuses its profiler", r};
	return r == CUPTI_SUCCESS;
}

static void begin(struct nv_counter_session *s)
{
	uint32_t device = 0;
	const char *absent = NULL;
	struct nv_counter_refusal why = {"the context has no device", CUPTI_SUCCESS};
	struct inside i = begin_inside(false);
	bool good = initialize(&why) &&
		    nv.lib.cuptiGetDeviceId(s->context, &device) == CUPTI_SUCCESS &&
		    nv_counter_session_begin(s, &counters.list, device, nv.options.replays_kernels,
					     &absent, &why);
	end_inside(&i);
	if (absent)
		say_absent(absent);
	if (good)
		define(s);
	else
		say_refused(s, &why, NOTHING);
}

static struct nv_counter_session *find(CUcontext context)
{
	for (unsigned i = 0; i < counters.n_sessions; i++)
		if (counters.session[i].context == context)
			return &counters.session[i];
	return NULL;
}

/* Reuses the sessions of contexts that are gone. NULL: there are too many contexts. */
static struct nv_counter_session *find_or_begin(CUcontext context)
{
	struct nv_counter_session *s = find(context);
	if (s)
		return s;
	s = find(NULL);
	if (!s && counters.n_sessions < MAX_SESSIONS)
		s = &counters.session[counters.n_sessions++];
	if (!s)
		return NULL;
	*s = (struct nv_counter_session){.context = context, .api = &counters.api};
	begin(s);
	return s;
}

/*
 * Most counters of most kernels are 0. So the first launch gets all values, which tell reports what
 * was counted. Later launches get the values that are not 0 and always the first counter, which
 * tells reports that they were counted.
 */
static void deliver(const struct nv_counter_session *s, const struct nv_counted *c)
{
	for (unsigned k = 0; k < s->n_counters; k++)
		if (c->values[k] >= 0.5 || c->is_first || k == 0)
			nv.host->value(nv.host, c->id, 0, s->ids[k],
				       (uint64_t)(c->values[k] + 0.5));
	if (nv_counter_session_replays(s))
		counters.replayed_ns = c->ns;
}

static void say_taken(const struct nv_counter_session *s, bool good,
		      const struct nv_counter_refusal *why)
{
	if (!good)
		say_refused(s, why, "; no further kernel is counted");
	else if (s->n_lost && !counters.has_said_lost)
		nv_note("CUPTI has not counted some of the kernels", "", "");
	counters.has_said_lost = counters.has_said_lost || s->n_lost;
}

/* Takes out what was counted. If `again`, counting goes on. */
static void take(struct nv_counter_session *s, bool again, bool has_guard)
{
	struct nv_counter_refusal why;
	struct inside i = begin_inside(has_guard);
	bool good = nv_counter_session_take(s, deliver, &why);
	if (good && again && !nv_counter_session_start(s, &why)) {
		nv_counter_session_end(s);
		good = false;
	}
	end_inside(&i);
	say_taken(s, good, &why);
}

bool nv_counters_take_record(uint64_t id, const struct gpu_op *op)
{
	return nv_counters_are_on() && nv.options.replays_kernels &&
	       nv_counter_replay_take_record(id, op);
}

bool nv_counters_is_own(const char *kernel)
{
	return nv_counters_are_on() && strcmp(kernel, "WaitNs") == 0;
}

/* ---- launches ---- */

static void start(struct nv_counter_session *s)
{
	struct nv_counter_refusal why;
	struct inside i = begin_inside(false);
	bool good = nv_counter_session_start(s, &why);
	if (!good)
		nv_counter_session_end(s);
	end_inside(&i);
	say_taken(s, good, &why);
}

/*
 * Graphs are not counted, because we could not tell which of their kernels the values belong to. If
 * CUPTI replays kernels, it must be stopped around graphs.
 */
static bool is_counted(struct nv_counter_session *s, bool is_graph)
{
	bool is_off = is_graph || nv.host->is_off(nv.host);
	if (!s->object)
		return false;
	if (is_off && s->is_on && nv_counter_session_replays(s))
		take(s, false, false);
	if (!is_off && s->n_launches == NV_COUNTER_RANGES)
		take(s, true, false);
	if (!is_off && s->object && !s->is_on)
		start(s);
	return !is_off && s->is_on;
}

/* Waiting for the device would break the capture of a stream. */
static bool is_capturing(void)
{
	return nv_trace_is_capturing();
}

void nv_counters_enter(CUcontext context, uint64_t id, bool is_graph)
{
	if (depth++)
		return;
	is_holding = nv.lib.lock(&counters.lock, nv.lib.now_ns() + MOST_WAIT_NS);
	/* counting ended while we waited, so nobody will call leave */
	if (is_holding && !nv_counters_are_on()) {
		is_holding = false;
		pthread_mutex_unlock(&counters.lock);
	}
	if (!is_holding || nv_trace_is_over() || is_capturing())
		return;
	struct nv_counter_session *s = is_graph ? find(context) : find_or_begin(context);
	if (!s || !is_counted(s, is_graph))
		return;
	counters.current = s;
	counters.current_id = id;
	if (nv_counter_session_replays(s))
		nv_counter_replay_begin(id);
	nv_counter_session_enter(s);
}

void nv_counters_leave(bool ran)
{
	if (!depth || --depth || !is_holding)
		return;
	struct nv_counter_session *s = counters.current;
	counters.current = NULL;
	if (s) {
		const uint64_t id = counters.current_id;
		nv_counter_session_leave(s, ran ? id : 0);
		if (nv_counter_session_replays(s)) {
			counters.replayed_ns = 0;
			take(s, true, false);
			nv_counter_replay_end(counters.replayed_ns);
		}
	}
	is_holding = false;
	pthread_mutex_unlock(&counters.lock);
}

void nv_counters_thread_ends(void)
{
	if (depth && is_holding && nv_is_here()) {
		if (counters.current)
			nv_counter_session_leave(counters.current, 0);
		counters.current = NULL;
		pthread_mutex_unlock(&counters.lock);
	}
	depth = 0;
	is_holding = false;
}

static void end_session(struct nv_counter_session *s)
{
	if (s->is_on)
		take(s, false, false);
	struct inside i = begin_inside(false);
	nv_counter_session_end(s);
	end_inside(&i);
	s->context = NULL;
}

void nv_counters_context_gone(CUcontext context)
{
	if (!nv_counters_are_on() || !nv.lib.lock(&counters.lock, nv.lib.now_ns() + MOST_WAIT_NS))
		return;
	struct nv_counter_session *s = find(context);
	if (s)
		end_session(s);
	pthread_mutex_unlock(&counters.lock);
}

bool nv_counters_give_way(uint64_t until_ns)
{
	if (!nv_counters_are_on())
		return true;
	if (!nv.lib.lock(&counters.lock, until_ns))
		return false;
	for (unsigned i = 0; i < counters.n_sessions; i++)
		if (counters.session[i].context)
			end_session(&counters.session[i]);
	atomic_store_explicit(&counters.is_on, false, memory_order_relaxed);
	pthread_mutex_unlock(&counters.lock);
	return true;
}

/* ---- begin and end ---- */

void nv_counters_start(void)
{
	const char *words = nv.options.counters, *wrong, *missing;
	size_t n_wrong;
	if (!nv.options.n_counter_bytes || nv_library_stand_in)
		return;
	pthread_mutex_init(&counters.lock, NULL);
	nv_counter_replay_prepare();
	nv_counter_list_read(words, nv.options.n_counter_bytes, &counters.list, &wrong, &n_wrong);
	missing = nv_profiler_open(&counters.api, nv.lib.path);
	if (missing) {
		nv_note("CUPTI has no function ", missing,
			", as before 12.6.2" NOTHING);
		return;
	}
	atomic_store_explicit(&counters.is_on, true, memory_order_relaxed);
}

void nv_counters_end(uint64_t until_ns)
{
	if (!nv_counters_are_on() || !nv.lib.lock(&counters.lock, until_ns))
		return;
	for (unsigned i = 0; i < counters.n_sessions; i++)
		if (counters.session[i].is_on)
			take(&counters.session[i], false, true);
	pthread_mutex_unlock(&counters.lock);
}
