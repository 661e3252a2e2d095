/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs with one known cause of lost time each, for tests/cli/parallel/findings.sh: planted CAUSE
 * [FILE]. Work is measured in CPU time, so that other programs do not change it; it
 * is enough for 100 samples where a busy machine gives 250 a second. Prints nothing.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;
static volatile uint64_t result;

static double cpu_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void compute(double seconds)
{
	const double end = cpu_seconds() + seconds;
	while (cpu_seconds() < end)
		for (unsigned i = 0; i < 2000; i++)
			result = result * 6364136223846793005u + i;
}

/* ---- one thread ---- */

static void sleeps(void)
{
	for (int i = 0; i < 20; i++) {
		compute(0.025);
		nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
	}
}

static void writes(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	const double end = cpu_seconds() + 0.5;
	for (unsigned n = 0; cpu_seconds() < end; n++)
		for (unsigned i = 0; i < 100; i++)
			if (pwrite(fd, "12345678\n", 9, (off_t)(n % 100 * 900 + i * 9)) != 9)
				exit(1);
	close(fd);
}

static void maps(void)
{
	enum { BYTES = 32 << 20 };
	const double end = cpu_seconds() + 0.5;
	while (cpu_seconds() < end) {
		char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);
		if (at == MAP_FAILED)
			exit(1);
		madvise(at, BYTES, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < BYTES; i += 4096)
			at[i] = 1;
		munmap(at, BYTES);
	}
}

/* ---- two threads ---- */

static void *holds(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&together);
	for (int i = 0; i < 40; i++) {
		pthread_mutex_lock(&lock);
		compute(0.006);
		pthread_mutex_unlock(&lock);
		compute(0.0002);
	}
	return NULL;
}

static void *works(void *seconds)
{
	pthread_barrier_wait(&together);
	compute(*(const double *)seconds);
	return NULL;
}

static void two(void *(*run)(void *), double first, double second)
{
	double seconds[] = {first, second};
	pthread_t t[2];
	pthread_barrier_init(&together, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, run, &seconds[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
	const char *cause = argc > 1 ? argv[1] : "";
	if (!strcmp(cause, "sleep"))
		sleeps();
	else if (!strcmp(cause, "file-calls") && argc > 2)
		writes(argv[2]);
	else if (!strcmp(cause, "page-faults"))
		maps();
	else if (!strcmp(cause, "mutex"))
		two(holds, 0, 0);
	else if (!strcmp(cause, "balance"))
		two(works, 0.5, 0.1);
	else if (!strcmp(cause, "none"))
		two(works, 0.25, 0.25);
	else if (!strcmp(cause, "few-samples"))
		compute(0.02);
	else
		return 2;
	return 0;
}
