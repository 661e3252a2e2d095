/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of the measured process, or of its program by exec. Nothing here may delay the program
 * without a limit. Tests: tests/cli/run/run_ends.sh, tests/cli/run/run_kill.sh,
 * tests/cli/sacred/sacred_exec.sh, tests/cli/sacred/sacred_exit.sh.
 */
#include "common/safe/cgroup.h"
#include "common/safe/clock.h"
#include "common/safe/text.h"
#include "hpcrun-lite/runtime/code/keep.h"
#include "hpcrun-lite/runtime/control/control.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/life/deliver.h"
#include "hpcrun-lite/runtime/life/life.h"
#include "hpcrun-lite/runtime/life/parts.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/records.h"
#include "hpcrun-lite/runtime/report/report.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/say.h"
#include "hpcrun-lite/runtime/signal_table.h"
#include "hpcrun-lite/runtime/thread_record.h"
#include "hpcrun-lite/store/store.h"

#include <limits.h>
#include <string.h>

/* `now_ns` is also the end of live threads. */
static void write_end(enum msr_exit_kind kind, int code, uint64_t now_ns)
{
	struct msr_header *h = store_header();
	h->exit_code = code;
	h->end_mono_ns = now_ns;
	h->end_real_ns = kind == MSR_EXIT_NONE ? 0 : clock_ns(CLOCK_REALTIME);
	h->exit_kind = kind;
}

/* Tells the user what has happened to the file. */
static __attribute__((noinline)) void say_file_failed(const char *path, const char *failure)
{
	char line[PATH_MAX + 256];
	struct text t = text_in(line, sizeof line);
	text_put(&t, "hpcrun-lite: ");
	text_put_foreign(&t, path);
	if (failure) {
		text_put(&t, ": the file system has failed (");
		text_put(&t, failure);
		text_put_char(&t, ')');
	} else
		text_put(&t, ": another process has shortened this file");
	text_put(&t, "; the measurement of process ");
	text_put_u64(&t, (uint64_t)process.pid);
	text_put(&t, store_is_damaged() ? " ended there\n" : " may not be on the disk\n");
	say(&t);
}

/* Most processes have nothing to say, so the buffer for it is in another function's frame. */
static void say_damaged(void)
{
	const char *path = store_local_path()[0] ? store_local_path() : store_path();
	const char *const failure = store_failure(&path);
	if (failure || store_is_damaged())
		say_file_failed(path, failure);
}

bool life_claim_end(void)
{
	return process_is_owner() &&
	       !atomic_exchange_explicit(&life.ended, true, memory_order_relaxed);
}

/* Returns false if another thread may still be writing to the file. */
static bool finish(void)
{
	bool is_quiet = thread_all_outside();
	for (unsigned i = RUNTIME_N_PARTS; i-- > 0;)
		if (runtime_parts[i].finish)
			is_quiet = runtime_parts[i].finish() && is_quiet;
	return is_quiet;
}

/*
 * Has a file on the node copied. After an exec, a measured program copies this file when it ends,
 * but not an ancestor's.
 */
static void hand_over(enum msr_exit_kind kind, bool has_next)
{
	if (kind != MSR_EXIT_EXEC) {
		const bool answers = deliver_and_say();
		if (!store_is_damaged())
			report_print(answers);
	} else if (store_fd() < 0 || store_left_path()[0] || !has_next) {
		deliver_after_end();
		if (!has_next && !store_is_damaged())
			report_print(false);
	}
}

static void write_usage(void)
{
	struct usage u;
	usage_since(&life.start, &u);
	store_header()->usage = (struct msr_usage){.system_ns = u.system_ns,
						   .page_faults = u.page_faults,
						   .reads = u.reads,
						   .writes = u.writes,
						   .read_bytes = u.read_bytes,
						   .written_bytes = u.written_bytes};
}

static void end(enum msr_exit_kind kind, int code, bool has_next)
{
	const bool bus = file_fault_open();
	/* before our own work, which is not sampled */
	const uint64_t self_cpu_ns = clock_thread_cpu_ns(), self_now_ns = clock_mono_ns();
	if (thread_self)
		thread_sources_stop(thread_self);
	/* Sequential consistency: see enter() in sample.c. */
	atomic_store_explicit(&process.ending, true, memory_order_seq_cst);
	const bool is_quiet = finish();
	uint64_t now_ns = clock_mono_ns();
	/* read before the clocks of threads, so that those are never behind it */
	store_header()->cpu_end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	store_header()->throttled_end_ns = cgroup_throttled_ns(&life.cgroup);
	write_usage();
	thread_stamp_all(now_ns, self_now_ns, self_cpu_ns);
	EACH_PART_BACKWARDS(write);
	/*
	 * A file server that does not answer delays the helper that copies, not us, except in
	 * jit_keep(), which writes to the measurement directory. A forked child may have made its
	 * file only now.
	 */
	const bool is_local = store_local_path()[0];
	write_end(kind, code, now_ns);
	EACH_PART_BACKWARDS(copy);
	if (store_is_damaged())
		say_damaged();
	else if (!has_next && !is_local)
		report_print(true);
	if (thread_self) {
		if (thread_self->cct)
			cct_trim(thread_self->cct);
		EACH_PART(trim, thread_self, kind);
	}
	records_trim();
	store_finish(is_quiet);
	if (!store_is_damaged())
		say_damaged(); /* ext4 may say so only now */
	if (is_local)
		hand_over(kind, has_next);
	file_fault_close(bus);
}

void runtime_end(enum msr_exit_kind kind, int code)
{
	if (!atomic_load_explicit(&life.ended, memory_order_relaxed))
		EACH_PART(before_end, false);
	if (!life_claim_end())
		return;
	if (kind != MSR_EXIT_WITHDRAWN) /* its caller blocks the signal */
		sample_check_signal(signal_table_mask(SIG_BLOCK, 0));
	end(kind, code, false);
}

void life_detach(void)
{
	EACH_PART(before_end, false);
	end(MSR_EXIT_DETACHED, 0, false);
}

void runtime_fatal_signal(int sig)
{
	const struct {
		uint64_t mono_ns, real_ns;
		uint32_t kind;
		int32_t code;
	} end = {clock_mono_ns(), clock_ns(CLOCK_REALTIME), MSR_EXIT_SIGNAL, sig};
	_Static_assert(offsetof(struct msr_header, exit_code) + 4
				- offsetof(struct msr_header, end_mono_ns)
			== sizeof end,
		"as in the header");
	if (!process_is_owner())
		return;
	if (store_fd() >= 0)
		sys_pwrite(store_fd(), &end, sizeof end, offsetof(struct msr_header, end_mono_ns));
	else if (store_header())
		memcpy(&store_header()->end_mono_ns, &end, sizeof end);
	store_publish();
	keep_at_signal();
	deliver_after_end();
}

static void drain_signal(void)
{
	uint64_t set = UINT64_C(1) << (RUNTIME_SIGNAL - 1);
	const struct timespec zero = {0, 0};
	while (sys_call4(SYS_rt_sigtimedwait, (long)&set, 0, (long)&zero, sizeof set) ==
	       RUNTIME_SIGNAL)
		;
}

void runtime_withdraw(const char *why)
{
	if (!process_is_owner())
		return;
	runtime_note(why);
	runtime_hooks.withdrawn();
	if (thread_self)
		thread_sources_stop(thread_self);
	const uint64_t mask = signal_table_block_own();
	runtime_end(MSR_EXIT_WITHDRAWN, 0);
	drain_signal();
	process.measuring = false; /* signals of other threads do nothing from now on */
	signal_table_mask(SIG_SETMASK, mask);
}

void runtime_exec_begin(bool is_measured)
{
	if (!process.measuring)
		return;
	if (!atomic_load_explicit(&life.ended, memory_order_relaxed))
		EACH_PART(before_end, true);
	const uint64_t mask = signal_table_block_own();
	if (life_claim_end()) {
		sample_check_signal(0);
		end(MSR_EXIT_EXEC, 0, is_measured);
	}
	drain_signal();
	signal_table_mask(SIG_SETMASK, mask);
}

void runtime_exec_failed(void)
{
	struct msr_header *h = store_header();
	if (!process_is_owner() || !h || h->exit_kind != MSR_EXIT_EXEC)
		return;
	store_reopen();
	EACH_PART(exec_failed);
	write_end(MSR_EXIT_NONE, 0, 0);
	h->cpu_end_ns = 0;
	deliver_stay();
	thread_unstamp_all();
	store_publish();
	atomic_store_explicit(&process.ending, false, memory_order_seq_cst);
	atomic_store_explicit(&life.ended, false, memory_order_relaxed);
	if (thread_self)
		thread_sources_start(thread_self);
	control_go_on();
}
