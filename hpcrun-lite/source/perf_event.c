/* SPDX-License-Identifier: BSD-3-Clause */
/* One event of perf_event_open; see perf_event.h. Must not wait or allocate. */
#include "hpcrun-lite/source/perf_event.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define PERF_PAGE machine_page_bytes()
#define PERF_RING_BYTES (2 * PERF_PAGE) /* the control page and one page of records */
#define PERF_RING_NEARLY_FULL (PERF_PAGE - 64)

bool perf_event_is_task_clock(const struct source_event *e)
{
	return e->perf_type == PERF_TYPE_SOFTWARE && e->perf_config == PERF_COUNT_SW_TASK_CLOCK;
}

/* `pid` 0 means the calling thread. */
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
	return (int)sys_call6(SYS_perf_event_open, (long)&attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC,
			      0);
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

/* Returns 0, or the error. */
static int try_event(const struct source_event *e, bool user_only)
{
	int fd = open_event(e, user_only, perf_event_is_task_clock(e) ? INT_MAX : 0);
	if (fd >= 0)
		sys_close(fd);
	return fd >= 0 || fd == -ESRCH ? 0 : -fd;
}

bool perf_event_try(const struct source_event *e, bool *user_only, char *cause, size_t cause_bytes)
{
	struct text t = text_in(cause, cause_bytes);
	int error = try_event(e, false);
	*user_only = error == EACCES || error == EPERM;
	if (*user_only)
		error = try_event(e, true);
	if (error)
		text_put(&t, error_text(error));
	return !error;
}

static bool set_signal(int fd, int signal)
{
	struct f_owner_ex owner = {F_OWNER_TID, sys_gettid()};
	return sys_fcntl(fd, F_SETOWN_EX, (long)&owner) == 0 && sys_fcntl(fd, F_SETSIG, signal) == 0
		&& sys_fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0;
}

/* Signals carry the number of the descriptor. Programs do not give theirs numbers this high. */
#define PERF_DESCRIPTOR 512

static _Atomic bool has_low; /* a descriptor has a lower number */

static int move_high(int fd)
{
	const int high = sys_fcntl(fd, F_DUPFD_CLOEXEC, PERF_DESCRIPTOR);
	if (high < 0) {
		atomic_store_explicit(&has_low, true, memory_order_relaxed);
		return fd;
	}
	sys_close(fd);
	return high;
}

bool perf_event_is_descriptor(int fd)
{
	return fd >= PERF_DESCRIPTOR || atomic_load_explicit(&has_low, memory_order_relaxed);
}

bool perf_event_open(struct perf_event *p, const struct source_event *e, int signal)
{
	int fd = open_event(e, p->user_only, 0);
	if ((fd == -EACCES || fd == -EPERM) && !p->user_only) {
		p->user_only = true;
		fd = open_event(e, true, 0);
	}
	if (fd < 0)
		return false;
	fd = move_high(fd);
	long ring = sys_mmap(NULL, PERF_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p->ring = sys_is_error(ring) ? NULL : (struct perf_event_mmap_page *)ring;
	bool is_on =
		p->ring && set_signal(fd, signal) && sys_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
	sys_close(fd);
	if (!is_on)
		perf_event_close(p);
	return is_on;
}

void perf_event_close(struct perf_event *p)
{
	struct perf_event_mmap_page *ring = p->ring;
	/* A signal may still arrive here; it must find no ring. */
	p->ring = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	if (ring)
		sys_munmap(ring, PERF_RING_BYTES);
}

unsigned perf_event_drain(struct perf_event *p, uint64_t *count, bool *full)
{
	struct perf_event_mmap_page *ring = p->ring;
	unsigned n = 0;
	*full = false;
	if (!ring)
		return 0;
	/* records before it are complete */
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->data_tail;
	const uint8_t *data = (const uint8_t *)ring + PERF_PAGE;
	*full = head - tail >= PERF_RING_NEARLY_FULL;
	while (tail != head) {
		struct perf_event_header h;
		/* records are multiples of 8 bytes: a header does not wrap */
		memcpy(&h, data + tail % PERF_PAGE, sizeof h);
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
	/* the kernel may overwrite what we have read */
	__atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
	return n;
}
