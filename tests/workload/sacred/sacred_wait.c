/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits that the kernel does not restart after a signal: each must last as long as asked for,
 * unless a handler of the program's own ends it. Prints what came of each wait; the output with a
 * profiler must be that without. Run by tests/cli/sacred/sacred_wait.sh.
 */
#include "common/machine/machine.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/time.h>
#include <sys/un.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define ALONE_MS 60
/* Never waited for: alarms come again and again, since one may come before the wait begins. */
#define WITH_ALARM_MS 100000
#define ALARM_MS 100

static volatile sig_atomic_t n_alarms;
static int pipe_in, epoll_fd, semaphores, wait_ms;
static sem_t semaphore;

static void on_alarm(int sig)
{
	(void)sig;
	n_alarms++;
}

static int64_t now_us(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct timespec after(clockid_t clock, int ms)
{
	int64_t us = now_us(clock) + ms * 1000;
	return (struct timespec){us / 1000000, us % 1000000 * 1000};
}

static struct timespec span; /* the same as wait_ms */

static int wait_poll(void)
{
	return poll(&(struct pollfd){.fd = pipe_in, .events = POLLIN}, 1, wait_ms);
}
static int wait_ppoll(void)
{
	return ppoll(&(struct pollfd){.fd = pipe_in, .events = POLLIN}, 1, &span, NULL);
}
static int wait_epoll(void) { return epoll_wait(epoll_fd, &(struct epoll_event){0}, 1, wait_ms); }
static int wait_epoll_mask(void)
{
	sigset_t set;
	sigfillset(&set);
	sigdelset(&set, SIGALRM);
	return epoll_pwait(epoll_fd, &(struct epoll_event){0}, 1, wait_ms, &set);
}
static int wait_select(void)
{
	struct timeval t = {wait_ms / 1000, wait_ms % 1000 * 1000};
	fd_set set;
	FD_ZERO(&set);
	FD_SET(pipe_in, &set);
	int result = select(pipe_in + 1, &set, NULL, NULL, &t);
	printf(" [%s left]", t.tv_sec || t.tv_usec ? "some" : "none");
	return result;
}
static int wait_pselect(void)
{
	fd_set set;
	FD_ZERO(&set);
	FD_SET(pipe_in, &set);
	return pselect(pipe_in + 1, &set, NULL, NULL, &span, NULL);
}
static int wait_nanosleep(void)
{
	struct timespec rest = {0, 0};
	int result = nanosleep(&span, &rest);
	printf(" [%s left]", rest.tv_sec || rest.tv_nsec ? "some" : "none");
	return result;
}
static int wait_clock(void)
{
	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
	return errno ? -1 : 0;
}
static int wait_until(void)
{
	struct timespec t = after(CLOCK_REALTIME, wait_ms);
	errno = clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
	return errno ? -1 : 0;
}
static int wait_usleep(void) { return usleep(wait_ms * 1000); }
static int wait_thrd(void)
{
	int result = thrd_sleep(&span, NULL);
	errno = result == -1 ? EINTR : 0;
	return result;
}
static int wait_semop(void) { return semtimedop(semaphores, &(struct sembuf){0, -1, 0}, 1, &span); }
static int wait_sem(void)
{
	struct timespec t = after(CLOCK_REALTIME, wait_ms);
	return sem_timedwait(&semaphore, &t);
}
static int wait_sem_clock(void)
{
#if __GLIBC_PREREQ(2, 30)
	struct timespec t = after(CLOCK_MONOTONIC, wait_ms);
	return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &t);
#else
	return wait_sem();
#endif
}
static int wait_signal(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &span);
}

static const struct wait {
	const char *name;
	int (*call)(void);
} waits[] = {
	{"poll", wait_poll},           {"ppoll", wait_ppoll},
	{"epoll_wait", wait_epoll},    {"epoll_pwait", wait_epoll_mask},
	{"select", wait_select},       {"pselect", wait_pselect},
	{"nanosleep", wait_nanosleep}, {"clock_nanosleep", wait_clock},
	{"until", wait_until},         {"usleep", wait_usleep},
	{"thrd_sleep", wait_thrd},     {"semtimedop", wait_semop},
	{"sem_timedwait", wait_sem},   {"sem_clockwait", wait_sem_clock},
	{"sigtimedwait", wait_signal},
};

/* Again and again. 0: no more. */
static void alarm_every(int ms)
{
	struct itimerval t = {.it_value = {0, ms * 1000}, .it_interval = {0, ms * 1000}};
	setitimer(ITIMER_REAL, &t, NULL);
}

static void try(const struct wait *w, int alarm_ms)
{
	n_alarms = 0;
	wait_ms = alarm_ms ? WITH_ALARM_MS : ALONE_MS;
	span = (struct timespec){wait_ms / 1000, wait_ms % 1000 * 1000000L};
	printf("%-16s %s:", w->name, alarm_ms ? "alarm" : "alone");
	int64_t start = now_us(CLOCK_MONOTONIC);
	if (alarm_ms)
		alarm_every(alarm_ms);
	errno = 0;
	int result = w->call();
	int error = errno;
	alarm_every(0);
	int64_t took = now_us(CLOCK_MONOTONIC) - start,
		least = (alarm_ms ? alarm_ms : wait_ms) * 1000 - 1000;
	printf(" %d %s, %s, %s\n", result, result ? strerror(error) : "good",
	       n_alarms ? "alarms" : "no alarm", took < least ? "TOO EARLY" : "in time");
}

/* ---- calls that end early where a signal comes, however its handler was set ---- */

static struct letter {
	long type;
	char text[4];
} letter = {1, "abc"};

/* A child that sends a letter and two bytes when the first thread has waited for a while. */
static void send_later(int queue, int socket)
{
	if (fork())
		return;
	usleep(400000);
	(void)!msgsnd(queue, &letter, sizeof letter.text, 0);
	usleep(400000);
	(void)!write(socket, "x", 1);
	usleep(1600000);
	(void)!write(socket, "y", 1);
	_exit(0);
}

static void say(const char *what, long result)
{
	printf("%s %ld %s\n", what, result, result < 0 ? strerror(errno) : "good");
}

static void fill(int socket)
{
	while (send(socket, "z", 1, MSG_DONTWAIT) == 1)
		;
}

/* The queue of a listener that accepts nobody is full after one. */
static void connect_in_vain(const struct timeval *timeout)
{
	const struct sockaddr_un any = {.sun_family = AF_UNIX};
	struct sockaddr_un name;
	socklen_t n = sizeof name;
	const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(listener, (const struct sockaddr *)&any, sizeof any.sun_family);
	listen(listener, 0);
	getsockname(listener, (struct sockaddr *)&name, &n);
	for (int i = 0; i < 2; i++) {
		const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, timeout, sizeof *timeout);
		say("connect", connect(fd, (struct sockaddr *)&name, n));
	}
}

/* The same call as recv, made in other ways: by libc itself, by number, and by two others. */
static void receive_in_vain(int socket)
{
	char byte;
	struct iovec v = {&byte, 1};
	struct mmsghdr m = {.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}};
	FILE *f = fdopen(dup(socket), "r");
	say("fgetc", fgetc(f));
	fclose(f);
	say("syscall", syscall(SYS_recvfrom, socket, &byte, 1, 0, NULL, NULL));
	say("readv", readv(socket, &v, 1));
	say("recvmmsg", recvmmsg(socket, &m, 1, 0, NULL));
}

static int wait_rarely(void)
{
	struct timeval long_time = {60, 0}, short_time = {0, 300000};
	int queue = msgget(IPC_PRIVATE, 0600), ends[2];
	char byte;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return 1;
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &long_time, sizeof long_time);
	send_later(queue, ends[1]);
	say("msgrcv", msgrcv(queue, &letter, sizeof letter.text, 0, 0));
	say("recv", recv(ends[0], &byte, 1, 0));
	say("read", read(ends[0], &byte, 1));
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &short_time, sizeof short_time);
	int64_t start = now_us(CLOCK_MONOTONIC);
	say("recv, nothing comes", recv(ends[0], &byte, 1, 0));
	puts(now_us(CLOCK_MONOTONIC) - start < 299000 ? "TOO EARLY" : "in time");
	receive_in_vain(ends[0]);
	fill(ends[0]);
	setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &short_time, sizeof short_time);
	start = now_us(CLOCK_MONOTONIC);
	say("send, nobody reads", send(ends[0], "z", 1, 0));
	puts(now_us(CLOCK_MONOTONIC) - start < 299000 ? "TOO EARLY" : "in time");
	connect_in_vain(&short_time);
	msgctl(queue, IPC_RMID, NULL);
	wait(NULL);
	return 0;
}

/* Sends a byte for each that comes, somewhat before a time-out. */
static void answer(int socket, int other, unsigned span_us)
{
	char byte;
	if (fork())
		return;
	close(other);
	for (unsigned i = 0; read(socket, &byte, 1) == 1; i++) {
		usleep(span_us / 2 + i * 997 % (span_us / 3));
		(void)!write(socket, &byte, 1);
	}
	_exit(0);
}

/* The wait blocks all signals, and so no call ends by one. */
static int wait_with_signals_blocked(void)
{
	enum { N = 400, WAIT_MS = 2, WORK = 100000 };
	int n_early = 0;
	struct epoll_event event;
	sigset_t all;
	sigfillset(&all);
	epoll_fd = epoll_create1(0);
	for (int i = 0; i < N; i++) {
		for (volatile int k = 0; k < WORK; k++)
			;
		n_early += epoll_pwait(epoll_fd, &event, 1, WAIT_MS, &all) != 0;
	}
	printf("%d waits, %d TOO EARLY\n", N, n_early);
	return 0;
}

/*
 * A receive with a time-out directly after one that got data: the span is its own. The other one
 * began half a span before at least. The kernel counts ticks, which come late and at once if the
 * host stops the machine, so a span may be some ticks too short.
 */
static int wait_in_a_row(void)
{
	enum { SPAN_US = 20000, LEAST_US = SPAN_US * 6 / 10, N = 120 };
	const struct timeval timeout = {0, SPAN_US};
	int ends[2], n_early = 0;
	char byte = 'x';
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return 1;
	answer(ends[1], ends[0], SPAN_US);
	close(ends[1]);
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
	for (int i = 0; i < N; i++) {
		(void)!send(ends[0], &byte, 1, 0);
		while (recv(ends[0], &byte, 1, 0) != 1)
			;
		const int64_t start = now_us(CLOCK_MONOTONIC);
		const ssize_t n = recv(ends[0], &byte, 1, 0);
		n_early += n >= 0 || now_us(CLOCK_MONOTONIC) - start < LEAST_US;
	}
	/* a deadline of the call before makes most of them early; a slow emulator makes a few */
	printf("%d time-outs, %s TOO EARLY\n", N, n_early > N / 20 ? "MANY" : "few or none");
	close(ends[0]);
	wait(NULL);
	return 0;
}

/* A call of our own, whose code does not show what it is. */
static int wait_unknown(void)
{
	const struct timeval t = {0, 300000};
	volatile long number = SYS_read;
	char byte;
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return 1;
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
	return machine_call3(number, ends[0], (long)&byte, 1) >= 0;
}

/* libc makes the calls of a thread in another place, where they can be cancelled. */
static void *in_thread(void *unused)
{
	(void)unused;
	wait_rarely();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	if (argc > 1 && !strcmp(argv[1], "in-thread"))
		return pthread_create(&thread, NULL, in_thread, NULL) || pthread_join(thread, NULL);
	if (argc > 1 && !strcmp(argv[1], "rarely"))
		return wait_rarely();
	if (argc > 1 && !strcmp(argv[1], "unknown"))
		return wait_unknown();
	if (argc > 1 && !strcmp(argv[1], "in-a-row"))
		return wait_in_a_row();
	if (argc > 1 && !strcmp(argv[1], "blocked"))
		return wait_with_signals_blocked();
	struct sigaction a = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	int ends[2];
	if (pipe(ends) != 0)
		return 1;
	pipe_in = ends[0];
	epoll_fd = epoll_create1(0);
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pipe_in, &(struct epoll_event){.events = EPOLLIN});
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	sem_init(&semaphore, 0, 0);
	sigaction(SIGALRM, &a, NULL);
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		try(&waits[i], 0);
		try(&waits[i], ALARM_MS);
	}
	alarm_every(ALARM_MS);
	printf("pause %d", pause());
	printf(" %s\n", strerror(errno));
	sigset_t none;
	sigemptyset(&none);
	alarm_every(ALARM_MS);
	printf("sigsuspend %d", sigsuspend(&none));
	printf(" %s\n", strerror(errno));
	alarm_every(ALARM_MS);
	printf("semop %d", semop(semaphores, &(struct sembuf){0, -1, 0}, 1));
	printf(" %s\n", strerror(errno));
	alarm_every(0);
	printf("sleep %u\n", sleep(1));
	alarm_every(ALARM_MS);
	printf("sleep, alarm %s\n", sleep(30) > 20 ? "ends it" : "does not end it");
	semctl(semaphores, 0, IPC_RMID);
	return 0;
}
