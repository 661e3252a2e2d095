/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples from perf_event_open: the task clock, which unlike a timer on the CPU clock keeps the period asked for, and other software events.
 * Each expiry signals the thread and writes the event's count into a ring of one page, so a weight costs no system call.
 *
 * Once the ring is mapped the descriptor is closed: the mapping keeps the event and its signals alive, and no thread costs the program
 * a descriptor. Where the kernel refuses the mapping (locked memory), the descriptor stays and is read.
 *
 * Without the right to look into the kernel an event skips expiries that fall into it. The time of the task clock must not go to the wrong
 * place, so then each sample counts one period, and a second timer, on the CPU clock, gives what the kernel used to the context it finds
 * in a system call (poll_tick).
 * Must not wait or allocate. Tests: tests/cli/run_rate.sh, tests/cli/run_kernel.sh.
 */
#include "common/safe/clock.h"
#include "common/safe/load.h"
#include "common/safe/text.h"
#include "hpcrun-lite/source/ktimer.h"
#include "hpcrun-lite/source/source.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PERF_PAGE 4096u
#define PERF_RING_BYTES (2 * PERF_PAGE) /* the control page and one page of records */
#define PERF_RING_NEARLY_FULL (PERF_PAGE - 64)
#define PERF_TICK_NS 4000000u
#define PERF_TICK_PATIENCE 8u /* periods owed before a tick that is not in a system call takes them too */

struct perf_event_state {
	struct perf_event_mmap_page *ring; /* NULL: descriptor only */
	int fd;                            /* + 1; 0: none */
	bool user_only;                    /* kernel excluded */
	uint64_t last;                     /* count at the last sample */
	/* Task clock with the kernel excluded: */
	struct ktimer tick;
	uint64_t start_cpu_ns;             /* CPU clock when the event was started */
	uint64_t given_ns;                 /* weights given since */
};

static struct {
	const struct source_event *events;
	unsigned n_events;
	int signal;
	bool user_only[MSR_MAX_METRICS];   /* found out once */
} perf;

static bool is_task_clock(unsigned i)
{
	return perf.events[i].perf_type == PERF_TYPE_SOFTWARE && perf.events[i].perf_config == PERF_COUNT_SW_TASK_CLOCK;
}

/* ---- setting up ------------------------------------------------------------------------------------------ */

static int open_event(const struct source_event *e, bool user_only)
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
	return (int)sys_call6(SYS_perf_event_open, (long)&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
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

static bool perf_process_start(const struct source_event *events, unsigned n, const struct source_host *host, char *cause, size_t cause_bytes)
{
	perf.events = events;
	perf.n_events = n;
	perf.signal = host->signal;
	for (unsigned i = 0; i < n; i++) {
		perf.user_only[i] = false;
		int fd = open_event(&events[i], false);
		if (fd == -EACCES || fd == -EPERM) {
			perf.user_only[i] = true;
			fd = open_event(&events[i], true);
		}
		if (fd < 0) {
			struct text t = text_in(cause, cause_bytes);
			text_put(&t, error_text(-fd));
			return false;
		}
		sys_close(fd);
	}
	return true;
}

static size_t perf_thread_bytes(unsigned n_events)
{
	return n_events * sizeof(struct perf_event_state);
}

static void stop_event(struct perf_event_state *s)
{
	struct perf_event_mmap_page *ring = s->ring;
	int fd = s->fd;
	ktimer_stop(&s->tick);
	/* A signal may still arrive in the middle of this: it must find nothing. */
	s->ring = NULL;
	s->fd = 0;
	atomic_signal_fence(memory_order_seq_cst);
	if (fd)
		sys_close(fd - 1);
	if (ring)
		sys_munmap(ring, PERF_RING_BYTES);
}

static void perf_thread_stop(void *state)
{
	struct perf_event_state *s = state;
	for (unsigned i = 0; i < perf.n_events; i++)
		stop_event(&s[i]);
}

static bool set_signal(int fd)
{
	struct f_owner_ex owner = {F_OWNER_TID, sys_gettid()};
	return sys_fcntl(fd, F_SETOWN_EX, (long)&owner) == 0 && sys_fcntl(fd, F_SETSIG, perf.signal) == 0
		&& sys_fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0;
}

static bool start_event(struct perf_event_state *s, unsigned i)
{
	int fd = open_event(&perf.events[i], perf.user_only[i]);
	if (fd < 0)
		return false;
	long ring = sys_mmap(NULL, PERF_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	*s = (struct perf_event_state){.fd = fd + 1, .user_only = perf.user_only[i], .start_cpu_ns = clock_thread_cpu_ns()};
	if (!sys_is_error(ring))
		s->ring = (struct perf_event_mmap_page *)ring;
	bool ok = set_signal(fd);
	if (ok && s->user_only && is_task_clock(i))
		ok = ktimer_start(&s->tick, CLOCK_THREAD_CPUTIME_ID, perf.signal, s, PERF_TICK_NS);
	if (ok)
		ok = sys_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
	if (!ok) {
		stop_event(s);
		return false;
	}
	if (s->ring) {
		s->fd = 0;
		sys_close(fd);
	}
	return true;
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
		/* Rings are not inherited (VM_DONTCOPY), timers neither; descriptors are. */
		s[i].ring = NULL;
		s[i].tick.armed = false;
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
static unsigned expiries(struct perf_event_state *s, unsigned i, const siginfo_t *info, uint64_t *count)
{
	bool full = false;
	if (s->ring) {
		unsigned n = drain(s->ring, count, &full);
		/* A long system call filled the ring: the count goes on behind the last record. */
		if (n && full && is_task_clock(i)) {
			uint64_t now = clock_thread_cpu_ns() - s->start_cpu_ns;
			*count = now > *count ? now : *count;
		}
		return n;
	}
	if (!s->fd || info->si_code <= 0 || info->si_fd != s->fd - 1)
		return 0;
	return sys_read(s->fd - 1, count, sizeof *count) == (long)sizeof *count;
}

static bool in_system_call(const ucontext_t *context)
{
	uint8_t code[2];
	uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	return load_guarded(code, pc - 2, sizeof code) == sizeof code && code[0] == 0x0f && code[1] == 0x05;
}

/*
 * Task clock without the kernel: what the thread has used beyond the weights given so far is kernel time (or expiries that the kernel
 * dropped). It belongs to a tick that was in the kernel, which is seen by the system call before the pc; page faults and the
 * like cannot be seen, so a tick elsewhere takes it once much has come together.
 */
static uint64_t poll_tick(struct perf_event_state *s, unsigned i, const siginfo_t *info, const ucontext_t *context)
{
	uint64_t period = perf.events[i].period;
	if (!s->tick.armed || !ktimer_is(info, s))
		return 0;
	uint64_t used = clock_thread_cpu_ns() - s->start_cpu_ns;
	if (used < s->given_ns + period + period / 2)
		return 0;
	uint64_t owed = used - s->given_ns;
	if (!in_system_call(context) && owed < PERF_TICK_PATIENCE * period)
		return 0;
	return owed;
}

static unsigned poll_event(struct perf_event_state *s, unsigned i, const siginfo_t *info, const ucontext_t *context, struct source_expiry *expiry)
{
	uint64_t count = s->last, weight;
	unsigned n = expiries(s, i, info, &count);
	if (s->tick.armed) {
		weight = n * perf.events[i].period;
		s->given_ns += weight;
		uint64_t owed = poll_tick(s, i, info, context);
		s->given_ns += owed;
		weight += owed;
		n = n ? n : owed != 0;
	} else {
		weight = count > s->last ? count - s->last : 0;
		s->last = count > s->last ? count : s->last;
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
		if (ktimer_is(info, &s[i]))
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
