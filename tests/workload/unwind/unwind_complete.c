/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts complete stacks in any program: preloaded, it samples the main thread all the time with
 * our unwinder alone and says at exit how many paths reached the root: "samples N complete M marked
 * K". For tests/cli/unwind/unwind_complete.sh; not part of the product.
 */
#include "hpcrun-lite/unwind/unwind.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { MAX_DEPTH = 1024, PERIOD_US = 200 };

static struct unwind_thread *thread;
static pthread_t main_thread;
static unsigned long n_samples, n_complete, n_marked, ends[UNWIND_N_ENDS];

static void on_sample(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	const int saved_errno = errno;
	struct unwind_path path;
	if (!pthread_equal(pthread_self(), main_thread))
		return;
	unwind_walk(thread, context, &path);
	n_samples++;
	n_complete += path.end == UNWIND_ROOT;
	n_marked += path.heuristic;
	ends[path.end]++;
	errno = saved_errno;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_attr_t attr;
	void *lo;
	size_t bytes;
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &lo, &bytes);
	pthread_attr_destroy(&attr);
	main_thread = pthread_self();
	const struct unwind_stack stack = {(uintptr_t)lo, (uintptr_t)lo + bytes, true, 0};
	thread = unwind_thread_init(calloc(1, unwind_thread_bytes(MAX_DEPTH)), MAX_DEPTH, &stack);
	sigaction(
		SIGSTKFLT,
		&(struct sigaction){.sa_sigaction = on_sample, .sa_flags = SA_SIGINFO | SA_RESTART},
		NULL);
	timer_t timer;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGSTKFLT};
	const struct itimerspec period = {{0, PERIOD_US * 1000}, {0, PERIOD_US * 1000}};
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		timer_settime(timer, 0, &period, NULL);
}

__attribute__((destructor)) static void end(void)
{
	signal(SIGSTKFLT, SIG_IGN);
	const char *name = getenv("UNWIND_COMPLETE");
	FILE *out = name ? fopen(name, "w") : NULL;
	if (!out)
		return;
	fprintf(out, "samples %lu complete %lu marked %lu\n", n_samples, n_complete, n_marked);
	for (unsigned i = 0; i < UNWIND_N_ENDS; i++)
		if (ends[i] && i != UNWIND_ROOT)
			fprintf(out, "%s %lu\n", unwind_end_name((enum unwind_end)i), ends[i]);
	fclose(out);
}
