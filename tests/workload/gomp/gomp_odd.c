/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs do with libgomp beyond plain regions. Prints the same with and without measurement.
 * Usage: gomp_odd KIND.
 *
 *	kinds    each way to start a team: loops of every schedule, sections, reductions over tasks
 *	small    teams of one thread, regions in regions, what omp_* functions say inside
 *	cancel   a region that is cancelled (needs OMP_CANCELLATION=true)
 *	fork     children of a thread inside a region
 *	jump     a longjmp out of a region of one thread, again and again
 *	pools    several threads that fork teams of their own at the same time
 *	deep     more regions inside each other than we describe
 *	many     more regions than have sums of their own
 *	exit     the process ends inside a region
 *	times    uneven work in regions; prints its own clocks on standard error: instances, and ns
 *	         from fork to join, in the function, and of the longest and shortest of each
 *
 * Used by tests/cli/openmp/gomp_odd.sh.
 */
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

enum { THREADS = 2, N = 1000 };

/* ---- kinds ---- */

/* Bounds are constants: only then gcc starts team and loop with one call, each with another. */
#define FILL(name, how)                                              \
	static void fill_##name(int *to)                             \
	{                                                            \
		_Pragma(#how) for (int i = 0; i < N; i++) to[i] = i; \
	}
FILL(static, omp parallel for schedule(static))
FILL(dynamic, omp parallel for schedule(dynamic, 7))
FILL(monotonic, omp parallel for schedule(monotonic : dynamic, 7))
FILL(guided, omp parallel for schedule(guided, 3))
FILL(monotonic_guided, omp parallel for schedule(monotonic : guided, 3))
FILL(runtime, omp parallel for schedule(runtime))
FILL(monotonic_runtime, omp parallel for schedule(monotonic : runtime))
FILL(nonmonotonic_runtime, omp parallel for schedule(nonmonotonic : runtime))

static long sum_sections(int n)
{
	long a = 0, b = 0;
#pragma omp parallel sections
	{
#pragma omp section
		for (int i = 0; i < n / 2; i++)
			a += i;
#pragma omp section
		for (int i = n / 2; i < n; i++)
			b += i;
	}
	return a + b;
}

static long sum_tasks(int n)
{
	long sum = 0;
#pragma omp parallel reduction(task, + : sum)
#pragma omp single
	for (int i = 0; i < n; i++)
#pragma omp task in_reduction(+ : sum)
		sum += i;
	return sum;
}

static long sum_of(void (*fill)(int *))
{
	int to[N] = {0};
	long sum = 0;
	fill(to);
	for (int i = 0; i < N; i++)
		sum += to[i];
	return sum;
}

static void kinds(void)
{
	static void (*const each[])(int *) = {
		fill_static,	 fill_dynamic, fill_monotonic,	       fill_guided,
		fill_monotonic_guided,	       fill_runtime,	       fill_monotonic_runtime,
		fill_nonmonotonic_runtime};
	const long all = (long)N * (N - 1) / 2;
	int n_wrong = 0;
	for (int k = 0; k < 20; k++) {
		for (unsigned i = 0; i < sizeof each / sizeof *each; i++)
			n_wrong += sum_of(each[i]) != all;
		n_wrong += sum_sections(N) != all;
		n_wrong += sum_tasks(N) != all;
	}
	printf("kinds: %d wrong\n", n_wrong);
}

/* ---- others ---- */

static void small(int n)
{
	int seen[8] = {0};
#pragma omp parallel num_threads(1)
	seen[0] = omp_get_num_threads() + 10 * omp_in_parallel();
#pragma omp parallel if (n < 0)
	seen[1] = omp_get_num_threads() + 10 * omp_in_parallel();
#pragma omp parallel num_threads(THREADS)
	{
#pragma omp atomic
		seen[2] += omp_get_num_threads() + 10 * omp_in_parallel();
#pragma omp parallel num_threads(THREADS)
#pragma omp atomic
		seen[3] += omp_get_num_threads() + 10 * omp_get_level();
	}
	seen[4] = omp_in_parallel();
	printf("small: %d %d %d %d %d\n", seen[0], seen[1], seen[2], seen[3], seen[4]);
}

static void cancel(int n)
{
	int reached = 0;
	for (int i = 0; i < n; i++) {
#pragma omp parallel num_threads(THREADS)
		{
#pragma omp cancel parallel
#pragma omp atomic
			reached++;
		}
	}
	printf("cancel: %d\n", reached);
}

static void forks(void)
{
	int sum = 0;
#pragma omp parallel num_threads(THREADS)
	for (int i = 0; i < 5; i++) {
		int status = 0;
		const pid_t child = fork();
		if (child == 0)
			_exit(10 + i);
		if (child > 0 && waitpid(child, &status, 0) == child)
#pragma omp atomic
			sum += WEXITSTATUS(status);
	}
	printf("fork: %d\n", sum);
}

static jmp_buf out;
static int jumps;

static NOINLINE void jump(void)
{
#pragma omp parallel num_threads(1)
	{
		jumps++;
		longjmp(out, 1);
	}
}

static NOINLINE void jump_often(void)
{
	if (setjmp(out) == 0 || jumps < 100)
		jump();
	printf("jump: %d\n", jumps);
}

static void *pool(void *arg)
{
	long *sum = arg;
	for (int i = 0; i < 200; i++)
#pragma omp parallel num_threads(THREADS)
#pragma omp atomic
		*sum += omp_get_thread_num() + 1;
	return NULL;
}

static void pools(void)
{
	enum { POOLS = 4 };
	pthread_t thread[POOLS];
	long sum[POOLS] = {0};
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < POOLS; i++)
			pthread_create(&thread[i], NULL, pool, &sum[i]);
		for (int i = 0; i < POOLS; i++)
			pthread_join(thread[i], NULL);
	}
	printf("pools: %ld %ld %ld %ld\n", sum[0], sum[1], sum[2], sum[3]);
}

static int deepest;

static NOINLINE void deep(int n)
{
	if (n == 0)
		deepest = omp_get_level();
	else
#pragma omp parallel num_threads(1)
		deep(n - 1);
}

#define REGION_1 _Pragma("omp parallel num_threads(1)") many_n++;
#define REGION_5 REGION_1 REGION_1 REGION_1 REGION_1 REGION_1
#define REGION_25 REGION_5 REGION_5 REGION_5 REGION_5 REGION_5
#define REGION_150 REGION_25 REGION_25 REGION_25 REGION_25 REGION_25 REGION_25
static int many_n;

static void many(void)
{
	REGION_150 REGION_150 REGION_150 REGION_150
	printf("many: %d\n", many_n);
}

static long now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static NOINLINE void burn(long ns)
{
	const long end = now_ns() + ns;
	while (now_ns() < end)
		;
}

static void times(void)
{
	enum { INSTANCES = 50, SHORT_NS = 200000 };
	long elapsed = 0, busy = 0, longest = 0, shortest = 0;
	for (int i = 0; i < INSTANCES; i++) {
		long in[THREADS] = {0};
		const long start = now_ns();
#pragma omp parallel num_threads(THREADS)
		{
			const long enter = now_ns();
			burn((1 + 3 * omp_get_thread_num()) * SHORT_NS);
			in[omp_get_thread_num()] = now_ns() - enter;
		}
		elapsed += now_ns() - start;
		busy += in[0] + in[1];
		longest += in[0] > in[1] ? in[0] : in[1];
		shortest += in[0] < in[1] ? in[0] : in[1];
	}
	fprintf(stderr, "%d %ld %ld %ld %ld\n", INSTANCES, elapsed, busy, longest, shortest);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	omp_set_num_threads(THREADS);
	if (!strcmp(kind, "kinds"))
		kinds();
	else if (!strcmp(kind, "small"))
		small(argc);
	else if (!strcmp(kind, "cancel"))
		cancel(50);
	else if (!strcmp(kind, "fork"))
		forks();
	else if (!strcmp(kind, "jump"))
		jump_often();
	else if (!strcmp(kind, "pools"))
		pools();
	else if (!strcmp(kind, "deep")) {
		deep(40);
		printf("deep: %d\n", deepest);
	} else if (!strcmp(kind, "many"))
		many();
	else if (!strcmp(kind, "times"))
		times();
	else if (!strcmp(kind, "exit")) {
#pragma omp parallel num_threads(THREADS)
#pragma omp single
		{
			puts("exit: inside");
			exit(7);
		}
	} else
		return 2;
	return 0;
}
