/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of known kinds, each in a function of its own. Prints for each "<function> <ns>": the time
 * in the function in which its thread did not run, by the clocks that the program reads itself. And
 * how long it was ready without a processor, there and in the work on both sides, and before all.
 * Run by tests/cli/offcpu/offcpu_clock.sh.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

NOINLINE static void work(uint64_t ns)
{
	const uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 1000; i++)
			;
}

/* How long the thread was ready without a processor; 0 where the kernel does not say. */
static uint64_t ready_ns(void)
{
	unsigned long long ns = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");
	if (!f || fscanf(f, "%*u %llu", &ns) != 1)
		ns = 0;
	if (f)
		fclose(f);
	return ns;
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* After the last call of a function: keeps the compiler from making it a jump. */
static void stay(void)
{
	__asm__ volatile("");
}

static int ends[2], sockets[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_changed;

/* Writes a byte to the descriptor after a while. */
static void *write_later(void *to)
{
	sleep_ms(250);
	(void)!write(*(int *)to, "x", 1);
	return NULL;
}

static void *change_later(void *arg)
{
	sleep_ms(250);
	pthread_mutex_lock(&mutex);
	is_changed = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	return arg;
}

NOINLINE static void wait_sleep(void)
{
	sleep_ms(400);
	stay();
}

/* Shorter than the period of the samples. */
NOINLINE static void wait_short(void)
{
	for (int i = 0; i < 300; i++) {
		sleep_ms(1);
		work(300000);
	}
}

NOINLINE static void wait_poll(void)
{
	poll(NULL, 0, 300);
	stay();
}

NOINLINE static void wait_pipe(void)
{
	char byte;
	pthread_t t;
	pthread_create(&t, NULL, write_later, &ends[1]);
	(void)!read(ends[0], &byte, 1);
	pthread_join(t, NULL);
	stay();
}

static void *read_slowly(void *from)
{
	char page[4096];
	while (read(*(int *)from, page, sizeof page) > 0)
		sleep_ms(1);
	return NULL;
}

/* A signal ends each write after a part of the data. */
NOINLINE static void wait_full(void)
{
	static char data[1 << 20];
	int full[2];
	pthread_t t;
	if (pipe(full) != 0)
		return;
	pthread_create(&t, NULL, read_slowly, &full[0]);
	for (size_t n = 0; n < sizeof data;) {
		const ssize_t done = write(full[1], data + n, sizeof data - n);
		n += done > 0 ? (size_t)done : sizeof data;
	}
	close(full[1]);
	pthread_join(t, NULL);
	close(full[0]);
	stay();
}

NOINLINE static void wait_socket(void)
{
	char byte;
	pthread_t t;
	pthread_create(&t, NULL, write_later, &sockets[1]);
	(void)!recv(sockets[0], &byte, 1, 0);
	pthread_join(t, NULL);
	stay();
}

NOINLINE static void wait_condition(void)
{
	pthread_t t;
	pthread_create(&t, NULL, change_later, NULL);
	pthread_mutex_lock(&mutex);
	while (!is_changed)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(t, NULL);
	stay();
}

NOINLINE static void wait_child(void)
{
	const pid_t child = fork();
	if (child == 0) {
		execlp("sleep", "sleep", "0.3", (char *)NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
	stay();
}

NOINLINE static void wait_signal(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, NULL, &(struct timespec){0, 300000000});
	stay();
}

/* How long this takes, the disk decides. */
NOINLINE static void wait_disk(void)
{
	static char block[1 << 20];
	char name[] = "offcpu.XXXXXX";
	const int fd = mkstemp(name);
	unlink(name);
	for (int i = 0; fd >= 0 && i < 20; i++) {
		(void)!write(fd, block, sizeof block);
		fsync(fd);
	}
	close(fd);
	stay();
}

static const struct {
	const char *name;
	void (*run)(void);
} waits[] = {
	{"wait_sleep", wait_sleep},   {"wait_short", wait_short},
	{"wait_poll", wait_poll},     {"wait_pipe", wait_pipe},
	{"wait_socket", wait_socket}, {"wait_condition", wait_condition},
	{"wait_child", wait_child},   {"wait_signal", wait_signal},
	{"wait_full", wait_full},     {"wait_disk", wait_disk},
};

int main(void)
{
	if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
		return 1;
	uint64_t before = ready_ns();
	printf("before_main 0 %llu\n", (unsigned long long)before);
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		const uint64_t wall = now_ns(CLOCK_MONOTONIC),
			       cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
		waits[i].run();
		const uint64_t used = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu,
			       passed = now_ns(CLOCK_MONOTONIC) - wall;
		const uint64_t after = ready_ns();
		work(20000000); /* so that no debt goes from one to the next */
		printf("%s %llu %llu\n", waits[i].name,
		       (unsigned long long)(passed > used ? passed - used : 0),
		       (unsigned long long)(ready_ns() - before));
		before = after;
	}
	return 0;
}
