/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that live and end in every way, for the tests of the run time. Usage: run_life MODE
 * [NUMBER]... CPU time is spent by the CPU clock, so results do not depend on the load of the
 * machine. Prints what the test needs to know.
 */
#include "tests/workload/older.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void burn(double seconds)
{
	double end = cpu() + seconds;
	volatile double x = 0;
	while (cpu() < end)
		for (int i = 0; i < 100000; i++)
			x = x + i;
}

__attribute__((noinline)) static void burn_kernel(double seconds)
{
	static char buffer[1 << 20];
	int fd = open("/dev/zero", O_RDONLY);
	double end = cpu() + seconds;
	while (cpu() < end)
		for (int i = 0; i < 4; i++)
			if (read(fd, buffer, sizeof buffer) < 0)
				exit(9);
	close(fd);
}

/* ---- threads that switch --------------------------------------------------------------------- */

struct player {
	int from, to;
	/* of CPU time, then it ends the game; 0: it goes on until the other one does */
	double seconds;
};

static void *play(void *argument)
{
	const struct player *p = argument;
	char c = 1;
	double end = p->seconds > 0 ? cpu() + p->seconds : 0;
	for (long n = 0; c && read(p->from, &c, 1) == 1;) {
		if (c && end > 0 && ++n % 64 == 0 && cpu() >= end)
			c = 0;
		if (write(p->to, &c, 1) != 1)
			break;
	}
	return NULL;
}

/* Two threads on one processor pass a byte to and fro: each turn is a switch. */
static void ping_pong(double seconds)
{
	int a[2], b[2];
	cpu_set_t all, one;
	pthread_t other;
	sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all) && CPU_COUNT(&one) == 0)
			CPU_SET(i, &one);
	if (sched_setaffinity(0, sizeof one, &one) || pipe(a) || pipe(b) ||
	    write(a[1], "x", 1) != 1)
		exit(9);
	pthread_create(&other, NULL, play, &(struct player){.from = b[0], .to = a[1]});
	play(&(struct player){.from = a[0], .to = b[1], .seconds = seconds});
	close(b[1]);
	pthread_join(other, NULL);
	sched_setaffinity(0, sizeof all, &all);
}

static double number(char **argv, int i, double otherwise)
{
	for (int j = 0; j <= i; j++)
		if (!argv[j])
			return otherwise;
	return atof(argv[i]);
}

static void *burn_thread(void *seconds)
{
	burn(*(double *)seconds);
	return seconds;
}

static int burn_c11(void *seconds)
{
	burn(*(double *)seconds);
	return 42;
}

/* spin USER KERNEL USER: seconds of CPU time. */
static int spin(char **argv)
{
	burn(number(argv, 0, 1));
	burn_kernel(number(argv, 1, 0));
	burn(number(argv, 2, 0));
	return 0;
}

/* drop-rights SECONDS: goes on as an ordinary user. */
static int drop_rights(char **argv)
{
	if (setgid(65534) != 0 || setuid(65534) != 0)
		return 98;
	burn(number(argv, 0, 1));
	return 0;
}

/* threads N SECONDS: N threads, eight at a time. */
static int many_threads(char **argv)
{
	int n = (int)number(argv, 0, 8);
	double seconds = number(argv, 1, 0);
	for (int i = 0; i < n; i += 8) {
		pthread_t thread[8];
		int m = n - i < 8 ? n - i : 8;
		for (int j = 0; j < m; j++)
			if (pthread_create(&thread[j], NULL, burn_thread, &seconds) != 0)
				return 1;
		for (int j = 0; j < m; j++) {
			void *result;
			if (pthread_join(thread[j], &result) != 0 || result != &seconds)
				return 2;
		}
	}
	return 0;
}

static int c11_threads(char **argv)
{
	double seconds = number(argv, 0, 0.1);
	int result;
	thrd_t thread;
	return thrd_create(&thread, burn_c11, &seconds) == thrd_success &&
			       thrd_join(thread, &result) == thrd_success && result == 42
		       ? 0
		       : 1;
}

static void *burn_then_exit(void *seconds)
{
	burn(*(double *)seconds);
	exit(5);
}

/* Ends the main thread; another ends the process. */
static int outlive(char **argv)
{
	static double seconds;
	pthread_t thread;
	seconds = number(argv, 0, 0.2);
	burn(seconds);
	if (pthread_create(&thread, NULL, burn_then_exit, &seconds) == 0)
		pthread_exit(NULL);
	return 1;
}

/* The process ends while threads run. */
static int abandon(char **argv)
{
	static double seconds = 1000;
	pthread_t thread;
	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, burn_thread, &seconds) != 0 ||
		    pthread_setname_np(thread, "worker") != 0)
			return 1;
	burn(number(argv, 0, 0.2));
	return 6;
}

static void *cancelled(void *unused)
{
	for (;;) {
		burn(0.01);
		pthread_testcancel();
	}
	return unused;
}

static int cancel(char **argv)
{
	pthread_t thread;
	void *result;
	if (pthread_create(&thread, NULL, cancelled, NULL) != 0)
		return 1;
	burn(number(argv, 0, 0.1));
	pthread_cancel(thread);
	return pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED ? 0 : 2;
}

static int wait_all(int n)
{
	int bad = 0, status;
	for (int i = 0; i < n; i++)
		bad += wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 7;
	return bad;
}

/* forks N: children that burn, with a thread of their own, and exit 7. */
static int forks(char **argv)
{
	int n = (int)number(argv, 0, 3);
	static double seconds = 0.1;
	burn(0.1);
	for (int i = 0; i < n; i++)
		if (fork() == 0) {
			pthread_t thread;
			if (pthread_create(&thread, NULL, burn_thread, &seconds) != 0)
				exit(1);
			burn(seconds);
			pthread_join(thread, NULL);
			exit(7);
		}
	burn(0.1);
	return wait_all(n);
}

/* small-forks N: children that end at once; every second one has a child. */
static int small_forks(char **argv)
{
	int n = (int)number(argv, 0, 20), bad = 0;
	burn(0.1);
	for (int i = 0; i < n; i++) {
		if (fork() == 0) {
			if (i % 2 && fork() == 0)
				_exit(7);
			wait(NULL);
			exit(7);
		}
		bad += wait_all(1);
	}
	return bad;
}

static int wander_for(char **argv);

/*
 * lone-forks WHAT: a child without threads that is killed at once, or runs: as it is, as another
 * user, in another root directory. As it is, its tree grows, so it records much at any rate.
 */
static int lone_forks(char **argv)
{
	const char *what = argv[0] ? argv[0] : "wander";
	int status;
	if (fork() == 0) {
		if (strcmp(what, "killed") == 0)
			raise(SIGKILL);
		if (strcmp(what, "user") == 0 && setuid(65534) != 0)
			exit(1);
		if (strcmp(what, "user-by-number") == 0 && syscall(SYS_setuid, 65534) != 0)
			_exit(1);
		if (strcmp(what, "user-of-files") == 0)
			setfsuid(65534);
		if (strcmp(what, "root") == 0 && chroot("/usr") != 0)
			exit(1);
		if (strcmp(what, "wander") == 0)
			wander_for((char *[]){(char *)(uintptr_t)"0.3", NULL});
		else
			burn(0.3);
		exit(7);
	}
	if (strcmp(what, "killed") == 0)
		return wait(&status) < 0 || !WIFSIGNALED(status);
	return wait_all(1);
}

static void *fork_in_thread(void *unused)
{
	burn(0.05);
	if (fork() == 0) {
		burn(0.1);
		exit(7);
	}
	return unused;
}

static int thread_forks(char **argv)
{
	pthread_t thread;
	(void)argv;
	if (pthread_create(&thread, NULL, fork_in_thread, NULL) != 0)
		return 1;
	burn(0.2);
	pthread_join(thread, NULL);
	return wait_all(1);
}

/* Children that libc is not told of. They share our file's mapping if nothing prevents it. */
static int bare_forks(char **argv)
{
	(void)argv;
	burn(0.1);
	if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
		burn(0.1);
		_exit(7);
	}
	if (_Fork() == 0) {
		static double seconds = 0.1;
		pthread_t thread;
		burn(0.1);
		if (pthread_create(&thread, NULL, burn_thread, &seconds) != 0)
			_exit(1);
		pthread_join(thread, NULL);
		_exit(7);
	}
	burn(0.1);
	return wait_all(2);
}

static void leave_thread(int is_child)
{
	if (is_child)
		pthread_exit(NULL); /* the last thread: the process ends with 0 */
}

/* denied-forks: children that cannot be measured, since their parent has gone where it may write no
 * file, or libc is not told of them. */
static int denied_forks(char **argv)
{
	int status, bad = 0;
	(void)argv;
	burn(0.05);
	leave_thread(_Fork() == 0);
	leave_thread(_Fork() == 0);
	if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}) != 0)
		return 98;
	leave_thread(fork() == 0);
	for (int i = 0; i < 3; i++)
		bad += wait(&status) < 0 || status != 0;
	return bad;
}

static int vforks(char **argv)
{
	char *const command[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
				 (char *)(uintptr_t) "exit 7", NULL};
	(void)argv;
	burn(0.1);
	for (int i = 0; i < 5; i++) {
		pid_t child = vfork();
		if (child == 0) {
			execv("/bin/sh", command);
			_exit(1);
		}
	}
	pid_t child = vfork();
	if (child == 0)
		_exit(7); /* must not end the parent's measurement */
	burn(0.2);
	return wait_all(6);
}

/* Runs until it is killed; grows its tree all the time. */
__attribute__((noinline)) static int wander(unsigned bits, int depth)
{
	volatile int x = 0;
	if (depth == 0) {
		for (int i = 0; i < 20000; i++)
			x += i;
		return x;
	}
	if (bits & 1) {
		x = wander(bits >> 1, depth - 1);
		__asm__ volatile("");
		return x + 1;
	}
	x = wander(bits >> 1, depth - 1);
	__asm__ volatile("" ::: "memory");
	return x + 2;
}

static void *wander_thread(void *seed)
{
	for (unsigned bits = (unsigned)(uintptr_t)seed;; bits = bits * 1664525u + 1013904223u)
		wander(bits >> 8, 16);
	return NULL;
}

static int forever(char **argv)
{
	pthread_t thread;
	(void)argv;
	for (uintptr_t i = 1; i < 4; i++)
		if (pthread_create(&thread, NULL, wander_thread, (void *)i) != 0)
			return 1;
	wander_thread((void *)(uintptr_t)77);
	return 0;
}

/* wander SECONDS: the same for a while. */
static int wander_for(char **argv)
{
	double end = cpu() + number(argv, 0, 1);
	for (unsigned bits = 1; cpu() < end; bits = bits * 1664525u + 1013904223u)
		wander(bits >> 8, 16);
	return 0;
}

/* plugins FILE N SECONDS: opens, runs and closes a library, which is mapped elsewhere each time. */
static int plugins(char **argv)
{
	int n = (int)number(argv, 1, 5);
	for (int i = 0; i < n; i++) {
		void *in_the_way =
			mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		void *library = dlopen(argv[0], RTLD_NOW);
		void (*run)(double);
		if (!library)
			return 1;
		*(void **)&run = dlsym(library, "plugin_run");
		run(number(argv, 2, 0.05));
		if (dlclose(library) != 0)
			return 2;
		if (i % 2)
			munmap(in_the_way, 1 << 20);
	}
	return 0;
}

static void *plugins_thread(void *argv)
{
	char stat[64], line[256], state = 0;
	/* The state of the main thread follows its name in parentheses. */
	snprintf(stat, sizeof stat, "/proc/self/task/%d/stat", (int)getpid());
	while (state != 'Z') {
		FILE *f = fopen(stat, "r");
		const char *name_end = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
		if (!name_end)
			exit(3);
		state = name_end[2];
		fclose(f);
	}
	exit(plugins(argv));
}

/* leaderless FILE N SECONDS: plugins, in a thread, when the main thread has ended by
 * pthread_exit. */
static int leaderless(char **argv)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, plugins_thread, argv) != 0)
		return 1;
	pthread_exit(NULL);
}

/* turns FILE FILE N SECONDS: opens, runs and closes one library, then the other; each comes to lie
 * where the other was. */
static int turns(char **argv)
{
	int n = (int)number(argv, 2, 4);
	for (int i = 0; i < n; i++) {
		void *library = dlopen(argv[i % 2], RTLD_NOW);
		void (*run)(double);
		if (!library)
			return 1;
		*(void **)&run = dlsym(library, "plugin_run");
		run(number(argv, 3, 0.05));
		if (dlclose(library) != 0)
			return 2;
	}
	return 0;
}

/* memory SECONDS: many contexts, then the largest resident set, in KiB. */
static int memory(char **argv)
{
	char line[256];
	FILE *f;
	wander_for(argv);
	f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, "VmHWM:", 6) == 0)
			printf("%.0f\n", atof(line + 6));
	return 0;
}

/* Descriptors as the program sees them, and its limit on them. */
static int descriptors(char **argv)
{
	(void)argv;
	burn(0.1);
	for (int i = 0; i < 3; i++)
		printf("%d\n", open("/dev/null", O_RDONLY));
	return 0;
}

/* A new path of 1000 frames at each sample, which takes as much memory as there is; in the end the
 * program wants some itself, in MiB. */
static volatile unsigned random_bits = 1, n_leaves;
static unsigned wander_right(int depth);
__attribute__((noinline)) static unsigned wander_left(int depth)
{
	random_bits = random_bits * 1664525u + 1013904223u;
	if (depth) {
		/* not a loop */
		volatile unsigned kept =
			random_bits >> 31 ? wander_left(depth - 1) : wander_right(depth - 1);
		return kept;
	}
	for (int i = 0; i < 3000; i++)
		n_leaves++;
	return n_leaves;
}

__attribute__((noinline)) static unsigned wander_right(int depth)
{
	volatile unsigned kept = wander_left(depth ? depth - 1 : 0);
	return kept;
}

static int explode(char **argv)
{
	double end = cpu() + number(argv, 0, 1);
	while (cpu() < end)
		wander_left(1000);
	return malloc((size_t)number(argv, 1, 1) << 20) ? 0 : 1;
}

static int plain_exec(char **argv)
{
	burn(0.05);
	execv(argv[0], argv);
	return 1;
}

/* Again and again an exec that fails; another thread samples on. Each part is so long that it has
 * many samples. */
static int exec_fails(char **argv)
{
	static double seconds = 0.2;
	pthread_t thread;
	if (pthread_create(&thread, NULL, burn_thread, &seconds) != 0)
		return 1;
	for (int i = 0; i < 5; i++) {
		burn(0.05);
		execv("/nonexistent/program", argv);
	}
	return pthread_join(thread, NULL);
}

static int end_quickly(char **argv)
{
	burn(number(argv, 0, 0.2));
	quick_exit(8);
}

static int end_at_once(char **argv)
{
	burn(number(argv, 0, 0.2));
	_exit(9);
}

static int end_by_abort(char **argv)
{
	burn(number(argv, 0, 0.2));
	abort();
}

static int end_by_fault(char **argv)
{
	burn(number(argv, 0, 0.2));
	raise(SIGSEGV);
	return 0;
}

static int ping_pong_for(char **argv)
{
	ping_pong(number(argv, 0, 1));
	return 0;
}

static long count_switches(void)
{
	struct rusage r;
	getrusage(RUSAGE_SELF, &r);
	return r.ru_nvcsw + r.ru_nivcsw;
}

/* How often a second of CPU time a thread that only computes is switched, by its neighbours
 * then. */
static int print_switch_rate(char **argv)
{
	double seconds = number(argv, 0, 0.3);
	long n = count_switches();
	burn(seconds);
	printf("%.0f\n", (double)(count_switches() - n) / seconds);
	return 0;
}

/* Computes, switches, computes again: each for so many seconds of CPU time. Prints the rate of
 * switches while it computed. */
static int compute_and_switch(char **argv)
{
	double seconds = number(argv, 0, 1);
	long n = -count_switches();
	burn(seconds);
	n += count_switches();
	ping_pong(seconds);
	n -= count_switches();
	burn(seconds);
	n += count_switches();
	printf("%.0f\n", (double)n / (2 * seconds));
	return 0;
}

static const struct {
	const char *name;
	int (*run)(char **argv);
} modes[] = {
	{"spin", spin},
	{"ping-pong", ping_pong_for},
	{"compute-and-switch", compute_and_switch},
	{"switch-rate", print_switch_rate},
	{"drop-rights", drop_rights},
	{"threads", many_threads},
	{"thrd", c11_threads},
	{"outlive", outlive},
	{"abandon", abandon},
	{"cancel", cancel},
	{"forks", forks},
	{"small-forks", small_forks},
	{"lone-forks", lone_forks},
	{"thread-forks", thread_forks},
	{"bare-forks", bare_forks},
	{"denied-forks", denied_forks},
	{"vforks", vforks},
	{"forever", forever},
	{"wander", wander_for},
	{"plugins", plugins},
	{"leaderless", leaderless},
	{"turns", turns},
	{"memory", memory},
	{"descriptors", descriptors},
	{"exec", plain_exec},
	{"explode", explode},
	{"exec-fails", exec_fails},
	{"quick_exit", end_quickly},
	{"_exit", end_at_once},
	{"abort", end_by_abort},
	{"fault", end_by_fault},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run(argv + 2);
	return 99;
}
