/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that does not run for other reasons than a wait: "stopped", by SIGSTOP beside a
 * neighbour that takes the processor, "off", where measurement is off for a part of the waits, and
 * "full", where six threads compute and the table of descriptors has room for one. Prints
 * "<function> <ns>", or what went wrong. Run by tests/cli/offcpu/offcpu_halts.sh.
 */
#include "hpcrun-lite/api/hpctoolkit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static _Atomic int is_over;

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *compute(void *unused)
{
	while (!atomic_load(&is_over))
		;
	return unused;
}

static void spin(uint64_t ns)
{
	for (const uint64_t end = now_ns() + ns; now_ns() < end;)
		;
}

/* Starts a child that computes on our processor. It stops us, or not, and has us go on. */
static pid_t start_neighbour(bool stops)
{
	const pid_t self = getpid(), child = fork();
	if (child != 0)
		return child;
	spin(200000000);
	if (stops)
		kill(self, SIGSTOP);
	for (;;) {
		spin(300000000);
		kill(self, SIGCONT);
	}
}

static void end_neighbour(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Reads the clock all the time; the longest gap is the stop. */
NOINLINE static void be_stopped(void)
{
	const pid_t child = start_neighbour(true);
	const uint64_t start = now_ns();
	uint64_t last = start, gap = 0;
	while (last < start + 1000000000u) {
		const uint64_t now = now_ns();
		gap = now - last > gap ? now - last : gap;
		last = now;
	}
	printf("be_stopped %llu\n", (unsigned long long)gap);
	end_neighbour(child);
}

NOINLINE static void stop_itself(void)
{
	const pid_t child = start_neighbour(false);
	spin(200000000);
	const uint64_t before = now_ns();
	raise(SIGSTOP);
	printf("stop_itself %llu\n", (unsigned long long)(now_ns() - before));
	end_neighbour(child);
}

static void use_one_processor(void)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
}

static uint64_t sleep_ms(unsigned ms)
{
	const uint64_t start = now_ns();
	nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
	return now_ns() - start;
}

NOINLINE static uint64_t sleep_briefly(void)
{
	const uint64_t slept = sleep_ms(2);
	__asm__ volatile("");
	return slept;
}

NOINLINE static uint64_t sleep_long(void)
{
	const uint64_t slept = sleep_ms(150);
	__asm__ volatile("");
	return slept;
}

NOINLINE static void sleep_off(unsigned ms)
{
	sleep_ms(ms);
	__asm__ volatile("");
}

/* A thread may wait for a processor on its way into stop(): that is measured, and outside of
 * sleep_off. */
static void stop_and_sleep(unsigned ms)
{
	hpctoolkit_sampling_stop();
	sleep_off(ms);
	hpctoolkit_sampling_start();
}

/* Stretches shorter than a period, and longer ones. */
NOINLINE static void be_off(void)
{
	uint64_t brief = 0, at_length = 0;
	for (int i = 0; i < 300; i++) {
		brief += sleep_briefly();
		stop_and_sleep(3);
	}
	for (int i = 0; i < 4; i++) {
		at_length += sleep_long();
		stop_and_sleep(200);
	}
	printf("sleep_briefly %llu\n", (unsigned long long)brief);
	printf("sleep_long %llu\n", (unsigned long long)at_length);
}

NOINLINE static void fill_table(void)
{
	const struct rlimit limit = {32, 32};
	pthread_t t[6];
	int fd, last = -1;
	unsigned n_refused = 0;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (int i = 0; i < 6; i++)
		pthread_create(&t[i], NULL, compute, NULL);
	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		last = fd;
	for (const uint64_t end = now_ns() + 4000000000u; now_ns() < end;) {
		close(last);
		last = open("/dev/null", O_RDONLY);
		while (last < 0) {
			n_refused++;
			last = open("/dev/null", O_RDONLY);
		}
	}
	atomic_store(&is_over, 1);
	for (int i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	printf("%u opens were refused\n", n_refused);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 1;
	if (!strcmp(argv[1], "stopped")) {
		use_one_processor();
		be_stopped();
		stop_itself();
	} else if (!strcmp(argv[1], "off")) {
		be_off();
	} else {
		fill_table();
	}
	return 0;
}
