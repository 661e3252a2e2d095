/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts and stops the measurement; see control.h. Must not wait for a lock, because a signal
 * handler may have interrupted its holder. Must not touch the state of other threads. Tests:
 * tests/cli/run/control.sh, tests/cli/gpu/control_gpu.sh.
 */
#include "hpcrun-lite/runtime/control/control.h"

#include "common/safe/clock.h"
#include "common/safe/forked.h"
#include "common/safe/trylock.h"
#include "hpcrun-lite/runtime/control/phase.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/glue/gpu_glue.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/signal_table.h"
#include "hpcrun-lite/store/store.h"

#include <errno.h>
#include <signal.h>

static struct {
	trylock lock;           /* held by the thread that switches */
	_Atomic bool wants_off; /* what the last call asked for */
	/*
	 * struct phase_place of the last start. If several threads start it at once, one of them is
	 * kept.
	 */
	_Atomic uint64_t place;
	_Atomic bool gpus_off;  /* what we told the back ends; under the lock */
} control WRITTEN_BY_FORKED;

/* Writes the times into the header, where a reader finds them even if the process was killed. */
static void write_down(bool off)
{
	struct msr_header *h = store_header();
	uint64_t now = clock_mono_ns(),
		 since = atomic_load_explicit(&h->off_since_ns, memory_order_relaxed);
	if (off) {
		atomic_store_explicit(&h->off_since_ns, now, memory_order_relaxed);
	} else if (since) {
		atomic_fetch_add_explicit(&h->off_ns, now - since, memory_order_relaxed);
		atomic_store_explicit(&h->off_since_ns, 0, memory_order_relaxed);
	}
}

static void start(bool off)
{
	atomic_store_explicit(&control.wants_off, off, memory_order_relaxed);
	atomic_store_explicit(&control.place, (uint64_t)UINT32_MAX << 32, memory_order_relaxed);
	atomic_store_explicit(&process.off, off, memory_order_relaxed);
	if (off)
		write_down(true);
}

void control_start(void)
{
	start(process.config.delay);
}

void control_forked(void)
{
	trylock_forked(&control.lock);
	if (atomic_load_explicit(&control.gpus_off, memory_order_relaxed))
		atomic_store_explicit(&control.gpus_off, false,
				      memory_order_relaxed); /* back ends register again */
	start(atomic_load_explicit(&process.off, memory_order_relaxed));
}

/*
 * Calling a back end twice with the same state does no harm. A back end that registers while
 * measurement is off is told so at that moment.
 */
static void switch_gpus(bool off)
{
	bool is_new = off != atomic_load_explicit(&process.off, memory_order_relaxed) ||
		      off != atomic_load_explicit(&control.gpus_off, memory_order_relaxed);
	if (is_new && gpu_glue_switch(!off))
		atomic_store_explicit(&control.gpus_off, off, memory_order_relaxed);
}

static void switch_threads(bool off)
{
	struct msr_header *h = store_header();
	if (off == atomic_load_explicit(&process.off, memory_order_relaxed))
		return;
	atomic_fetch_add_explicit(off ? &h->n_stops : &h->n_starts, 1, memory_order_relaxed);
	write_down(off);
	atomic_store_explicit(&process.off, off, memory_order_seq_cst);
	if (thread_self)
		sample_follow(thread_self);
	thread_signal_others();
}

static void begin_phase(void)
{
	const uint64_t place = atomic_load_explicit(&control.place, memory_order_relaxed);
	phase_begin((struct phase_place){(uint32_t)(place >> 32), (uint32_t)place});
}

/* Switches the GPUs while threads are off, so that this work is not sampled. */
static void apply(bool off)
{
	if (off) {
		phase_end();
		switch_threads(true);
	}
	switch_gpus(off);
	if (!off) {
		switch_threads(false);
		begin_phase();
	}
}

static bool is_applied(bool off)
{
	return atomic_load_explicit(&process.off, memory_order_seq_cst) == off;
}

/*
 * If another thread holds the lock, that thread applies our request. Nothing switches while the
 * process ends; if an exec fails, control_go_on() catches up.
 */
static void apply_wanted(void)
{
	do {
		if (atomic_load_explicit(&process.ending, memory_order_seq_cst) ||
		    !trylock_take(&control.lock))
			return;
		apply(atomic_load_explicit(&control.wants_off, memory_order_seq_cst));
		trylock_give(&control.lock);
	} while (!is_applied(atomic_load_explicit(&control.wants_off, memory_order_seq_cst)));
}

void control_go_on(void)
{
	if (!is_applied(atomic_load_explicit(&control.wants_off, memory_order_seq_cst)))
		apply_wanted();
	if (thread_self)
		sample_catch_up(thread_self);
	thread_signal_others(); /* a thread that received a signal meanwhile has not followed */
}

void control_give_up(void)
{
	atomic_store_explicit(&control.wants_off, true, memory_order_relaxed);
	atomic_store_explicit(&process.off, true,
			      memory_order_seq_cst); /* threads follow at their next sample */
}

static void keep_place(void)
{
	const struct phase_place p = phase_here();
	atomic_store_explicit(&control.place, (uint64_t)p.thread << 32 | p.node,
			      memory_order_relaxed);
}

void control_set(bool off)
{
	int saved = errno;
	if (!process_is_owner() || store_is_damaged())
		return;
	/*
	 * A signal handler might jump away from here. SIGBUS stays unblocked, for faults in the
	 * file.
	 */
	const uint64_t old = signal_table_mask(SIG_BLOCK, ~signal_bit(SIGBUS));
	const bool bus = file_fault_open();
	if (!off)
		keep_place();
	atomic_store_explicit(&control.wants_off, off, memory_order_seq_cst);
	apply_wanted();
	file_fault_close(bus);
	signal_table_mask(SIG_SETMASK, old);
	errno = saved;
}

bool runtime_mend_file(const void *address)
{
	if (!store_mend(address))
		return false;
	control_give_up();
	return true;
}
