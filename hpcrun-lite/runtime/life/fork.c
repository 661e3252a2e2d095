/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forks of the measured process. If the measurement fails, the child continues unmeasured and the
 * user gets a message. Tests: tests/cli/run/run_forks.sh, tests/cli/run/run_processes.sh.
 */
#include "common/safe/clock.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/life/life.h"
#include "hpcrun-lite/runtime/life/parts.h"
#include "hpcrun-lite/runtime/life/process_record.h"
#include "hpcrun-lite/runtime/life/sources.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/signal_table.h"
#include "hpcrun-lite/store/store.h"

#include <errno.h>

void life_before_fork(void)
{
	if (!process.measuring || process.config.attached || !process_is_owner())
		return;
	const bool bus = file_fault_open();
	store_before_fork();
	if (store_fd() >= 0)
		process_record_has_file();
	file_fault_close(bus);
}

void life_after_fork(void)
{
	store_after_fork();
}

/* See life.h. The process has only this thread; no source signals it yet. */
void life_forked(void)
{
	const char *cause = "no cause";
	/* Compare the pid first: reading the page of `alive` costs a child a page fault. */
	const int pid = sys_getpid();
	if (!process.measuring || (pid == process.pid && process_is_alive()))
		return;
	if (process.config.attached) { /* its parent alone was asked for */
		uint64_t mask = signal_table_mask(SIG_BLOCK, 0);
		process.measuring = false;
		store_forget();
		runtime_hooks.forked();
		runtime_hooks.leave(&mask);
		runtime_hooks.give_back_signal();
		signal_table_mask(SIG_SETMASK, mask);
		thread_self = NULL;
		return;
	}
	process.pid = pid;
	process.start_ns = clock_mono_ns();
	atomic_store_explicit(&process.ending, false, memory_order_relaxed);
	atomic_store_explicit(&life.ended, false, memory_order_relaxed);
	if (store_is_damaged())
		atomic_store_explicit(&process.off, process.config.delay, memory_order_relaxed);
	store_forget();
	unwind_after_fork();
	runtime_hooks.forked();
	if (!life_open_store(true, &cause)) {
		process.measuring = false;
		life_complain(cause);
		return;
	}
	const bool was_brief = store_is_brief();
	life_write_quota();
	life.start = (struct usage){0}; /* the kernel counts from the fork */
	const bool is_as_in_file = process_record_find_place();
	EACH_PART(forked);
	sources_restart();
	if (!was_brief)
		life_describe();
	else if (!is_as_in_file)
		store_need_room(); /* this also describes it */
	atomic_store_explicit(process.alive, 1, memory_order_relaxed);
	thread_forked();
	store_publish();
}

void runtime_fork_begins(void)
{
	const int saved = errno;
	life_before_fork();
	errno = saved;
}

void runtime_fork_ends(bool is_child)
{
	const int saved = errno;
	if (is_child)
		life_forked();
	else
		life_after_fork();
	errno = saved;
}

void process_check_fork(void)
{
	if (process.measuring && !process_is_alive())
		life_forked();
}
