/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of threads in the file: their times, and sums over them. Signal-safe. Test:
 * tests/cli/run/run_threads.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_THREAD_RECORD_H
#define HPCRUN_LITE_RUNTIME_THREAD_RECORD_H

#include "hpcrun-lite/runtime/thread.h"

/*
 * Makes the record of the calling thread. Returns false if there is no space. `may_wait`: waits for
 * a limited time while another thread makes the file grow.
 */
bool thread_record_make(struct thread *t, bool may_wait);
/* Writes the start of the record, with the clocks of the calling thread. */
void thread_record_start(struct msr_thread *record);
/* Writes the end of the record. cpu_ns is 0 if the thread's clock can no longer be read. */
void thread_record_end(const struct thread *t, struct msr_thread *record, uint64_t now_ns,
		       uint64_t cpu_ns);
/* Adds the record of a thread that has ended to the sums. */
void thread_record_count(struct msr_thread *record);
/*
 * In a process that was running: its first thread gets number 0 whenever it joins. The store is
 * open.
 */
void thread_record_attach(void);
/* In a forked child: there are no records yet. */
void thread_record_forked(void);

/*
 * Writes the ends of all live threads as seen from outside; for the calling thread, uses the clock
 * values from when its sources stopped. unstamp undoes it after an exec that failed.
 */
void thread_stamp_all(uint64_t now_ns, uint64_t self_now_ns, uint64_t self_cpu_ns);
void thread_unstamp_all(void);

/* Sums over ended and live threads, for the report. */
struct thread_totals {
	uint64_t n_threads, delivered, recorded, handler_ns, cpu_ns, cpu_off_ns, n_frames, n_marked;
	/*
	 * see msr_thread_cpu_ns(); time that samples miss; time of threads that we did not see
	 * start
	 */
	uint64_t cpu_known_ns, cpu_unseen_ns, cpu_strange_ns;
	uint64_t losses[MSR_LOSS_ROOM];
	uint64_t path_ends[16];
};
void thread_sum(struct thread_totals *totals);
/* Adds one record. */
void thread_add_record(struct thread_totals *totals, struct msr_thread *record);

#endif
