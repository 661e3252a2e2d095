/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC sampling during the life of a process: contexts that are made and destroyed, taking samples
 * out, overflows, the end. See nv_pc.h. Tests: tests/unit/cupti/test_cupti_pc.c,
 * tests/cli/gpu/cupti_pc.sh.
 */
#include "hpcrun-lite/gpu/cupti/pc/nv_pc_internal.h"

#include "common/safe/text.h"

#include <signal.h>

/* a thread that makes a context waits this long at most */
#define BEGIN_WAIT_NS UINT64_C(1000000000)
/* Longest wait of a thread that destroys a context; the first GetData takes 0.25 s. */
#define GONE_WAIT_NS UINT64_C(3000000000)
/* longest wait for other threads to leave their launches */
#define CALLS_WAIT_NS UINT64_C(200000000)
/* between two attempts to restart sampling; doubled each time */
#define FIRST_PAUSE_NS UINT64_C(100000000)
#define SOON_NS UINT64_C(1000000000)
#define LAST_PAUSE_NS UINT64_C(10000000000)

/*
 * Longest time that launches wait for a kernel to end, so that samples can be taken out between
 * kernels.
 */
#define SERIALIZED_HOLD_NS UINT64_C(20000000)

struct nv_pc_state nv_pc;
static struct nv_pc_session sessions[NV_PC_MAX_SESSIONS];

/*
 * By session, for threads that do not get the guard: its context (NULL: none), the host's id of the
 * context, and whether the context has been destroyed meanwhile.
 */
static struct {
	_Atomic(CUcontext) context;
	_Atomic uint32_t context_id;
	_Atomic bool is_gone;
} marks[NV_PC_MAX_SESSIONS];

static bool is_on(void)
{
	return nv.options.pc != NV_PC_OFF && !nv_trace_is_over() &&
	       !atomic_load_explicit(&nv_pc.has_left, memory_order_relaxed);
}

/* ---- contexts ---- */

/*
 * Writes a range without samples since the last one. The first gap after an overflow reports the
 * overflow. `flags` are added to the range's.
 */
static void close_gap(struct nv_pc_session *s, uint32_t flags)
{
	nv_pc_close_range(
		s, MSR_GPU_RANGE_GAP | flags | (s->is_full ? MSR_GPU_RANGE_BUFFER_FULL : 0), true);
	s->is_full = false;
}

static void close_session(struct nv_pc_session *s)
{
	atomic_store_explicit(&marks[s - sessions].context, NULL, memory_order_release);
	nv_pc_close(s);
}

/*
 * Returns true if the context was destroyed while another thread had the guard. CUPTI must no
 * longer be called for it.
 */
static bool was_destroyed(struct nv_pc_session *s)
{
	if (s->state == NV_PC_FREE ||
	    !atomic_load_explicit(&marks[s - sessions].is_gone, memory_order_acquire))
		return false;
	s->state = NV_PC_DEAD;
	close_gap(s, MSR_GPU_RANGE_CUT);
	nv_note("PC samples of the last 0.1 s of a context are lost: it was destroyed while CUPTI "
		"did not answer",
		"", "");
	close_session(s);
	return true;
}

static struct nv_pc_session *session_of_device(uint32_t device)
{
	for (struct nv_pc_session *s = sessions; s < sessions + NV_PC_MAX_SESSIONS; s++)
		if (s->state != NV_PC_FREE && s->device == device)
			return s;
	return NULL;
}

static struct nv_pc_session *free_session(void)
{
	for (struct nv_pc_session *s = sessions; s < sessions + NV_PC_MAX_SESSIONS; s++)
		if (s->state == NV_PC_FREE)
			return s;
	return NULL;
}

/* The caller holds the guard. */
static void begin(CUcontext context, uint32_t device)
{
	static bool is_said;
	for (struct nv_pc_session *each = sessions; each < sessions + NV_PC_MAX_SESSIONS; each++)
		was_destroyed(each); /* makes room */
	struct nv_pc_session *s = session_of_device(device) ? NULL : free_session();
	nv_pc.has_begun = nv_pc.has_begun || nv_trace_off() == NV_ON;
	if (nv_trace_off() == NV_OFF) {
		nv_note("a context that was created while measurement was stopped is not "
			"PC-sampled; its operations are still traced",
			"", "");
	} else if (!s) {
		if (!is_said)
			nv_note("only the first context of a GPU is PC-sampled, because CUPTI "
				"supports one at a time; operations of the others are still traced",
				"", "");
		is_said = true;
	} else if (nv_pc_gate_close(nv.lib.now_ns() + BEGIN_WAIT_NS)) {
		if (!nv_pc_open(s, context, device))
			s->state = NV_PC_FREE;
		else if (nv.options.pc == NV_PC_BURSTS)
			nv_pc_burst_begin();
		atomic_store_explicit(&marks[s - sessions].is_gone, false, memory_order_relaxed);
		atomic_store_explicit(&marks[s - sessions].context_id, s->context_id,
				      memory_order_relaxed);
		/* Release: a thread that sees the context sees the other marks. */
		atomic_store_explicit(&marks[s - sessions].context,
				      s->state == NV_PC_FREE ? NULL : context,
				      memory_order_release);
		nv_pc_gate_open();
	} else {
		nv_note("a context that was created while launches to another one did not end is "
			"not PC-sampled; its operations are still traced",
			"", "");
	}
}

/* CUPTI creates threads here. They inherit the blocked signals and are not measured. */
void nv_pc_context_made(CUcontext context)
{
	uint32_t device;
	sigset_t all, old;
	if (!is_on() || nv.lib.cuptiGetDeviceId(context, &device) != CUPTI_SUCCESS)
		return;
	nv.host->suspend(nv.host);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if (nv_guard_take(nv.lib.now_ns() + BEGIN_WAIT_NS)) {
		begin(context, device);
		nv_guard_give();
	} else {
		nv_note("a context that was created while CUPTI did not answer is not PC-sampled; "
			"its operations are still traced",
			"", "");
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	nv.host->resume(nv.host);
}

/*
 * Ends a session that is not sampling. There is no gap if it was paused and no kernel has run
 * since.
 */
static void end_without(struct nv_pc_session *s)
{
	if (s->state != NV_PC_PAUSED || nv_trace_kernel_ns(s->device) != s->paused_kernel_ns)
		close_gap(s, 0);
}

/*
 * Even without us, the device finishes its work before a context is destroyed. So Disable may wait.
 */
static void end_with_context(struct nv_pc_session *s)
{
	uint32_t cut = 0;
	bool was_on = s->state == NV_PC_ON || s->state == NV_PC_OVERFLOWED;
	if (was_on && nv_pc_gate_close(nv.lib.now_ns() + CALLS_WAIT_NS)) {
		nv_pc_disable(s);
		nv_pc_gate_open();
	} else if (was_on) {
		nv_note("PC samples of the last 0.1 s of a context are lost: launches to another "
			"one did not end",
			"", "");
		s->state = NV_PC_DEAD;
		cut = MSR_GPU_RANGE_CUT;
	}
	if (!was_on)
		end_without(s);
	else if (s->is_full || s->state == NV_PC_DEAD)
		close_gap(s, cut);
	nv_pc_burst_end(s);
	close_session(s);
}

void nv_pc_context_gone(CUcontext context)
{
	if (!is_on())
		return;
	if (!nv_guard_take(nv.lib.now_ns() + GONE_WAIT_NS)) {
		for (unsigned i = 0; i < NV_PC_MAX_SESSIONS; i++)
			if (atomic_load_explicit(&marks[i].context, memory_order_acquire) ==
			    context)
				atomic_store_explicit(&marks[i].is_gone, true,
						      memory_order_release);
		return;
	}
	for (struct nv_pc_session *s = sessions; s < sessions + NV_PC_MAX_SESSIONS; s++)
		if (s->state != NV_PC_FREE && s->context == context)
			end_with_context(s);
	nv_guard_give();
}

/* ---- every 100 ms ---- */

static void try_again_later(struct nv_pc_session *s)
{
	s->retry_pause_ns = !s->retry_pause_ns                  ? FIRST_PAUSE_NS
			    : s->retry_pause_ns < LAST_PAUSE_NS ? 2 * s->retry_pause_ns
								: LAST_PAUSE_NS;
	s->retry_ns = nv.lib.now_ns() + s->retry_pause_ns;
}

static void say_slower(const struct nv_pc_session *s)
{
	char line[32];
	struct text t = text_in(line, sizeof line);
	text_put_u64(&t, s->exponent);
	nv_note("PC samples came faster than CUPTI can process them, so some periods have none; "
		"from now on there is one every 2^",
		line, " cycles");
}

/* Doubles the period; multiplies it by eight if the last overflow was at most a second ago. */
static uint32_t longer_period(struct nv_pc_session *s)
{
	uint64_t now = nv.lib.now_ns();
	uint32_t longer =
		s->exponent + (s->last_overflow_ns && now - s->last_overflow_ns <= SOON_NS ? 3 : 1);
	s->last_overflow_ns = now;
	return longer < NV_MOST_EXPONENT ? longer : NV_MOST_EXPONENT;
}

/*
 * After an overflow, CUPTI samples again only after a Disable, which waits for kernels. So we wait
 * until the device is idle. The period is longer afterwards.
 */
static void bring_back(struct nv_pc_session *s)
{
	bool had_overflow = s->state == NV_PC_OVERFLOWED;
	if (nv.lib.now_ns() < s->retry_ns)
		return;
	if (!nv_pc_hold(s, nv.lib.now_ns() + NV_PC_HOLD_NS)) {
		try_again_later(s);
		return;
	}
	uint64_t began_ns = atomic_load_explicit(&s->range_begin_ns, memory_order_relaxed);
	if (had_overflow)
		nv_pc_disable(s);
	if (had_overflow)
		s->exponent = longer_period(s);
	bool good =
		s->state == NV_PC_PAUSED && nv_pc_come_back(s) && nv_pc_enable(s, s->is_serialized);
	nv_pc_gate_open();
	if (!good)
		return;
	atomic_store_explicit(&s->range_begin_ns, began_ns, memory_order_relaxed);
	close_gap(s, 0);
	if (had_overflow)
		say_slower(s);
	s->retry_pause_ns = 0;
}

static bool is_in_window(const struct nv_pc_session *s)
{
	return s->state == NV_PC_ON && s->is_serialized && nv.options.pc == NV_PC_BURSTS;
}

void nv_pc_prepare(void)
{
	if (!is_on() || nv_trace_off() == NV_OFF)
		return;
	for (struct nv_pc_session *s = sessions; s < sessions + NV_PC_MAX_SESSIONS; s++) {
		if (s->state != NV_PC_ON || !s->is_serialized || was_destroyed(s))
			continue;
		if (nv.options.pc == NV_PC_SERIALIZED)
			nv_pc_gate_close(nv.lib.now_ns() + SERIALIZED_HOLD_NS);
		else if (nv_pc_burst_is_over(s))
			nv_pc_gate_close(nv.lib.now_ns() + CALLS_WAIT_NS);
	}
}

/*
 * In serialized mode GetData waits for kernels. So we call it between kernels, or try again later.
 * In a window no samples are taken out.
 */
static void drain(struct nv_pc_session *s)
{
	if (!s->is_serialized) {
		nv_pc_drain(s);
	} else if (nv.options.pc == NV_PC_SERIALIZED &&
		   nv_pc_hold(s, nv.lib.now_ns() + SERIALIZED_HOLD_NS)) {
		nv_pc_drain(s);
		nv_pc_gate_open();
	}
}

void nv_pc_work(void)
{
	bool has_window = false;
	if (!is_on() || nv_trace_off() == NV_OFF)
		return;
	for (struct nv_pc_session *s = sessions; s < sessions + NV_PC_MAX_SESSIONS; s++) {
		if (was_destroyed(s))
			continue;
		if (s->state == NV_PC_ON)
			drain(s);
		if (s->state == NV_PC_OVERFLOWED || s->state == NV_PC_PAUSED)
			bring_back(s);
		else if (s->state == NV_PC_ON && nv.options.pc == NV_PC_BURSTS)
			nv_pc_burst(s);
		has_window = has_window || is_in_window(s);
	}
	if (!has_window)
		nv_pc_gate_open();
}

/* ---- measurement that is stopped and started ---- */

bool nv_pc_has_begun(void)
{
	return nv_pc.has_begun;
}

/*
 * Disables sampling when the device is idle. Returns false if it is not idle in time; samples that
 * CUPTI has delivered are then recorded all the same.
 */
static bool rest(struct nv_pc_session *s, uint64_t until_ns)
{
	bool was_full = s->state == NV_PC_OVERFLOWED;
	if (!nv_pc_hold(s, until_ns)) {
		if (nv_trace_off() == NV_ON && !was_full && !s->is_serialized)
			nv_pc_drain(s);
		return false;
	}
	nv_pc_disable(s);
	nv_pc_burst_rest(s);
	if (was_full)
		close_gap(s, 0);
	return true;
}

bool nv_pc_rest(uint64_t until_ns)
{
	for (struct nv_pc_session *s = sessions; s < sessions + NV_PC_MAX_SESSIONS; s++)
		if (!was_destroyed(s) && (s->state == NV_PC_ON || s->state == NV_PC_OVERFLOWED) &&
		    !rest(s, until_ns))
			return false;
	return nv_pc_gate_close(until_ns);
}

/*
 * If nothing runs, starts sampling anew. Otherwise drops the samples that CUPTI has delivered. A
 * disabled session continues as after an overflow.
 */
static void go_on(struct nv_pc_session *s, uint64_t until_ns)
{
	if (nv_pc_hold(s, until_ns)) {
		if (s->state == NV_PC_ON)
			nv_pc_disable(s);
		nv_pc_burst_rest(s);
		if (s->state == NV_PC_PAUSED)
			nv_pc_enable(s, nv.options.pc == NV_PC_SERIALIZED);
		nv_pc_gate_open();
	} else if (s->state == NV_PC_ON && !s->is_serialized) {
		nv_pc_drain(s);
	}
	s->begin_ns = nv.lib.now_ns();
	atomic_store_explicit(&s->range_begin_ns, s->begin_ns, memory_order_relaxed);
	s->begin_kernel_ns = nv_trace_kernel_ns(s->device);
	s->n_samples = s->n_outside = s->retry_ns = 0;
}

void nv_pc_go_on(uint64_t until_ns)
{
	char line[32];
	struct text t = text_in(line, sizeof line);
	uint32_t n = atomic_exchange_explicit(&nv_pc.n_unseen, 0, memory_order_relaxed);
	nv_pc.has_begun = true;
	if (!is_on())
		return;
	for (struct nv_pc_session *s = sessions; s < sessions + NV_PC_MAX_SESSIONS; s++)
		if (!was_destroyed(s) && (s->state == NV_PC_ON || s->state == NV_PC_PAUSED))
			go_on(s, until_ns);
	text_put_u64(&t, n);
	if (n)
		nv_note(line, n == 1 ? " module was" : " modules were",
			" loaded while measurement was stopped: CUPTI cannot attribute PC samples "
			"there to instructions");
}

bool nv_pc_leave(uint64_t until_ns)
{
	if (!is_on())
		return true;
	if (!nv_pc_rest(until_ns))
		return false;
	atomic_store_explicit(&nv_pc.has_left, true, memory_order_relaxed);
	nv_pc_gate_limit(0);
	nv.lib.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_FUNCTION);
	nv_pc_gate_open();
	return true;
}

/* ---- the end ---- */

/* GetData does not wait for kernels in continuous mode; Disable waits in every mode. */
static void leave_running(struct nv_pc_session *s)
{
	if (!s->is_serialized)
		nv_pc_drain(s);
	/* The end may come in several steps: report this once. */
	close_gap(s, s->has_said_running ? 0 : MSR_GPU_RANGE_CUT);
	if (!s->has_said_running)
		nv_note("kernels are still running: PC samples that CUPTI has not delivered are "
			"lost",
			"", "");
	s->has_said_running = true;
}

static void end_session(struct nv_pc_session *s, uint64_t until_ns, bool is_idle)
{
	nv_pc_burst_end(s);
	if (s->state != NV_PC_ON) {
		end_without(s);
		return;
	}
	uint64_t calls_ns = nv.lib.now_ns() + CALLS_WAIT_NS;
	if ((!is_idle && !nv.options.no_times) ||
	    !nv_pc_hold(s, calls_ns > until_ns ? calls_ns : until_ns)) {
		leave_running(s);
		return;
	}
	nv_pc_disable(s);
	nv_pc_gate_open();
	s->paused_kernel_ns = nv_trace_kernel_ns(s->device);
	if (s->state == NV_PC_PAUSED)
		nv_pc_give_way(s);
	else
		close_gap(s, 0);
}

void nv_pc_end(uint64_t until_ns, bool is_idle)
{
	if (nv.options.pc == NV_PC_OFF)
		return;
	nv_pc_gate_limit(0);
	for (struct nv_pc_session *s = sessions; s < sessions + NV_PC_MAX_SESSIONS; s++)
		if (s->state != NV_PC_FREE && !was_destroyed(s))
			end_session(s, until_ns, is_idle);
	nv_pc_gate_open(); /* nobody will close it again */
}

/*
 * The thread that has the guard writes the ranges of the samples that it took out. So each moment
 * is in exactly one range.
 */
void nv_pc_give_up(void)
{
	if (nv.options.pc == NV_PC_OFF || nv_trace_off() != NV_ON)
		return;
	uint64_t now = nv.lib.now_ns();
	for (unsigned i = 0; i < NV_PC_MAX_SESSIONS; i++) {
		struct nv_pc_session *s = &sessions[i];
		if (!atomic_load_explicit(&marks[i].context, memory_order_acquire))
			continue;
		uint64_t start_ns =
			atomic_exchange_explicit(&s->range_begin_ns, now, memory_order_relaxed);
		nv.host->pc_range(nv.host,
				  &(struct msr_gpu_pc_range){
					  .start_ns = start_ns,
					  .end_ns = now,
					  .context = atomic_load_explicit(&marks[i].context_id,
									  memory_order_relaxed),
					  .flags = MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_CUT});
	}
}
