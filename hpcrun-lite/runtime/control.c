/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting and stopping; see control.h. Must not: wait for a lock, since a signal handler may have
 * interrupted its holder; touch the state of other threads, which follow by themselves. Tests:
 * tests/cli/run/control.sh, tests/cli/gpu/control_gpu.sh.
 */
#include "hpcrun-lite/runtime/control.h"

#include "common/safe/clock.h"
#include "common/safe/trylock.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/gpu_glue.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample.h"
#include "hpcrun-lite/runtime/signal_table.h"
#include "hpcrun-lite/store/store.h"

#include <errno.h>
#include <signal.h>

static struct {
	trylock lock;           /* of who switches */
	_Atomic bool wants_off; /* the last call */
	_Atomic bool gpus_off;  /* what back ends were told; under the lock */
} control;

/* In the header, where also a reader of a killed process's file finds it. */
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

void control_start_process(bool off)
{
	atomic_store_explicit(&control.wants_off, off, memory_order_relaxed);
	atomic_store_explicit(&process.off, off, memory_order_relaxed);
	if (off)
		write_down(true);
}

void control_forked(void)
{
	trylock_give(&control.lock);
	atomic_store_explicit(&control.gpus_off, false,
			      memory_order_relaxed); /* back ends come in anew */
	control_start_process(atomic_load_explicit(&process.off, memory_order_relaxed));
}

/* Telling a back end what it knows does no harm: one that came in while measurement was off was
 * told then. */
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

/* What GPUs have to do for it is not sampled. */
static void apply(bool off)
{
	if (off)
		switch_threads(true);
	switch_gpus(off);
	if (!off)
		switch_threads(false);
}

static bool is_applied(bool off)
{
	return atomic_load_explicit(&process.off, memory_order_seq_cst) == off;
}

/*
 * Whoever does not get the lock has said what he wants to the one who has it. While the process
 * ends nothing is switched: should it go on, for an exec failed, that is made up for.
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
	thread_signal_others(); /* who took one meanwhile has not followed */
}

void control_give_up(void)
{
	atomic_store_explicit(&control.wants_off, true, memory_order_relaxed);
	atomic_store_explicit(&process.off, true,
			      memory_order_seq_cst); /* threads follow at their next sample */
}

void control_set(bool off)
{
	int saved = errno;
	if (!process_is_owner() || store_is_damaged())
		return;
	/* A handler might never come back here. SIGBUS stays, for faults in the file. */
	const uint64_t old = signal_table_mask(SIG_BLOCK, ~signal_bit(SIGBUS));
	const bool bus = file_fault_open();
	atomic_store_explicit(&control.wants_off, off, memory_order_seq_cst);
	apply_wanted();
	file_fault_close(bus);
	signal_table_mask(SIG_SETMASK, old);
	errno = saved;
}
