/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples from perf_event_open: the task clock, which unlike a timer on the CPU clock keeps the period asked for, and other software events.
 * Each expiry signals the thread and writes the event's count into a ring of one page, so a weight costs no system call.
 *
 * Once the ring is mapped the descriptor is closed: the mapping keeps the event and its signals alive, and no thread costs the program
 * a descriptor. Where the kernel refuses the mapping (locked memory), there is no event: its descriptor would be one of the low numbers that programs count on and close.
 *
 * A thread's task clock starts as a timer on the CPU clock; only when that expires for the first time is the event opened (upgrade). Threads
 * and programs shorter than that do not pay for it (the first event in a system costs 12 to 15 ms), and a first sample at the
 * first tick, weighted for its chance, makes the sum over many short threads right (first_weight_ns).
 *
 * Without the right to look into the kernel an event skips expiries that fall into it. The time of the task clock must not go to the wrong
 * place, so then each sample counts one period, and a second timer, on the CPU clock, gives what the kernel used to the context it finds
 * in a system call (poll_tick). With the right, the count misses what switching to and from the thread costs, which goes the
 * same way, without a timer (poll_switches).
 * Must not wait or allocate. Tests: tests/cli/run_rate.sh.
 */
#include "common/safe/clock.h"
#include "common/safe/load.h"
#include "common/safe/text.h"
#include "hpcrun-lite/source/ktimer.h"
#include "hpcrun-lite/source/source.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PERF_PAGE 4096u
#define PERF_RING_BYTES (2 * PERF_PAGE) /* the control page and one page of records */
#define PERF_RING_NEARLY_FULL (PERF_PAGE - 64)
#define PERF_TICK_NS 4000000u
#define PERF_TICKS_MISSED 4u    /* so many have not come: they miss the thread */
#define PERF_LATE_NS 50000000u /* an early thread is first looked at then, and after four times as long each time */
#define PERF_TICK_PATIENCE 8u /* periods owed before a tick that is not in a system call takes them too */

struct perf_event_state {
	struct perf_event_mmap_page *ring; /* NULL: no event */
	bool user_only;                    /* kernel excluded */
	uint64_t last;                     /* count at the last sample */
	uint64_t compared;                 /* count when it was compared with the CPU clock */
	/* Task clock: */
	bool early;                        /* not opened yet: the timer samples */
	struct ktimer tick;                /* armed while early, and when the kernel is excluded */
	struct ktimer late;                /* armed while early: on the clock on the wall, for threads that the tick misses */
	uint64_t late_after_ns;            /* its last delay */
	uint32_t n_early;                  /* samples of the timer alone */
	uint64_t start_cpu_ns;             /* CPU clock when the event, or the early phase, was started */
	uint64_t given_ns;                 /* weights given since */
	uint64_t surplus_ns;               /* of these, what the CPU clock does not know: to be taken off the next weights */
	uint64_t tick_seen_ns;             /* what was used when the tick last came */
};

static struct {
	const struct source_event *events;
	unsigned n_events;
	int signal;
	uint64_t tick_ns;                  /* the kernel's tick: CPU timers expire on it */
	bool user_only[MSR_MAX_METRICS];   /* found out once */
	void (*note)(const char *text);
	_Atomic bool has_said;             /* that there are threads without their event */
} perf;

static bool is_task_clock(unsigned i)
{
	return perf.events[i].perf_type == PERF_TYPE_SOFTWARE && perf.events[i].perf_config == PERF_COUNT_SW_TASK_CLOCK;
}

/* ---- setting up ------------------------------------------------------------------------------------------ */

/* `pid` 0: for the calling thread. */
static int open_event(const struct source_event *e, bool user_only, int pid)
{
	struct perf_event_attr attr = {
		.type = e->perf_type,
		.size = sizeof attr,
		.config = e->perf_config,
		.sample_period = e->period,
		.sample_type = PERF_SAMPLE_READ,
		.disabled = 1,
		.exclude_kernel = user_only,
		.exclude_hv = 1,
		.wakeup_events = 1,
	};
	return (int)sys_call6(SYS_perf_event_open, (long)&attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
}

static const char *error_text(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "perf_event_open is not permitted (kernel.perf_event_paranoid, seccomp)";
	case ENOSYS:
		return "the kernel has no perf_event_open";
	case ENOENT:
	case EINVAL:
	case EOPNOTSUPP:
	case ENODEV:
		return "the kernel has no such event";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	default:
		return "perf_event_open failed";
	}
}

/*
 * Whether an event can be had. For the task clock the kernel is asked about a process that cannot be: it then checks rights and attributes but makes no
 * event, which spares its cost. 0, or the error.
 */
static int try_event(unsigned i, bool user_only)
{
	int fd = open_event(&perf.events[i], user_only, is_task_clock(i) ? INT_MAX : 0);
	if (fd >= 0)
		sys_close(fd);
	return fd >= 0 || fd == -ESRCH ? 0 : -fd;
}

static bool perf_process_start(const struct source_event *events, unsigned n, const struct source_host *host, char *cause, size_t cause_bytes)
{
	struct timespec tick;
	perf.events = events;
	perf.n_events = n;
	perf.signal = host->signal;
	perf.note = host->note;
	atomic_store_explicit(&perf.has_said, false, memory_order_relaxed);
	/* The coarse clocks advance with the tick. */
	perf.tick_ns = clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 && tick.tv_nsec > 0 ? (uint64_t)tick.tv_nsec : PERF_TICK_NS;
	for (unsigned i = 0; i < n; i++) {
		int error = try_event(i, false);
		perf.user_only[i] = error == EACCES || error == EPERM;
		if (perf.user_only[i])
			error = try_event(i, true);
		if (error) {
			struct text t = text_in(cause, cause_bytes);
			text_put(&t, error_text(error));
			return false;
		}
	}
	return true;
}

static size_t perf_thread_bytes(unsigned n_events)
{
	return n_events * sizeof(struct perf_event_state);
}

static void close_event(struct perf_event_state *s)
{
	struct perf_event_mmap_page *ring = s->ring;
	/* A signal may still arrive in the middle of this: it must find nothing. */
	s->ring = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	if (ring)
		sys_munmap(ring, PERF_RING_BYTES);
}

static void stop_event(struct perf_event_state *s)
{
	ktimer_stop(&s->tick);
	ktimer_stop(&s->late);
	close_event(s);
}

static void perf_thread_stop(void *state)
{
	struct perf_event_state *s = state;
	for (unsigned i = 0; i < perf.n_events; i++) {
		if (s[i].early && s[i].n_early > 1 && !atomic_exchange_explicit(&perf.has_said, true, memory_order_relaxed))
			perf.note("threads were sampled on the kernel's tick alone: they could have no perf event (kernel.perf_event_mlock_kb and ulimit -l, or open files)");
		stop_event(&s[i]);
	}
}

static bool set_signal(int fd)
{
	struct f_owner_ex owner = {F_OWNER_TID, sys_gettid()};
	return sys_fcntl(fd, F_SETOWN_EX, (long)&owner) == 0 && sys_fcntl(fd, F_SETSIG, perf.signal) == 0
		&& sys_fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0;
}

/* A program may have given up the right to look into the kernel since its start. */
static int open_with_rights(struct perf_event_state *s, unsigned i)
{
	int fd = open_event(&perf.events[i], s->user_only, 0);
	if ((fd != -EACCES && fd != -EPERM) || s->user_only)
		return fd;
	s->user_only = true;
	return open_event(&perf.events[i], true, 0);
}

/* Opens the event; on failure nothing of it is left, the timer is as it was. */
static bool open_thread_event(struct perf_event_state *s, unsigned i)
{
	int fd = open_with_rights(s, i);
	if (fd < 0)
		return false;
	long ring = sys_mmap(NULL, PERF_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	s->last = 0;
	s->ring = sys_is_error(ring) ? NULL : (struct perf_event_mmap_page *)ring;
	bool is_on = s->ring && set_signal(fd) && sys_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
	sys_close(fd);
	if (!is_on)
		close_event(s);
	return is_on;
}

/* Where in the first period a thread is sampled first: anywhere, if the period is longer than the tick, else at the first tick. */
static uint64_t first_expiry_ns(uint64_t period)
{
	if (period <= perf.tick_ns)
		return 1;
	uint64_t h = (clock_mono_ns() ^ (uint64_t)sys_gettid() << 32) * UINT64_C(0x9E3779B97F4A7C15);
	return 1 + (h >> 16) % period;
}

static uint64_t early_period_ns(unsigned i)
{
	uint64_t period = perf.events[i].period;
	return period > perf.tick_ns ? period : perf.tick_ns;
}

static bool start_event(struct perf_event_state *s, unsigned i)
{
	*s = (struct perf_event_state){.user_only = perf.user_only[i]};
	if (!is_task_clock(i))
		return open_thread_event(s, i);
	s->start_cpu_ns = clock_thread_cpu_ns();
	s->early = ktimer_start(&s->tick, CLOCK_THREAD_CPUTIME_ID, perf.signal, s, first_expiry_ns(perf.events[i].period), early_period_ns(i));
	s->late_after_ns = PERF_LATE_NS;
	if (s->early)
		ktimer_start(&s->late, CLOCK_MONOTONIC, perf.signal, &s->late, PERF_LATE_NS, 0);
	return s->early || open_thread_event(s, i); /* no timer to be had (ulimit -i): at once then */
}

static bool perf_thread_start(void *state)
{
	struct perf_event_state *s = state;
	for (unsigned i = 0; i < perf.n_events; i++)
		if (!start_event(&s[i], i)) {
			perf_thread_stop(state);
			return false;
		}
	return true;
}

static void perf_thread_forked(void *state)
{
	struct perf_event_state *s = state;
	for (unsigned i = 0; i < perf.n_events; i++) {
		/* Rings are not inherited (VM_DONTCOPY), timers neither. */
		s[i].ring = NULL;
		s[i].tick.armed = s[i].late.armed = false;
		stop_event(&s[i]);
	}
}

/* ---- samples ----------------------------------------------------------------------------------------------- */

/* Takes the records out of the ring: their number, and the count in the last one. */
static unsigned drain(struct perf_event_mmap_page *ring, uint64_t *count, bool *full)
{
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE); /* records before head are complete */
	uint64_t tail = ring->data_tail;
	const uint8_t *data = (const uint8_t *)ring + PERF_PAGE;
	unsigned n = 0;
	*full = head - tail >= PERF_RING_NEARLY_FULL;
	while (tail != head) {
		struct perf_event_header h;
		memcpy(&h, data + tail % PERF_PAGE, sizeof h); /* records are multiples of 8 bytes: a header does not wrap */
		if (h.size < sizeof h || h.size > head - tail) {
			tail = head;
			break;
		}
		if (h.type == PERF_RECORD_SAMPLE) {
			memcpy(count, data + (tail + sizeof h) % PERF_PAGE, sizeof *count);
			n++;
		}
		tail += h.size;
	}
	__atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE); /* the kernel may overwrite what we have read */
	return n;
}

/* Expiries of one event and its count now; 0 when nothing expired. */
static unsigned expiries(struct perf_event_state *s, unsigned i, uint64_t *count)
{
	bool full = false;
	if (!s->ring)
		return 0;
	unsigned n = drain(s->ring, count, &full);
	/* A long system call filled the ring: the count goes on behind the last record. */
	if (n && full && is_task_clock(i)) {
		uint64_t now = clock_thread_cpu_ns() - s->start_cpu_ns;
		*count = now > *count ? now : *count;
	}
	return n;
}

static bool in_system_call(const ucontext_t *context)
{
	uint8_t code[2];
	uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	return load_guarded(code, pc - 2, sizeof code) == sizeof code && code[0] == 0x0f && code[1] == 0x05;
}

static uint64_t used_ns(const struct perf_event_state *s)
{
	return clock_thread_cpu_ns() - s->start_cpu_ns;
}

/*
 * What the thread has used of the CPU clock beyond the weights given so far, if this context shall take it: it is kernel time (or expiries that
 * the kernel dropped), and belongs to a sample in the kernel, which is seen by the system call before the pc; page faults and the
 * like cannot be seen, so a sample elsewhere takes it once much has come together.
 */
static uint64_t owed_ns(struct perf_event_state *s, unsigned i, uint64_t used, const ucontext_t *context)
{
	uint64_t period = perf.events[i].period;
	s->surplus_ns = s->given_ns > used ? s->given_ns - used : 0;
	if (used < s->given_ns + period + period / 2)
		return 0;
	uint64_t owed = used - s->given_ns;
	if (!in_system_call(context) && owed < PERF_TICK_PATIENCE * period)
		return 0;
	s->given_ns += owed;
	return owed;
}

/*
 * A weight by the event's count, less what has been given too much: in a virtual machine the event also counts time that the host took away,
 * and interrupts, which the CPU clock does not.
 */
static uint64_t give(struct perf_event_state *s, uint64_t weight)
{
	uint64_t most = weight ? weight - 1 : 0, less = s->surplus_ns < most ? s->surplus_ns : most;
	s->surplus_ns -= less;
	s->given_ns += weight - less;
	return weight - less;
}

/*
 * Task clock without the kernel. Threads that run in short bursts, beside others that use the processor up, may never run when the tick comes, for the tick is
 * what makes the scheduler switch. When it has not come for some ticks of CPU time the event's own samples do its work.
 */
static uint64_t poll_tick(struct perf_event_state *s, unsigned i, const siginfo_t *info, const ucontext_t *context)
{
	uint64_t used = used_ns(s);
	if (ktimer_is(info, s))
		s->tick_seen_ns = used;
	else if (used < s->tick_seen_ns + PERF_TICKS_MISSED * PERF_TICK_NS)
		return 0;
	return owed_ns(s, i, used, context);
}

/*
 * Task clock with the kernel: the event rests while the kernel switches from and to the thread, which the CPU clock counts. A thread that
 * waits often loses a fifth of its time that way. So the two are compared once a tick.
 */
static uint64_t poll_switches(struct perf_event_state *s, unsigned i, const ucontext_t *context)
{
	if (s->last < s->compared + PERF_TICK_NS)
		return 0;
	s->compared = s->last;
	return owed_ns(s, i, used_ns(s), context);
}

/*
 * The weight of a thread's first sample, at its CPU time t. The tick falls anywhere in the first T of it, and from then on all is sampled but half a
 * period P on average; so that the expected sum is the thread's length, however short, the weight has to be T - t + P/2.
 */
static uint64_t first_weight_ns(unsigned i, uint64_t t)
{
	uint64_t whole = early_period_ns(i);
	return t < whole ? whole - t + perf.events[i].period / 2 : t;
}

/* True when the tick should have come long ago: it misses the thread. Else the thread was waiting, and is looked at again later. */
static bool tick_is_missed(struct perf_event_state *s, const siginfo_t *info)
{
	if (!ktimer_is(info, &s->late))
		return false;
	if (used_ns(s) >= s->given_ns + PERF_TICKS_MISSED * PERF_TICK_NS)
		return true;
	s->late_after_ns *= 4;
	ktimer_set(&s->late, s->late_after_ns, 0);
	return false;
}

/* Before the event is opened: the timer's sample, and the event from now on. Where it cannot be had the timer goes on alone, and the event is tried less and less often. */
static uint64_t poll_early(struct perf_event_state *s, unsigned i, const siginfo_t *info)
{
	if (!ktimer_is(info, s) && !tick_is_missed(s, info))
		return 0;
	ktimer_stop(&s->late);
	uint64_t used = used_ns(s);
	uint64_t weight = s->given_ns ? used - s->given_ns : first_weight_ns(i, used);
	s->given_ns = used;
	s->n_early++;
	if ((s->n_early & (s->n_early - 1)) == 0 && open_thread_event(s, i)) {
		s->early = false;
		s->start_cpu_ns = clock_thread_cpu_ns();
		s->given_ns = s->surplus_ns = s->tick_seen_ns = 0;
		if (!s->user_only)
			ktimer_stop(&s->tick);
		else
			ktimer_set(&s->tick, PERF_TICK_NS, PERF_TICK_NS);
	}
	return weight;
}

static unsigned poll_event(struct perf_event_state *s, unsigned i, const siginfo_t *info, const ucontext_t *context, struct source_expiry *expiry)
{
	uint64_t count = s->last, weight;
	unsigned n = s->early ? 0 : expiries(s, i, &count);
	if (s->early) {
		weight = poll_early(s, i, info);
		n = weight != 0;
	} else if (s->tick.armed) {
		weight = give(s, n * perf.events[i].period);
		uint64_t owed = poll_tick(s, i, info, context);
		weight += owed;
		n = n ? n : owed != 0;
	} else {
		weight = count > s->last ? count - s->last : 0;
		s->last = count > s->last ? count : s->last;
		if (n && is_task_clock(i)) {
			weight = give(s, weight);
			weight += poll_switches(s, i, context);
		}
	}
	if (n == 0 || weight == 0)
		return 0;
	*expiry = (struct source_expiry){.metric = perf.events[i].metric, .n_merged = n - 1, .weight = weight};
	return 1;
}

static unsigned perf_poll(void *state, const siginfo_t *info, const void *ucontext, struct source_expiry *expiry, bool *ours)
{
	struct perf_event_state *s = state;
	unsigned n = 0;
	/* Signals of kill and sigqueue have codes <= 0, those of descriptors POLL_IN and so on. */
	if (info->si_code > 0)
		*ours = true;
	for (unsigned i = 0; i < perf.n_events; i++) {
		if (ktimer_is(info, &s[i]) || ktimer_is(info, &s[i].late))
			*ours = true;
		n += poll_event(&s[i], i, info, ucontext, &expiry[n]);
	}
	return n;
}

const struct source_ops source_perf = {
	.name = "perf_event_open",
	.id = MSR_SOURCE_PERF,
	.process_start = perf_process_start,
	.thread_bytes = perf_thread_bytes,
	.thread_start = perf_thread_start,
	.thread_stop = perf_thread_stop,
	.thread_forked = perf_thread_forked,
	.poll = perf_poll,
};
