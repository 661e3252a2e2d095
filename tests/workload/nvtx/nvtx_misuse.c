/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs do to NVTX by mistake, or without a thought. The first argument says what:
 *
 *	exec    a range is open while execve() fails, and is popped after it
 *	steps   40 ranges with a number in their name, each around 600 with names of their own
 *	leak    2,000 ranges are started and ended; 5,000 are started and not ended; then 100 are
 *	together  16 threads name themselves, and push 200 ranges each with a new name and 200 with
 *	        a new registered string, at the same time
 *	handler  a handler of SIGALRM pushes, marks, starts and ends ranges, and burns CPU time,
 *	        while the thread pushes one of 9,000 names and starts ranges
 *	strict  only read, write and exit are allowed (seccomp), when a range with a new name comes
 */
#include "tests/workload/nvtx/nvtx_client.h"

#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void burn(double seconds)
{
	const double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;
	volatile double x = 0;
	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 1000; i++)
			x = x + i;
}

static void exec(void)
{
	client_push("around exec");
	burn(0.2);
	execl("/nonexistent/program", "program", (char *)NULL);
	client_pop();
	burn(0.4);
}

static void leak(void)
{
	for (int i = 0; i < 2000; i++)
		client_end(client_begin("ended"));
	for (int i = 0; i < 5000; i++)
		client_begin("never ended");
	for (int i = 0; i < 100; i++)
		client_end(client_begin("beside the leak"));
}

static void steps(void)
{
	char name[64];
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof name, "step%d", i);
		client_push(name);
		for (int k = 0; k < 600; k++) {
			snprintf(name, sizeof name, "%d op", k);
			client_push(name);
			client_pop();
		}
		client_pop();
	}
}

enum { THREADS = 16, NAMES = 200 };
static pthread_barrier_t all_here;

static void *name_things(void *number)
{
	const int me = *(int *)number;
	char text[64];
	void *domain = client_domain("together");
	snprintf(text, sizeof text, "worker %c", 'a' + me);
	pthread_barrier_wait(&all_here);
	client_name_thread((uint32_t)syscall(SYS_gettid), text);
	for (int i = 0; i < NAMES; i++) {
		snprintf(text, sizeof text, "%d of %c", i, 'a' + me);
		client_push(text);
		client_pop();
		const struct client_attributes a = {.version = 3,
						    .size = sizeof a,
						    .text_type = 3,
						    .text = client_string(domain, text)};
		client_push_in(domain, &a);
		client_pop_in(domain);
	}
	burn(0.005); /* threads without samples are not shown */
	return NULL;
}

static void together(void)
{
	pthread_t thread[THREADS];
	int number[THREADS];
	pthread_barrier_init(&all_here, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		pthread_create(&thread[i], NULL, name_things, &number[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void strict(void)
{
	client_push("before");
	client_pop();
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	client_push("under a filter");
	client_string(NULL, "a new string");
	client_pop();
	syscall(SYS_exit, 7);
}

static volatile sig_atomic_t n_alarms;

static void on_alarm(int number)
{
	char name[32];
	(void)number;
	n_alarms++;
	sprintf(name, "in handler %d", n_alarms & 3);
	client_push(name);
	client_mark("mark in handler");
	client_pop();
	client_end(client_begin("started in handler"));
	for (volatile int i = 0; i < 20000; i++)
		;
}

static void handler(void)
{
	const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	char name[64];
	signal(SIGALRM, on_alarm);
	client_push("around");
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned i = 0; i < 150000; i++) {
		sprintf(name, "name%xx", i * 7919 % 9000);
		client_push(name);
		client_pop();
		client_end(client_begin("started"));
	}
	setitimer(ITIMER_REAL, &never, NULL);
	client_pop();
	printf("%d alarms\n", (int)n_alarms);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	client_start();
	if (!strcmp(mode, "exec"))
		exec();
	if (!strcmp(mode, "handler"))
		handler();
	if (!strcmp(mode, "steps"))
		steps();
	if (!strcmp(mode, "together"))
		together();
	if (!strcmp(mode, "leak"))
		leak();
	if (!strcmp(mode, "strict"))
		strict();
	puts("done");
	return 0;
}
