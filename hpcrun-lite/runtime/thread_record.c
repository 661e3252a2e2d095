/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of threads in the file: their times, and sums over them. See thread_record.h.
 * Test: tests/cli/run/run_threads.sh.
 */
#include "hpcrun-lite/runtime/thread_record.h"

#include "common/safe/clock.h"
#include "common/safe/forked.h"
#include "common/safe/patience.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/store/store.h"

#include <fcntl.h>
#include <sys/prctl.h>

static struct {
	_Atomic uint32_t n_numbers; /* threads numbered in the file */
	/* struct thread_totals of ended threads */
	_Atomic uint64_t ended[sizeof(struct thread_totals) / sizeof(uint64_t)];
} records WRITTEN_BY_FORKED;

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

/* ---- begin ---- */

/*
 * Without its record a thread is not measured at all. So it waits for a limited time while another
 * thread makes the file grow. No sample can interrupt it yet.
 */
static struct msr_extent *make_extent(const struct store_request *request, bool may_wait)
{
	struct patience patience = {0};
	struct msr_extent *e;
	enum msr_loss cause;
	while (!(e = store_extent(request, &cause)) && may_wait && cause == MSR_LOSS_BUSY &&
	       patience_wait(&patience))
		continue;
	return e;
}

void thread_record_start(struct msr_thread *r)
{
	r->start_ns = clock_mono_ns();
	r->cpu_start_ns = clock_thread_cpu_ns();
}

void thread_record_attach(void)
{
	atomic_store_explicit(&records.n_numbers, 1, memory_order_relaxed);
	store_header()->cpu_start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

bool thread_record_make(struct thread *t, bool may_wait)
{
	const bool is_first = process.config.attached && sys_gettid() == process.pid;
	uint32_t number =
		is_first ? 0
			 : atomic_fetch_add_explicit(&records.n_numbers, 1, memory_order_relaxed);
	const struct store_request request = {
		.kind = MSR_THREAD,
		.record_bytes = sizeof(struct msr_thread),
		.thread = number,
		.n_bytes = sizeof(struct msr_extent) + sizeof(struct msr_thread),
	};
	struct msr_extent *e = make_extent(&request, may_wait);
	if (!e)
		return false;
	struct msr_thread *r = (struct msr_thread *)(e + 1);
	r->number = number;
	r->tid = (uint32_t)sys_gettid();
	if (number == 0 && !is_first)
		store_header()->cpu_start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	thread_record_start(r);
	atomic_store_explicit(&e->used, sizeof *r, memory_order_release);
	t->record = r;
	t->tid = (int)r->tid;
	return true;
}

/* ---- end ---- */

/*
 * Writes the time off the processor that no sample has. It belongs to the wait that was found last.
 */
static void stamp_offcpu(const struct thread *t, struct msr_thread *r, uint64_t now_ns,
			 uint64_t cpu_ns)
{
	const uint64_t wall_off = thread_off_wall_ns(t, now_ns),
		       elapsed = now_ns - r->start_ns - wall_off,
		       given = get(&t->sample.offcpu_given_ns),
		       used = cpu_ns ? cpu_ns - r->cpu_start_ns - thread_off_ns(t, cpu_ns)
				     : get(&t->watch.cpu_given_ns) + get(&r->cpu_unseen_ns);
	atomic_store_explicit(&r->wall_off_ns, wall_off, memory_order_relaxed);
	atomic_store_explicit(&r->offcpu_unsampled_ns,
			      elapsed > used + given ? elapsed - used - given : 0,
			      memory_order_relaxed);
	atomic_store_explicit(
		&r->offcpu_node,
		atomic_load_explicit(&t->sample.wait_node, memory_order_relaxed),
		memory_order_relaxed);
}

void thread_record_end(const struct thread *t, struct msr_thread *r, uint64_t now_ns,
		       uint64_t cpu_ns)
{
	r->end_ns = now_ns;
	r->cpu_end_ns = cpu_ns;
	if (cpu_ns)
		atomic_store_explicit(&r->cpu_off_ns, thread_off_ns(t, cpu_ns),
				      memory_order_relaxed);
	if (process.has_offcpu)
		stamp_offcpu(t, r, now_ns, cpu_ns);
	if (cpu_ns > r->cpu_start_ns && process.has_cputime) {
		uint64_t all = cpu_ns - r->cpu_start_ns, off = thread_off_ns(t, cpu_ns),
			 used = all > off ? all - off : 0;
		uint64_t given = get(&t->watch.cpu_given_ns) + get(&r->cpu_unseen_ns);
		atomic_store_explicit(&r->cpu_unsampled_ns, used > given ? used - given : 0,
				      memory_order_relaxed);
	}
}

void thread_add_record(struct thread_totals *sum, struct msr_thread *r)
{
	sum->n_threads++;
	sum->delivered += get(&r->delivered);
	sum->recorded += get(&r->recorded);
	sum->handler_ns += get(&r->handler_ns);
	/* if the end could not be written: the CPU time that its samples represent */
	sum->cpu_ns += r->cpu_end_ns > r->cpu_start_ns
			       ? r->cpu_end_ns - r->cpu_start_ns
			       : get(&r->use.event_ns) + get(&r->use.timer_ns);
	sum->cpu_off_ns += get(&r->cpu_off_ns);
	sum->cpu_known_ns += msr_thread_cpu_ns(r);
	sum->cpu_unseen_ns += process.has_cputime
				      ? msr_unseen_cpu_ns(r, process.cputime_period_ns)
				      : 0;
	sum->n_frames += get(&r->n_frames);
	sum->n_marked += get(&r->n_marked);
	for (unsigned i = 0; i < MSR_LOSS_ROOM; i++)
		sum->losses[i] += get(&r->losses[i]);
	for (unsigned i = 0; i < 16; i++)
		sum->path_ends[i] += get(&r->path_ends[i]);
}

void thread_record_count(struct msr_thread *r)
{
	struct thread_totals sum = {0};
	const uint64_t *word = (const uint64_t *)&sum;
	thread_add_record(&sum, r);
	for (unsigned i = 0; i < sizeof sum / sizeof *word; i++)
		if (word[i])
			atomic_fetch_add_explicit(&records.ended[i], word[i], memory_order_relaxed);
}

/* Reads the name of a live thread, like prctl(PR_GET_NAME). */
static void read_name(struct msr_thread *r)
{
	char path[48];
	struct text t = text_in(path, sizeof path);
	text_put(&t, "/proc/self/task/");
	text_put_u64(&t, r->tid);
	text_put(&t, "/comm");
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	long n = sys_read(fd, r->name, sizeof r->name - 1);
	sys_close(fd);
	r->name[n > 0 ? n - 1 : 0] = '\0'; /* without the line feed */
}

void thread_stamp_all(uint64_t now_ns, uint64_t self_now_ns, uint64_t self_cpu_ns)
{
	for (struct thread *t = thread_first(); t; t = t->next_made) {
		struct msr_thread *r = thread_live_record(t);
		if (!r)
			continue;
		bool is_self = t == thread_self;
		if (is_self)
			thread_record_end(t, r, self_now_ns, self_cpu_ns);
		else
			thread_record_end(t, r, now_ns, clock_other_cpu_ns((int)r->tid));
		if (is_self)
			sys_call3(SYS_prctl, PR_GET_NAME, (long)r->name, 0);
		else
			read_name(r);
	}
}

void thread_unstamp_all(void)
{
	for (struct thread *t = thread_first(); t; t = t->next_made) {
		struct msr_thread *r = thread_live_record(t);
		if (r) {
			r->end_ns = r->cpu_end_ns = 0;
			atomic_store_explicit(&r->cpu_unsampled_ns, 0, memory_order_relaxed);
			atomic_store_explicit(&r->offcpu_unsampled_ns, 0, memory_order_relaxed);
		}
	}
}

void thread_sum(struct thread_totals *sum)
{
	uint64_t *word = (uint64_t *)sum;
	for (unsigned i = 0; i < sizeof *sum / sizeof *word; i++)
		word[i] = get(&records.ended[i]);
	for (struct thread *t = thread_first(); t; t = t->next_made) {
		struct msr_thread *r = thread_live_record(t);
		if (r)
			thread_add_record(sum, r);
	}
}

void thread_record_forked(void)
{
	for (unsigned i = 0; i < sizeof records.ended / sizeof *records.ended; i++)
		atomic_store_explicit(&records.ended[i], 0, memory_order_relaxed);
	atomic_store_explicit(&records.n_numbers, 0, memory_order_relaxed);
}
