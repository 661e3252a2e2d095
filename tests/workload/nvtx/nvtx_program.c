/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses NVTX as its headers do. The first argument says how:
 *
 *	ranges   outer (0.6 s of CPU time) around inner (0.4 s), domains, marks, a second thread
 *	limits   unbalanced pops, open ranges, deep stacks, many names, bytes that are not UTF-8
 *	fork     a child uses names, a registered string and a domain of its parent
 *	phases   setup and three steps of 5,000 parts, beside a thread; prints their seconds
 *	speed N  pushes and pops N times, in blocks in turn with a tool that does nothing; prints
 *	         the CPU time of a pair in ns: with the tool, with nothing, and their difference,
 *	         in the fastest blocks
 */
#include "tests/workload/nvtx/nvtx_client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

__attribute__((noinline)) static void nested(void)
{
	client_push("outer");
	burn(0.2);
	client_push_wide(L"inn\u00e9r");
	burn(0.4);
	client_pop();
	client_pop();
	burn(0.1);
}

/* The inner range begins at one place of the stack, inside of two ranges. */
__attribute__((noinline)) static void twice(void)
{
	for (int i = 0; i < 2; i++) {
		client_push(i ? "second of two" : "first of two");
		client_push("in both");
		burn(0.2);
		client_pop();
		client_pop();
	}
}

static void *other(void *started)
{
	client_name_thread((uint32_t)syscall(SYS_gettid), "helper of ranges");
	client_end(*(uint64_t *)started);
	client_push("ends with its thread");
	burn(0.05);
	return NULL;
}

static void ranges(void)
{
	void *domain = client_domain("solver"), *string = client_string(domain, "step");
	struct client_attributes a = {.version = 3,
				      .size = sizeof a,
				      .category = 7,
				      .value_type = 3,
				      .value = {.d = 2.5},
				      .text_type = 1,
				      .text = "iterate"};
	pthread_t thread;
	nested();
	twice();
	client_name_category(domain, 7, "linear");
	for (int i = 0; i < 100; i++) {
		client_push_in(domain, &a);
		client_mark("tick");
		client_push("default");
		client_pop_in(domain); /* not the innermost range, but that of its domain */
		client_pop();
	}
	a.category = 0;
	a.text_type = 3;
	a.text = string;
	client_push_in(domain, &a);
	client_pop_in(domain);
	a.text_type = 1;
	a.text = "same text";
	for (int i = 0; i < 6; i++) { /* the same place in two domains, and in a category */
		void *in = i % 3 ? domain : NULL;
		a.category = i % 3 == 2 ? 7 : 0;
		client_push_in(in, &a);
		client_pop_in(in);
	}
	client_push("aten::conv2d, seq = 12, op_id = 40");
	client_pop();
	client_push("aten::conv2d, seq = 13, op_id = 41");
	client_pop();
	uint64_t started = client_begin("from thread to thread"), same = client_begin("same");
	pthread_create(&thread, NULL, other, &started);
	pthread_join(thread, NULL);
	client_end(same);
	client_end(same);
	client_end(12345678);
}

static void limits(void)
{
	char name[1024];
	for (int i = 0; i < 10; i++)
		client_pop();
	for (int i = 0; i < 500; i++)
		client_push("deep");
	for (int i = 0; i < 500; i++)
		client_pop();
	client_push("open at exit");
	client_push("\xff\xfe bytes \x80");
	client_pop();
	client_push(NULL);
	client_pop();
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	client_push(name);
	client_pop();
	for (int i = 0; i < 100000; i++) {
		snprintf(name, sizeof name, "%d name", i);
		client_push(name);
		client_pop();
	}
}

static void forks(void)
{
	void *domain = client_domain("of the parent"), *string = client_string(domain, "shared");
	const struct client_attributes a = {
		.version = 3, .size = sizeof a, .text_type = 3, .text = string};
	client_push_in(domain, &a);
	const pid_t child = fork();
	if (child == 0) {
		client_pop_in(domain); /* was pushed by the parent: not measured here */
		for (int i = 0; i < 3; i++) {
			client_push_in(domain, &a);
			client_pop_in(domain);
		}
		client_push("of the child");
		burn(0.05);
		client_pop();
		exit(0);
	}
	waitpid(child, NULL, 0);
	client_pop_in(domain);
}

static void *beside(void *done)
{
	while (!*(atomic_bool *)done)
		burn(0.01);
	return NULL;
}

/* A range of domain a that a range of domain b outlives, and one in the middle of both. */
static void cross(void)
{
	void *a = client_domain("a");
	const struct client_attributes x = {
		.version = 3, .size = sizeof x, .text_type = 1, .text = "first"};
	client_push_in(a, &x);
	burn(0.01);
	client_push("second");
	client_push("inside");
	burn(0.01);
	client_pop();
	client_pop_in(a);
	burn(0.01);
	client_pop();
}

static void phases(void)
{
	pthread_t thread;
	atomic_bool done = false;
	double start = now(CLOCK_MONOTONIC);
	pthread_create(&thread, NULL, beside, &done);
	client_push("setup");
	burn(0.1);
	client_pop();
	printf("%.4f\n", now(CLOCK_MONOTONIC) - start);
	start = now(CLOCK_MONOTONIC);
	for (int i = 0; i < 3; i++) {
		const struct client_attributes step = {.version = 3,
						       .size = sizeof step,
						       .value_type = 3,
						       .value = {.d = (double[]){2, 1.5, 3}[i]},
						       .text_type = 1,
						       .text = "step"};
		client_push_in(NULL, &step);
		for (int k = 0; k < 5000; k++) {
			client_push("part");
			client_pop();
		}
		client_mark("tick");
		burn(0.1);
		client_pop();
	}
	printf("%.4f\n", now(CLOCK_MONOTONIC) - start);
	cross();
	done = true;
	pthread_join(thread, NULL);
}

static int push_nothing(const char *name)
{
	(void)name;
	return -2;
}
static int pop_nothing(void)
{
	return -2;
}

/* Three ranges inside of each other, as programs have them. Returns ns of a pair. */
__attribute__((noinline)) static double time_block(int n)
{
	const double start = now(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < n; i++) {
		client_push("iteration");
		client_push("solve");
		client_push("exchange");
		client_pop();
		client_pop();
		client_pop();
	}
	return (now(CLOCK_THREAD_CPUTIME_ID) - start) / (3 * n) * 1e9;
}

static void speed(int n)
{
	enum { BLOCK = 1000 };
	double least[2] = {1e9, 1e9};
	client_fn *const tool[2] = {client_core[9], client_core[11]};
	for (int done = 0; done < n; done += 3 * BLOCK)
		for (int is_nothing = 0; is_nothing < 2; is_nothing++) {
			client_core[9] = is_nothing ? (client_fn *)push_nothing : tool[0];
			client_core[11] = is_nothing ? (client_fn *)pop_nothing : tool[1];
			const double ns = time_block(BLOCK);
			if (ns < least[is_nothing])
				least[is_nothing] = ns;
		}
	client_core[9] = tool[0];
	client_core[11] = tool[1];
	printf("%.1f %.1f %.1f\n", least[0], least[1], least[0] - least[1]);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	const int found = client_start();
	extern char **environ;
	for (char **e = environ; *e; e++)
		if (!strncmp(*e, "NVTX_INJECTION64_PATH=", 22))
			puts(*e);
	if (!strcmp(mode, "found"))
		printf("%d\n", found);
	if (!strcmp(mode, "ranges"))
		ranges();
	if (!strcmp(mode, "limits"))
		limits();
	if (!strcmp(mode, "fork"))
		forks();
	if (!strcmp(mode, "phases"))
		phases();
	if (!strcmp(mode, "speed") && argc > 2)
		speed(atoi(argv[2]));
	const int pushed = client_push("last"), popped = client_pop();
	printf("%d %d\n", pushed, popped);
	return 0;
}
