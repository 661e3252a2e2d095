/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs two commands in turn, A B A B ..., and prints the ratios A/B pair by pair as minimum, median
 * and maximum, so that a comparison holds while the machine's speed drifts: wall time, CPU time,
 * and the largest resident size. Their output is thrown away. For the benchmarks; asserts nothing.
 *
 *     pairs N LABEL 'command A' 'command B'
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct cost {
	double wall_s, cpu_s, rss_kib;
};

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static struct cost run(const char *command)
{
	double start = now_s();
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	int status;
	struct rusage r;
	if (pid < 0 || wait4(pid, &status, 0, &r) != pid) {
		fprintf(stderr, "pairs: %s: %s\n", command, strerror(errno));
		exit(1);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126) {
		fprintf(stderr, "pairs: failed: %s\n", command);
		exit(1);
	}
	return (struct cost){now_s() - start, seconds(r.ru_utime) + seconds(r.ru_stime),
			     (double)r.ru_maxrss};
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void print_row(const char *what, double *v, int n)
{
	qsort(v, (size_t)n, sizeof *v, by_value);
	printf("  %-22s min %.3f  median %.3f  max %.3f\n", what, v[0], v[n / 2], v[n - 1]);
}

int main(int argc, char **argv)
{
	int n = argc == 5 ? atoi(argv[1]) : 0;
	if (n < 1 || n > 1000) {
		fprintf(stderr, "usage: pairs N LABEL 'command A' 'command B'\n");
		return 2;
	}
	double *v = calloc((size_t)n * 6, sizeof *v);
	if (!v)
		return 1;
	double *wall = v, *cpu = v + n, *rss = v + 2 * n, *a_wall = v + 3 * n, *b_wall = v + 4 * n,
	       *rss_more = v + 5 * n;
	run(argv[3]);
	run(argv[4]);
	for (int i = 0; i < n; i++) {
		struct cost a = run(argv[3]), b = run(argv[4]);
		wall[i] = a.wall_s / b.wall_s;
		cpu[i] = a.cpu_s / b.cpu_s;
		rss[i] = a.rss_kib / b.rss_kib;
		rss_more[i] = (a.rss_kib - b.rss_kib) / 1024;
		a_wall[i] = 1000 * (a.wall_s - b.wall_s);
		b_wall[i] = 1000 * b.wall_s;
	}
	printf("%s (%d pairs)\n", argv[2], n);
	print_row("wall, A/B", wall, n);
	print_row("CPU, A/B", cpu, n);
	print_row("resident, A/B", rss, n);
	print_row("resident, A-B in MiB", rss_more, n);
	print_row("wall, A-B in ms", a_wall, n);
	print_row("wall of B in ms", b_wall, n);
	free(v);
	return 0;
}
