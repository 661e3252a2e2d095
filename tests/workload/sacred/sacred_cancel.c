/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads in waits: cancelled there, or interrupted by a signal that comes just when a sample does.
 * sacred_cancel cancel KIND ROUNDS: a thread waits in KIND, is cancelled at some moment and joined.
 * sacred_cancel interrupt KIND ROUNDS: alarms end waits that would last for ever; says whether
 * waits slept through more than a few. The output with a profiler must be that without. Run by
 * tests/cli/sacred/sacred_cancel.sh.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define LONG_S 100000

static int epoll_fd;
static sem_t semaphore;

static int wait_poll(void) { return poll(NULL, 0, LONG_S * 1000); }
static int wait_for_ever(void) { return poll(NULL, 0, -1); }
static int wait_ppoll(void) { return ppoll(NULL, 0, &(struct timespec){LONG_S, 0}, NULL); }
static int wait_select(void) { return select(0, NULL, NULL, NULL, &(struct timeval){LONG_S, 0}); }
static int wait_epoll(void)
{
	return epoll_wait(epoll_fd, &(struct epoll_event){0}, 1, LONG_S * 1000);
}
static int wait_pause(void) { return pause(); }
static int wait_sleep(void) { return sleep(LONG_S) ? -1 : 0; }
static int wait_nanosleep(void) { return nanosleep(&(struct timespec){LONG_S, 0}, NULL); }
static int wait_sem(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += LONG_S;
	return sem_timedwait(&semaphore, &t);
}
static int wait_signal(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return sigtimedwait(&set, NULL, &(struct timespec){LONG_S, 0});
}

static const struct kind {
	const char *name;
	int (*wait)(void);
} kinds[] = {
	{"poll", wait_poll},           {"for-ever", wait_for_ever},   {"ppoll", wait_ppoll},
	{"select", wait_select},       {"epoll", wait_epoll},         {"pause", wait_pause},
	{"sleep", wait_sleep},         {"nanosleep", wait_nanosleep}, {"sem", wait_sem},
	{"sigtimedwait", wait_signal},
};

/* ---- cancelled ------------------------------------------------------------------------------- */

static volatile bool masks_differ;

static void clean_up(void *unused)
{
	sigset_t set;
	(void)unused;
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	for (int sig = 1; sig < 32; sig++) /* libc blocks its own, 32 and 33, while it cancels */
		if (sigismember(&set, sig) != (sig == SIGUSR1))
			masks_differ = true;
}

static void *waiter(void *argument)
{
	const struct kind *k = argument;
	pthread_cleanup_push(clean_up, NULL);
	for (;;)
		if (k->wait() == 0 || errno != EINTR)
			printf("%s ended: %s\n", k->name, strerror(errno));
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel(const struct kind *k, int n)
{
	int cancelled = 0;
	for (int i = 0; i < n; i++) {
		pthread_t thread;
		void *result = NULL;
		if (pthread_create(&thread, NULL, waiter, (void *)(size_t)k) != 0)
			exit(1);
		nanosleep(&(struct timespec){0, i * 7919L % 900 * 1000}, NULL);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		cancelled += result == PTHREAD_CANCELED;
	}
	printf("%s: %d cancelled%s\n", k->name, cancelled,
	       masks_differ ? ", with another signal mask" : "");
}

/* ---- interrupted ----------------------------------------------------------------------------- */

static volatile sig_atomic_t is_waiting, n_alarms, n_in_this_wait, n_slept_through;

static void on_alarm(int sig)
{
	(void)sig;
	n_alarms++;
	if (!is_waiting)
		return;
	if (n_in_this_wait)
		n_slept_through++;
	n_in_this_wait++;
}

/* An alarm may come before the system call even without a profiler, more often on a busy machine,
 * so a tenth is forgiven. A sample is taken in a fifth of the time. */
static void interrupt(const struct kind *k, int n)
{
	struct sigaction a = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	const struct itimerval every = {.it_value = {0, 700}, .it_interval = {0, 700}};
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (n_alarms < n) {
		n_in_this_wait = 0;
		is_waiting = 1;
		if (k->wait() == 0 || errno != EINTR)
			printf("%s ended: %s\n", k->name, strerror(errno));
		is_waiting = 0;
	}
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	printf("%s: slept through %s\n", k->name,
	       n_slept_through > n / 10 ? "MANY" : "few or none");
	fprintf(stderr, "%d of %d\n", (int)n_slept_through, (int)n_alarms);
}

int main(int argc, char **argv)
{
	sigset_t set;
	if (argc != 4)
		return 2;
	epoll_fd = epoll_create1(0);
	sem_init(&semaphore, 0, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].name, argv[2]))
			(strcmp(argv[1], "cancel") ? interrupt : cancel)(&kinds[i], atoi(argv[3]));
	return 0;
}
