/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fixed work at the bottom of a stack of given depth; prints the CPU time it took, in ns, and the
 * signals taken. With a rate, it samples itself as the run time does (perf_event_open, a mapped
 * ring, SIGWINCH, the same flags) with a handler that does nothing but empty the ring: what
 * remains of the run time's cost above that is ours. Usage: bench_sample DEPTH UNITS [HZ]. Driver:
 * bench_sample.sh. A tenth of the work is done in functions called from the bottom, so that the
 * leaf changes from sample to sample.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct perf_event_mmap_page *ring;
static volatile uint64_t n_signals;

static void empty(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	n_signals++;
	ring->data_tail = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
}

static void sample_emptily(unsigned hz)
{
	struct sigaction action = {.sa_sigaction = empty,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof attr,
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .sample_period = 1000000000u / hz,
				       .sample_type = PERF_SAMPLE_READ,
				       .disabled = 1,
				       .exclude_hv = 1,
				       .wakeup_events = 1};
	struct f_owner_ex owner = {F_OWNER_TID, (int)syscall(SYS_gettid)};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		attr.exclude_kernel = 1;
		fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	ring = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	sigfillset(&action.sa_mask);
	if (fd < 0 || ring == MAP_FAILED || sigaction(SIGWINCH, &action, NULL) != 0 ||
	    fcntl(fd, F_SETOWN_EX, &owner) != 0 || fcntl(fd, F_SETSIG, SIGWINCH) != 0 ||
	    fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) != 0 ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0) {
		perror("bench_sample");
		exit(1);
	}
}

static uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static volatile double sink;

__attribute__((noinline)) static void unit_one(void)
{
	for (int i = 0; i < 1000; i++)
		sink = sink + i;
}

__attribute__((noinline)) static void unit_two(void)
{
	for (int i = 0; i < 1000; i++)
		sink = sink - i;
}

__attribute__((noinline)) static int work(int depth, long units)
{
	int r = 0;
	if (depth > 0) {
		r = work(depth - 1, units);
		__asm__ volatile("");
		return r + 1;
	}
	for (long u = 0; u < units; u++) {
		if (u & 1)
			unit_one();
		else
			unit_two();
		for (int i = 0; i < 8000; i++)
			sink = sink + 1;
	}
	return r;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 25;
	long units = argc > 2 ? atol(argv[2]) : 50000;
	if (argc > 3)
		sample_emptily((unsigned)atoi(argv[3]));
	work(depth, units / 20); /* warm, and past the run time's start of a thread */
	uint64_t signals = n_signals, start = cpu_ns();
	work(depth, units);
	uint64_t took = cpu_ns() - start;
	printf("%llu %llu\n", (unsigned long long)took, (unsigned long long)(n_signals - signals));
	return 0;
}
