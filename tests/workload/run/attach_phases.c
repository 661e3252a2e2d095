/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Works in the phase that a file names, a, b or c, until the file says end; then prints what it has
 * noticed of its signals and waits, which is the same whoever watches. Threads: the first works,
 * one works with all signals blocked, one waits with time-outs in epoll_wait, poll and nanosleep,
 * and one on a condition variable; in phase c new threads work. Usage: attach_phases FILE
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static volatile double x = 1, y = 1;
static _Atomic int ended, n_begun, n_eintr, n_winch;
static const char *file;

static char phase(void)
{
	char c = 'a';
	const int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (read(fd, &c, 1) != 1)
			c = 'a';
		close(fd);
	}
	return c;
}

/* Not the same code, or the compiler makes one function of the two. */
#define PHASE(name, add)                                         \
	__attribute__((noinline)) static void phase_##name(void) \
	{                                                        \
		for (int i = 0; i < 2000000; i++)                \
			x = x * 1.0000001 + (add);               \
	}
PHASE(a, 0.25)
PHASE(b, 0.75)

__attribute__((noinline)) static void blocked_work(void)
{
	for (int i = 0; i < 2000000; i++)
		y = y * 1.0000001 + 0.5;
}

static void *blocked(void *unused)
{
	sigset_t all, now;
	(void)unused;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	n_begun++;
	while (!ended)
		blocked_work();
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	return (void *)(long)sigismember(&now, SIGWINCH);
}

static void *poller(void *unused)
{
	struct epoll_event e;
	const int fd = epoll_create1(EPOLL_CLOEXEC);
	(void)unused;
	n_begun++;
	while (!ended) {
		const int n = epoll_wait(fd, &e, 1, 50);
		n_eintr += n < 0 && errno == EINTR;
		n_eintr += poll(NULL, 0, 50) < 0 && errno == EINTR;
		n_eintr += nanosleep(&(struct timespec){0, 50000000}, NULL) < 0;
	}
	close(fd);
	return NULL;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;

static void *waiter(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	n_begun++;
	while (!ended)
		pthread_cond_wait(&over, &lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

__attribute__((noinline)) static void new_work(void)
{
	volatile double z = 1;
	for (int i = 0; i < 4000000; i++)
		z = z * 1.0000001 + 0.5;
}

static void *new_thread(void *unused)
{
	(void)unused;
	new_work();
	return NULL;
}

static void phase_c(void)
{
	pthread_t t;
	if (pthread_create(&t, NULL, new_thread, NULL) == 0)
		pthread_join(t, NULL);
}

static void on_winch(int sig)
{
	(void)sig;
	n_winch++;
}

int main(int argc, char **argv)
{
	pthread_t t[3];
	struct sigaction act = {.sa_handler = on_winch, .sa_flags = SA_RESTART}, now;
	void *is_blocked;
	char c;
	if (argc < 2)
		return 2;
	file = argv[1];
	sigaction(SIGWINCH, &act, NULL);
	pthread_create(&t[0], NULL, blocked, NULL);
	pthread_create(&t[1], NULL, poller, NULL);
	pthread_create(&t[2], NULL, waiter, NULL);
	while (n_begun < 3)
		usleep(1000);
	puts("ready");
	fflush(stdout);
	while ((c = phase()) != 'e')
		c == 'c' ? phase_c() : c == 'b' ? phase_b() : phase_a();
	ended = 1;
	pthread_mutex_lock(&lock);
	pthread_cond_broadcast(&over);
	pthread_mutex_unlock(&lock);
	pthread_join(t[0], &is_blocked);
	pthread_join(t[1], NULL);
	pthread_join(t[2], NULL);
	sigaction(SIGWINCH, NULL, &now);
	printf("handler %d, blocked %ld, EINTR %d, winch %d, preload %s\n",
	       now.sa_handler == on_winch, (long)is_blocked, n_eintr, n_winch,
	       getenv("LD_PRELOAD") ? "set" : "unset");
	return 9;
}
