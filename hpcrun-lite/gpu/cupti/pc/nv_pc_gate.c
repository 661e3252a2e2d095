/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gate in front of the program's launches. While it is closed, threads that are about to launch
 * wait in their callback, before the driver does anything; the closing thread waits for launches
 * that have already begun. Test: tests/unit/cupti/test_cupti_pc_gate.c.
 *
 * Both waits have a time limit. If a kernel waits for something that another thread has yet to
 * launch, or the program itself hangs, the program goes on undisturbed and closing the gate fails.
 * The gate also closes by itself after a given number of launches. In a replay it is always open,
 * because a launch that waited then now comes in its recorded order.
 */
#include "hpcrun-lite/gpu/cupti/pc/nv_pc_internal.h"

#include "common/safe/clock.h"
#include "common/safe/sys.h"

#include <linux/membarrier.h>

/* Longest wait of a launch at the gate: much longer than the gate should ever be closed. */
#define MOST_WAIT_NS UINT64_C(2000000000)
#define LOOK_NS UINT64_C(200000)          /* time between two checks of whether it is open */
#define LEAVE_NS UINT64_C(20000) /* ... of whether other threads have left their launches */

/*
 * Each of the first N_OWN threads has its own cache line and writes it with plain stores. The
 * thread that closes the gate makes the others execute a barrier (membarrier). So an open gate
 * costs a launch almost nothing. Later threads share lines.
 */
#define N_OWN 512u
#define N_SHARED 32u
#define N_LANES (N_OWN + N_SHARED)
static struct lane {
	_Alignas(64) _Atomic int32_t n_inside;
} lanes[N_LANES];
static _Atomic bool has_membarrier;
static struct {
	/* IS_CLOSED, plus OPENED_ONCE for each time it was opened */
	_Alignas(64) _Atomic uint64_t state;
	_Atomic uint32_t n_threads;
	_Alignas(64) _Atomic uint64_t n_launches; /* only counted in bursts */
	_Atomic uint64_t wake_at, limit;
} gate;
#define IS_CLOSED 1u
#define OPENED_ONCE 2u

/* Number of nested driver calls of this thread; functions of the driver call each other. */
static __thread unsigned depth __attribute__((tls_model("initial-exec")));
static __thread _Atomic int32_t *inside __attribute__((tls_model("initial-exec")));
static __thread bool is_own __attribute__((tls_model("initial-exec")));

void nv_pc_gate_start(void)
{
	long r = sys_call4(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0);
	atomic_store_explicit(&has_membarrier, !sys_is_error(r), memory_order_relaxed);
}

/* Release: a thread that sees us outside also sees what we did inside. */
static void step_out(void)
{
	if (is_own)
		atomic_store_explicit(inside, 0, memory_order_release);
	else
		atomic_fetch_sub_explicit(inside, 1, memory_order_release);
}

/* The thread may have been cancelled inside the driver. Its launch will never end. */
void nv_pc_gate_thread_ends(void)
{
	if (depth && inside && nv_is_here())
		step_out();
	depth = 0;
}

static void take_lane(void)
{
	uint32_t n = atomic_fetch_add_explicit(&gate.n_threads, 1, memory_order_relaxed);
	is_own = n < N_OWN && atomic_load_explicit(&has_membarrier, memory_order_relaxed);
	inside = &lanes[is_own ? n : N_OWN + n % N_SHARED].n_inside;
}

static void step_in(void)
{
	if (!inside)
		take_lane();
	if (!is_own) {
		/* pairs with the seq_cst accesses of the closing thread */
		atomic_fetch_add_explicit(inside, 1, memory_order_seq_cst);
		return;
	}
	/* relaxed: the closing thread makes us execute the barrier */
	atomic_store_explicit(inside, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}

/* Either the closing thread sees us inside, or we see that the gate is closed. */
static bool try_enter(void)
{
	step_in();
	if (!(atomic_load_explicit(&gate.state, memory_order_seq_cst) & IS_CLOSED))
		return true;
	step_out();
	return false;
}

static int32_t n_inside(void)
{
	int32_t n = 0;
	for (unsigned i = 0; i < N_LANES; i++)
		n += atomic_load_explicit(&lanes[i].n_inside, memory_order_seq_cst);
	return n;
}

/*
 * This clock does not use the function table, because a launch's wait is no event of a recording.
 * It does not use libc, because a sleep in libc is a cancellation point.
 */
static uint64_t now_ns(void)
{
	return clock_mono_ns();
}

static void sleep_for(uint64_t ns)
{
	const struct timespec t = {0, (long)ns};
	sys_call4(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&t, 0);
}

static struct nv_pc_gate_clock clock_used = {now_ns, sleep_for};

void nv_pc_gate_use(const struct nv_pc_gate_clock *c)
{
	clock_used = *c;
}

static void wait_and_enter(void)
{
	uint64_t until_ns = clock_used.now_ns() + MOST_WAIT_NS;
	do {
		clock_used.sleep_for(LOOK_NS);
		if (try_enter())
			return;
	} while (clock_used.now_ns() < until_ns);
	/*
	 * The thread that should open the gate does not do it. Open it for all later launches, too.
	 */
	nv_pc_gate_limit(0);
	nv_pc_gate_open();
	step_in();
}

/*
 * The launch after the limit closes the gate. The exchange fails if the gate was opened meanwhile;
 * whoever opens it removes the limit first.
 */
static void count_launch(void)
{
	uint64_t state = atomic_load_explicit(&gate.state, memory_order_seq_cst),
		 limit = atomic_load_explicit(&gate.limit, memory_order_seq_cst);
	/* relaxed: a count */
	uint64_t n = atomic_fetch_add_explicit(&gate.n_launches, 1, memory_order_relaxed) + 1;
	bool is_over = limit && n > limit && !nv_library_stand_in;
	if (is_over)
		atomic_compare_exchange_strong_explicit(&gate.state, &state, state | IS_CLOSED,
							memory_order_seq_cst, memory_order_relaxed);
	if (is_over || n == atomic_load_explicit(&gate.wake_at, memory_order_relaxed))
		nv_guard_wake();
}

void nv_pc_gate_enter(bool is_launch)
{
	if (is_launch && nv.options.pc == NV_PC_BURSTS) {
		count_launch();
		nv.lib.point();
	}
	if (depth++ || nv_library_stand_in)
		return;
	if (!try_enter())
		wait_and_enter();
	/* callbacks were switched off meanwhile, so we may not see the end of this call */
	if (nv_trace_has_no_calls()) {
		depth = 0;
		step_out();
	}
}

void nv_pc_gate_leave(void)
{
	/* 0: the call began before callbacks were on */
	if (depth && --depth == 0 && !nv_library_stand_in)
		step_out();
}

static bool close_until(uint64_t until_ns)
{
	int32_t own = depth != 0;
	atomic_fetch_or_explicit(&gate.state, IS_CLOSED, memory_order_seq_cst);
	if (atomic_load_explicit(&has_membarrier, memory_order_relaxed))
		sys_call4(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0);
	while (n_inside() > own) {
		if (clock_used.now_ns() >= until_ns) {
			nv_pc_gate_open();
			return false;
		}
		clock_used.sleep_for(LEAVE_NS);
	}
	return true;
}

bool nv_pc_gate_close(uint64_t until_ns)
{
	return nv.lib.agree(NV_AGREE_GATE, nv_library_stand_in || close_until(until_ns));
}

void nv_pc_gate_open(void)
{
	uint64_t state = atomic_load_explicit(&gate.state, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&gate.state, &state,
						      (state | IS_CLOSED) - IS_CLOSED + OPENED_ONCE,
						      memory_order_seq_cst, memory_order_relaxed))
		;
}

void nv_pc_gate_limit(uint64_t n_launches)
{
	atomic_store_explicit(&gate.limit, n_launches, memory_order_seq_cst);
}

uint64_t nv_pc_n_launches(void)
{
	return atomic_load_explicit(&gate.n_launches, memory_order_relaxed);
}

void nv_pc_wake_at(uint64_t n_launches)
{
	atomic_store_explicit(&gate.wake_at, n_launches, memory_order_relaxed);
}

/*
 * Finds out from the records, unless some were delivered by force before their kernels had ended.
 * Then it waits for the context.
 */
static bool is_idle(struct nv_pc_session *s, uint64_t until_ns)
{
	bool records_tell = !nv.options.no_times && !nv_trace_has_unfinished();
	return nv_guard_until_idle(until_ns) &&
	       (records_tell || nv_pc_synchronize(s->context, until_ns));
}

bool nv_pc_hold(struct nv_pc_session *s, uint64_t until_ns)
{
	if (!nv_pc_gate_close(until_ns))
		return false;
	if (is_idle(s, until_ns))
		return true;
	nv_pc_gate_open();
	return false;
}
