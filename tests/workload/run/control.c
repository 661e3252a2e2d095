/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that starts and stops its measurement (hpctoolkit.h), each part in functions whose
 * names say whether they are measured. Arguments: the case. What is true is in
 * tests/cli/run/control.sh, which runs it. At its end each process says on the standard error what
 * CPU time these functions took by the threads' own clocks: "truth NAME NANOSECONDS".
 */
#include "tests/workload/run/control.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_THREADS 4

static volatile double sink;
static _Atomic uint64_t measured_ns, not_measured_ns;

/* By the CPU clock of the calling thread. */
static uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What it took: more than was asked for, where the machine takes the processor away and does not
 * tell the clock. */
static uint64_t burn(unsigned ms)
{
	uint64_t begin = cpu_ns(), took;
	double x = 1;
	do
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 0.5;
	while ((took = cpu_ns() - begin) < ms * UINT64_C(1000000));
	sink = x;
	return took;
}

APART static void measured(unsigned ms)
{
	measured_ns += burn(ms);
	sink = 1;
}

APART static void not_measured(unsigned ms)
{
	not_measured_ns += burn(ms);
	sink = 2;
}

static void tell(void)
{
	fprintf(stderr, "truth measured %llu\ntruth not_measured %llu\n",
		(unsigned long long)measured_ns, (unsigned long long)not_measured_ns);
}

static void say(void)
{
	printf("active %d\n", hpctoolkit_sampling_is_active());
	fflush(stdout);
}

/* ---- one thread ---- */

static void once(void)
{
	say();
	measured(100);
	hpctoolkit_sampling_stop();
	say();
	not_measured(100);
	hpctoolkit_sampling_start();
	say();
	measured(100);
}

/* For --delay-sampling. */
static void late(void)
{
	say();
	not_measured(100);
	hpctoolkit_sampling_start();
	say();
	measured(150);
}

static void bad(void)
{
	hpctoolkit_sampling_start();
	hpctoolkit_sampling_start();
	measured(100);
	for (int i = 0; i < 3; i++)
		hpctoolkit_sampling_stop();
	not_measured(100);
	hpctoolkit_sampling_start();
	measured(100);
}

static void often(void)
{
	for (int i = 0; i < 20000; i++) {
		hpctoolkit_sampling_stop();
		hpctoolkit_sampling_start();
	}
	measured(100);
}

/* ---- threads ---- */

static sem_t go, done;
static _Atomic int phase;

static void wait_for(sem_t *s)
{
	while (sem_wait(s) != 0)
		;
}

static void *worker(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++) {
		wait_for(&go);
		if (phase == 1)
			not_measured(40);
		else
			measured(40);
		sem_post(&done);
	}
	return NULL;
}

static void *busy(void *arg)
{
	(void)arg;
	not_measured(30);
	return NULL;
}

static void *brief(void *arg)
{
	(void)arg;
	burn(10);
	return NULL;
}

static void run_phase(int n)
{
	phase = n;
	for (int i = 0; i < N_THREADS; i++)
		sem_post(&go);
	for (int i = 0; i < N_THREADS; i++)
		wait_for(&done);
}

static void threads(void)
{
	pthread_t t[N_THREADS], later[N_THREADS];
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	run_phase(0);
	hpctoolkit_sampling_stop();
	run_phase(1);
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&later[i], NULL, busy, NULL);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(later[i], NULL);
	hpctoolkit_sampling_start();
	run_phase(2);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(t[i], NULL);
}

static _Atomic int end;

static void *flicker(void *arg)
{
	(void)arg;
	while (!end) {
		hpctoolkit_sampling_stop();
		hpctoolkit_sampling_start();
	}
	return NULL;
}

/* Several threads switch while others work and are born and die. */
static void storm(void)
{
	pthread_t f[2], w[4];
	for (int i = 0; i < 2; i++)
		pthread_create(&f[i], NULL, flicker, NULL);
	for (int k = 0; k < 5; k++) {
		for (int i = 0; i < 4; i++)
			pthread_create(&w[i], NULL, brief, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(w[i], NULL);
	}
	end = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(f[i], NULL);
	hpctoolkit_sampling_start();
	measured(100);
}

/* ---- signal handlers, children ---- */

static void handler(void)
{
	control_by_signals();
	measured(100);
	raise(SIGUSR1);
	say();
	not_measured(100);
	raise(SIGUSR2);
	say();
	measured(100);
}

/* The child of a fork goes on as its parent was, and switches for itself. */
static void forks(void)
{
	hpctoolkit_sampling_stop();
	pid_t child = fork();
	if (child == 0) {
		measured_ns = not_measured_ns = 0;
		not_measured(100);
		hpctoolkit_sampling_start();
		measured(100);
		exit(0);
	}
	not_measured(100);
	waitpid(child, NULL, 0);
	say();
	pid_t bare = vfork();
	if (bare == 0) {
		hpctoolkit_sampling_start(); /* not this process's measurement */
		_exit(0);
	}
	waitpid(bare, NULL, 0);
	say();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"once", once},       {"late", late},       {"bad", bad},
		     {"often", often},     {"threads", threads}, {"storm", storm},
		     {"handler", handler}, {"forks", forks}};
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(argv[1], cases[i].name)) {
			atexit(tell);
			cases[i].run();
			return 0;
		}
	return 2;
}
