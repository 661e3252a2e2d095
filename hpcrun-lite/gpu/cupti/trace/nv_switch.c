/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows the program's starts and stops of the measurement. Tests:
 * tests/unit/cupti/test_cupti_switch.c, tests/cli/gpu/control_gpu.sh.
 *
 * While measurement is off, CUPTI reports no calls, makes no records and takes no samples, and we
 * do not call it; doc/notes/cupti-facts.md has the remaining cost. Records of earlier launches
 * still arrive, because CUPTI decides at the launch, so nothing has to wait. If other threads use
 * CUDA, everything stays on and we drop the results.
 *
 * PC sampling can only be disabled while the device is idle. Sampling stays on, and records are
 * dropped, until our worker thread finds the device idle. Before the first start PC sampling stays
 * on: modules loaded while it is disabled have no samples afterwards (doc/notes/cupti-facts.md K).
 * Like PC sampling, it waits for the device only briefly.
 */
#include "hpcrun-lite/gpu/cupti/counters/nv_counters.h"
#include "hpcrun-lite/gpu/cupti/pc/nv_pc.h"
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#include <errno.h>
#include <signal.h>

/* Longest wait for our thread, which may be in CUPTI; after that it makes the change itself. */
#define GUARD_WAIT_NS UINT64_C(1000000000)
/* How long a thread of the program waits for the device to become idle. */
#define CALLER_HOLD_NS UINT64_C(20000000)
#define WORKER_HOLD_NS UINT64_C(200000000)
#define LAUNCH_NS UINT64_C(200000)        /* a launch takes 3 to 20 us */
#define FIRST_PAUSE_NS UINT64_C(100000000)
#define LAST_PAUSE_NS UINT64_C(10000000000)

/* Protected by the guard. */
static struct {
	uint64_t retry_ns, pause_ns;
} later;

static __thread bool is_counted __attribute__((tls_model("initial-exec")));

void nv_switch_count_caller(void)
{
	if (__builtin_expect(is_counted, 1))
		return;
	is_counted = true;
	atomic_fetch_add_explicit(&nv_trace.n_callers, 1, memory_order_seq_cst);
}

void nv_switch_thread_ends(void)
{
	if (is_counted)
		atomic_fetch_sub_explicit(&nv_trace.n_callers, 1, memory_order_seq_cst);
	is_counted = false;
}

/*
 * Waits for the end of launches that began while callbacks were off. A launch may take longer if
 * the driver's queue is full.
 */
static void let_launches_end(void)
{
	sem_t never;
	sem_init(&never, 0, 0);
	nv.lib.wait(&never, nv.lib.now_ns() + LAUNCH_NS);
}

/*
 * Callbacks of calls can be switched off only if no other thread may be inside one. Otherwise CUPTI
 * misses the end of that call and gives its correlation id to all later calls of the thread
 * (doc/notes/cupti-facts.md K). In that case the callbacks stay on and return at once.
 */
bool nv_switch_is_only_caller(void)
{
	return nv.lib.agree(NV_AGREE_ALONE,
			    atomic_load_explicit(&nv_trace.n_callers, memory_order_seq_cst) ==
				    is_counted);
}

/* Call when no other thread can launch: there is none, or launches are held. */
static void disconnect(void)
{
	nv_records_switch(false);
	atomic_store_explicit(&nv_trace.has_no_records, true, memory_order_seq_cst);
	if (!nv_yield_has_client() && nv_switch_is_only_caller()) {
		atomic_store_explicit(&nv_shared.has_no_calls, true, memory_order_seq_cst);
		nv_calls_switch(false);
	}
	/* From now on we do not see what is freed, and addresses may be reused. */
	nv_memory_forget();
}

/*
 * Call while launches are held, including those of threads that started to use CUDA since the stop.
 * A held launch gets a record.
 */
static void connect_calls(void)
{
	if (atomic_load_explicit(&nv_shared.has_no_calls, memory_order_seq_cst)) {
		atomic_store_explicit(&nv_shared.has_no_calls, false, memory_order_seq_cst);
		nv_calls_switch(true);
		let_launches_end();
	}
}

static void connect_records(void)
{
	CUptiResult r = nv_records_switch(true);
	atomic_store_explicit(&nv_trace.has_no_records, false, memory_order_seq_cst);
	if (r != CUPTI_SUCCESS)
		nv_note("CUPTI cannot enable its records again: ", nv_result_name(r), "");
}

static void try_later(uint64_t now)
{
	later.pause_ns = !later.pause_ns                  ? FIRST_PAUSE_NS
			 : later.pause_ns < LAST_PAUSE_NS ? 2 * later.pause_ns
							  : LAST_PAUSE_NS;
	later.retry_ns = now + later.pause_ns;
}

static void go_off(uint64_t hold_ns)
{
	uint64_t now = nv.lib.now_ns();
	/*
	 * Nothing holds the launches of other threads here. Records must not be switched beside
	 * them: most of their later launches would have none (doc/notes/cupti-facts.md K). Counters
	 * must see each launch.
	 */
	if (nv_counters_are_on() ||
	    (nv.options.pc == NV_PC_OFF &&
	     (nv_shared.off == NV_DROPPING || !nv_switch_is_only_caller()))) {
		nv_shared.off = NV_DROPPING;
		return;
	}
	if (nv.options.pc != NV_PC_OFF &&
	    (!nv_pc_has_begun() || now < later.retry_ns || !nv_pc_rest(now + hold_ns))) {
		if (nv_pc_has_begun() && now >= later.retry_ns)
			try_later(now);
		nv_shared.off = NV_DROPPING;
		return;
	}
	disconnect();
	nv_shared.off = NV_OFF;
	if (nv.options.pc != NV_PC_OFF)
		nv_pc_gate_open();
}

static void go_on(uint64_t hold_ns)
{
	if (nv_shared.off == NV_OFF) {
		bool is_held = nv_pc_gate_close(nv.lib.now_ns() + hold_ns);
		connect_calls();
		connect_records();
		if (is_held)
			nv_pc_gate_open();
	}
	nv_pc_go_on(nv.lib.now_ns() + hold_ns);
	nv_shared.off = NV_ON;
	later.pause_ns = later.retry_ns = 0;
}

static void follow(uint64_t hold_ns)
{
	bool wants_off = atomic_load_explicit(&nv_trace.wants_off, memory_order_acquire);
	if (nv_yield_is_away())
		return;
	if (wants_off && nv_shared.off != NV_OFF)
		go_off(hold_ns);
	else if (!wants_off && nv_shared.off != NV_ON)
		go_on(hold_ns);
}

void nv_switch_work(void)
{
	follow(WORKER_HOLD_NS);
}

/* CUPTI may create threads here. They inherit the blocked signals and are not measured. */
static void on_switch(bool on)
{
	int saved = errno;
	sigset_t all, old;
	if (!nv_is_here() || nv_trace_is_over())
		return;
	nv.host->suspend(nv.host);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	atomic_store_explicit(&nv_trace.wants_off, !on, memory_order_release);
	if (nv_guard_take(nv.lib.now_ns() + GUARD_WAIT_NS)) {
		follow(CALLER_HOLD_NS);
		nv_guard_give();
	}
	nv_guard_wake();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	nv.host->resume(nv.host);
	errno = saved;
}

/* ---- a profiler of the program ---- */

/* Callbacks of calls stay on until nv_switch_back, because held launches wait in them. */
void nv_switch_away(void)
{
	connect_calls();
	if (nv_shared.off != NV_OFF)
		nv_records_switch(false);
	atomic_store_explicit(&nv_trace.has_no_records, true, memory_order_seq_cst);
}

void nv_switch_back(void)
{
	if (nv_shared.off != NV_OFF)
		connect_records();
}

void nv_switch_start(void)
{
	nv.lib.on_switch(on_switch);
}
