/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses a signal which is ignored by default, such as the one by which a profiler
 * samples: SIGWINCH from a terminal, SIGURG from a socket, and both from everybody else. The output
 * with a profiler must be that without. Usage: sacred_winch NUMBER PART, or sacred_winch exec N WAY
 * MS: becomes itself N times, after some ms of CPU time each. Run by
 * tests/cli/sacred/sacred_winch.sh and sacred_exec.sh.
 */
#include "common/machine/machine.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int sig;
static volatile sig_atomic_t n_caught, last_code, last_value;
static sigset_t one, none;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	n_caught += number == sig;
	last_code = info->si_code;
	last_value = info->si_value.sival_int;
}

static void handle(int flags)
{
	struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};
	sigaction(sig, &a, NULL);
	n_caught = 0;
}

static void say(const char *what)
{
	printf("%s: %d, code %d\n", what, n_caught, last_code);
	fflush(stdout);
	n_caught = 0;
}

/* No system call in it, so that samples come. */
static void burn(void)
{
	volatile double x = 1;
	for (long i = 0; i < 2000000; i++)
		x = x * 1.0000001 + 1e-9;
}

static void pause_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	while (nanosleep(&t, &t) != 0 && errno == EINTR)
		;
}

/* A child sends the signal `n` times, with a pause before each one. */
/* How long a sender lives on. A wait for its end must not find it ended before the signal came. */
static long stay_ms = 20;

static pid_t sender(int n, long ms)
{
	const pid_t parent = getpid(), child = fork();
	if (child == 0) {
		for (int i = 0; i < n; i++) {
			pause_ms(ms);
			kill(parent, sig);
		}
		pause_ms(stay_ms);
		_exit(0);
	}
	return child;
}

static void reap(pid_t child)
{
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static void sent(void)
{
	handle(SA_RESTART);
	kill(getpid(), sig);
	say("kill");
	sigqueue(getpid(), sig, (union sigval){.sival_int = 77});
	printf("%d ", last_value);
	say("sigqueue");
	raise(sig);
	say("raise");
	/* one to the thread merges with a sample that is pending there: doc/transparency.md */
	while (!n_caught)
		pthread_kill(pthread_self(), sig);
	n_caught = 1;
	say("pthread_kill");
	while (!n_caught)
		pthread_sigqueue(pthread_self(), sig, (union sigval){.sival_int = 78});
	printf("%d ", last_value);
	n_caught = 1;
	say("pthread_sigqueue");
	handle((int)SA_RESETHAND);
	kill(getpid(), sig);
	kill(getpid(), sig);
	say("once");
	struct sigaction a;
	sigaction(sig, NULL, &a);
	printf("default again: %d\n", a.sa_handler == SIG_DFL);
	signal(sig, SIG_IGN);
	kill(getpid(), sig);
	say("ignored");
	handle(0);
	for (int i = 0; i < 300; i++)
		kill(getpid(), sig);
	say("300 times");
}

/* What nobody handles disturbs nobody. */
static void ignored(void)
{
	struct pollfd none_ready = {.fd = -1};
	for (int i = 0; i < 2; i++) {
		const pid_t child = sender(5, 4);
		printf("poll %d\n", poll(&none_ready, 1, 60));
		struct timespec t = {0, 30000000};
		printf("nanosleep %d\n", nanosleep(&t, NULL));
		reap(child);
		signal(sig, SIG_IGN);
	}
}

/* SA_RESTART decides what a handler does to a call that waits. */
static void interrupted(void)
{
	char byte;
	for (int i = 0; i < 2; i++) {
		int ends[2];
		if (pipe(ends) != 0)
			return;
		handle(i ? SA_RESTART : 0);
		fflush(stdout);
		pid_t parent = getpid(), child = fork();
		if (child == 0) {
			pause_ms(40);
			kill(parent, sig);
			pause_ms(40);
			_exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
		}
		errno = 0;
		ssize_t n = read(ends[0], &byte, 1);
		printf("read %d errno %d\n", (int)n, n < 0 ? errno : 0);
		reap(child);
		say("read");
		child = sender(1, 40);
		struct pollfd wait = {.fd = -1};
		errno = 0;
		printf("poll %d", poll(&wait, 1, 20000));
		printf(" errno %d\n", errno);
		reap(child);
		stay_ms = 500;
		child = sender(1, 40);
		pid_t got = wait4(child, NULL, 0, NULL);
		printf("wait4 %d\n", got == child ? 1 : errno);
		if (got != child) {
			kill(child, SIGKILL);
			reap(child);
		}
		say("waits");
		siginterrupt(sig, 1);
		child = sender(1, 40);
		got = wait4(child, NULL, 0, NULL);
		printf("siginterrupt %d\n", got == child ? 1 : errno);
		if (got != child) {
			kill(child, SIGKILL);
			reap(child);
		}
		stay_ms = 20;
		close(ends[0]);
		close(ends[1]);
	}
}

static void print_pending(const char *what)
{
	sigset_t set;
	sigpending(&set);
	printf("%s: pending %d\n", what, sigismember(&set, sig));
}

static void blocked(void)
{
	siginfo_t info = {0};
	int got = 0;
	handle(SA_RESTART);
	sigprocmask(SIG_BLOCK, &one, NULL);
	kill(getpid(), sig);
	kill(getpid(), sig);
	burn();
	print_pending("kill");
	say("blocked");
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	say("unblocked");
	sigprocmask(SIG_BLOCK, &one, NULL);
	sigqueue(getpid(), sig, (union sigval){.sival_int = 5});
	printf("sigwaitinfo %d", sigwaitinfo(&one, &info) == sig);
	printf(" code %d value %d\n", info.si_code, info.si_value.sival_int);
	print_pending("taken");
	printf("sigtimedwait %d", sigtimedwait(&one, &info, &(struct timespec){0, 20000000}));
	printf(" errno %d\n", errno);
	pid_t child = sender(1, 30);
	printf("sigwait %d", sigwait(&one, &got));
	printf(" %d\n", got == sig);
	reap(child);
	child = sender(1, 30);
	printf("sigtimedwait %d\n", sigtimedwait(&one, &info, &(struct timespec){20, 0}) == sig);
	printf("from the child: %d code %d\n", info.si_pid == child, info.si_code);
	reap(child);
	raise(sig);
	print_pending("raise");
	printf("by number: %d\n", (int)syscall(SYS_rt_sigtimedwait, &one, &info, NULL, 8) == sig);
	sigrelse(sig);
	say("at the end");
	sighold(sig);
	kill(getpid(), sig);
	sigrelse(sig);
	say("sigrelse");
	sigignore(sig);
	kill(getpid(), sig);
	say("sigignore");
}

static sigjmp_buf place;

static void jump_out(int number)
{
	(void)number;
	siglongjmp(place, 1);
}

/* Where it jumps to, the program has the mask that it had there. */
static void jumped(void)
{
	sigjmp_buf copy;
	handle(SA_RESTART);
	if (sigsetjmp(place, 1) == 0) {
		sigprocmask(SIG_BLOCK, &one, NULL);
		kill(getpid(), sig);
		print_pending("blocked");
		siglongjmp(place, 1);
	}
	print_pending("out of the block");
	say("out of the block");
	sigprocmask(SIG_BLOCK, &one, NULL);
	if (sigsetjmp(place, 1) == 0) {
		memcpy(copy, place, sizeof copy);
		sigprocmask(SIG_UNBLOCK, &one, NULL);
		kill(getpid(), sig);
		say("unblocked");
		longjmp(copy, 1);
	}
	kill(getpid(), sig);
	print_pending("into the block");
	say("into the block");
	if (_setjmp(place) == 0) {
		sigprocmask(SIG_UNBLOCK, &one, NULL);
		longjmp(place, 1);
	}
	kill(getpid(), sig);
	say("without a mask");
	signal(sig, jump_out);
	for (volatile int i = 0; i < 3; i++) {
		volatile int n = 0;
		if (sigsetjmp(place, 1) == 0) {
			n++;
			kill(getpid(), sig);
			n++;
		}
		printf("out of the handler: %d\n", n);
		print_pending("out of the handler");
	}
}

/* The mask of a wait lets it in. */
static void masked(void)
{
	struct pollfd fd = {.fd = -1};
	struct epoll_event event;
	const struct timespec long_time = {20, 0};
	int epoll = epoll_create1(0);
	handle(SA_RESTART);
	sigprocmask(SIG_BLOCK, &one, NULL);
	for (int i = 0; i < 8; i++) {
		pid_t child = 0;
		if (i % 2)
			child = sender(1, 30);
		else
			kill(getpid(), sig);
		errno = 0;
		int n = i / 2 == 0   ? ppoll(&fd, 1, &long_time, &none)
			: i / 2 == 1 ? pselect(0, NULL, NULL, NULL, &long_time, &none)
			: i / 2 == 2 ? epoll_pwait(epoll, &event, 1, 20000, &none)
				     : sigsuspend(&none);
		printf("%d: %d errno %d\n", i, n, errno);
		if (child)
			reap(child);
		say("let in");
	}
	kill(getpid(), sig);
	struct timespec short_time = {0, 20000000};
	printf("still blocked %d", ppoll(&fd, 1, &short_time, &one));
	say("");
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	say("unblocked");
}

static void descriptor(void)
{
	struct signalfd_siginfo got;
	sigset_t all;
	sigfillset(&all);
	handle(0);
	sigprocmask(SIG_BLOCK, &one, NULL);
	for (int i = 0; i < 2; i++) {
		int fd = signalfd(-1, i ? &all : &one, SFD_CLOEXEC | SFD_NONBLOCK);
		for (int j = 0; j < 3; j++) {
			pid_t child = j == 1 ? sender(1, 30) : 0;
			if (j == 0)
				kill(getpid(), sig);
			if (j == 2)
				sigqueue(getpid(), sig, (union sigval){.sival_int = 9});
			struct pollfd wait = {.fd = fd, .events = POLLIN};
			int n;
			while ((n = poll(&wait, 1, 20000)) < 0)
				;
			memset(&got, 0, sizeof got);
			ssize_t bytes = read(fd, &got, sizeof got);
			printf("ready %d read %d signal %d code %d value %d", n, (int)bytes,
			       (int)got.ssi_signo == sig, got.ssi_code, got.ssi_int);
			burn();
			printf(" then %d", (int)read(fd, &got, sizeof got));
			printf(" and poll %d\n", poll(&wait, 1, 5));
			if (child)
				reap(child);
			burn();
		}
		close(fd);
	}
	say("no handler");
}

static volatile sig_atomic_t has_waited;

static void *wait_in_thread(void *arg)
{
	int got = 0;
	has_waited = 1;
	sigwait(&one, &got);
	has_waited = 2;
	return got == sig ? arg : NULL;
}

/* All threads block it, one waits. */
static void thread(void)
{
	pthread_t t;
	void *result;
	sigprocmask(SIG_BLOCK, &one, NULL);
	for (int i = 0; i < 400; i++) {
		pthread_create(&t, NULL, wait_in_thread, &one);
		if (i % 8 == 0)
			pause_ms(2);
		kill(getpid(), sig);
		pthread_join(t, &result);
		if (result != &one)
			printf("%d: another signal\n", i);
	}
	/* a thread that does not block it handles it */
	handle(SA_RESTART);
	has_waited = 0;
	pthread_create(&t, NULL, wait_in_thread, &one);
	while (has_waited != 2) { /* as in sent() */
		if (has_waited)
			pthread_kill(t, sig);
		pause_ms(1);
	}
	pthread_join(t, &result);
	printf("thread %d\n", result == &one);
	say("none");
}

static void *unblock_in_thread(void *arg)
{
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	while (!n_caught)
		burn();
	return arg;
}

static void other_thread(void)
{
	pthread_t t;
	handle(SA_RESTART);
	sigprocmask(SIG_BLOCK, &one, NULL);
	pthread_create(&t, NULL, unblock_in_thread, NULL);
	pause_ms(20);
	kill(getpid(), sig);
	pthread_join(t, NULL);
	say("another thread");
}

static void timer(void)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = sig, .sigev_value.sival_int = 31};
	struct itimerspec when = {{0, 0}, {0, 5000000}};
	timer_t t;
	handle(SA_RESTART);
	timer_create(CLOCK_MONOTONIC, &event, &t);
	timer_settime(t, 0, &when, NULL);
	while (!n_caught)
		burn();
	printf("%d ", last_value);
	say("timer");
	timer_delete(t);
}

/* What descriptors send: urgent data, and O_ASYNC with a signal of choice. */
static void descriptors(void)
{
	struct sockaddr addr = {0};
	socklen_t n = sizeof addr;
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	char byte = 0;
	handle(SA_RESTART);
	if (listen(server, 1) != 0 || getsockname(server, &addr, &n) != 0 ||
	    connect(client, &addr, n) != 0)
		return;
	int peer = accept(server, NULL, NULL);
	fcntl(peer, F_SETOWN, getpid());
	burn();
	send(client, "u", 1, MSG_OOB);
	if (sig == SIGURG)
		while (!n_caught)
			burn();
	recv(peer, &byte, 1, MSG_OOB);
	printf("urgent %c ", byte);
	say("");
	int ends[2];
	if (pipe(ends) != 0)
		return;
	fcntl(ends[0], F_SETOWN, getpid());
	fcntl(ends[0], F_SETSIG, sig);
	fcntl(ends[0], F_SETFL, O_ASYNC);
	if (write(ends[1], "x", 1) == 1)
		while (!n_caught)
			burn();
	say("F_SETSIG");
}

/* A terminal of a child changes its size. */
static void resized(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	int ready[2];
	char byte;
	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 || pipe(ready) != 0)
		return;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		setsid();
		int tty = open(ptsname(master), O_RDWR);
		ioctl(tty, TIOCSCTTY, 0);
		handle(0);
		for (int i = 0; i < 3; i++) {
			n_caught = 0;
			if (write(ready[1], "r", 1) != 1)
				_exit(1);
			errno = 0;
			/* curses waits for a key like this */
			int got = (int)read(tty, &byte, 1), error = errno;
			struct winsize size;
			ioctl(tty, TIOCGWINSZ, &size);
			printf("read %d errno %d, %d columns, caught %d code %d\n", got, error,
			       size.ws_col, sig == SIGWINCH ? n_caught : 0, last_code);
			fflush(stdout);
			burn();
		}
		_exit(0);
	}
	for (int i = 0; i < 3; i++) {
		if (read(ready[0], &byte, 1) != 1)
			break;
		pause_ms(50);
		struct winsize size = {.ws_col = (unsigned short)(80 + i), .ws_row = 24};
		ioctl(master, TIOCSWINSZ, &size);
		if (sig != SIGWINCH && write(master, "\n", 1) != 1)
			break;
	}
	reap(child);
}

static void inherit(const char *self)
{
	char number[12];
	snprintf(number, sizeof number, "%d", sig);
	sigprocmask(SIG_BLOCK, &one, NULL);
	kill(getpid(), sig);
	execl(self, self, number, "inherited", (char *)NULL);
}

static void inherited(void)
{
	print_pending("inherited");
	handle(SA_RESTART);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	say("inherited");
}

/* ---- past libc ---- */

/* The kernel's struct sigaction. */
struct disposition {
	void *handler;
	unsigned long flags;
	void *restorer;
	unsigned long mask;
};

static void raw_default(void)
{
	struct disposition none_set = {0};
	for (int number = 1; number < 65; number++)
		machine_call4(SYS_rt_sigaction, number, (long)&none_set, 0, 8);
	for (int i = 0; i < 8; i++)
		burn();
}

static void raw_handler(void)
{
	struct disposition act = {.handler = (void *)SIG_IGN};
	machine_call4(SYS_rt_sigaction, sig, (long)&act, 0, 8);
	for (int i = 0; i < 8; i++)
		burn();
}

static void raw_block(void)
{
	unsigned long all = ~0UL;
	machine_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, 8);
	for (int i = 0; i < 8; i++)
		burn();
}

static void *send_in_thread(void *arg)
{
	burn();
	kill(getpid(), SIGUSR2);
	return arg;
}

static void by_number(void)
{
	uint64_t all = ~UINT64_C(0), old = 0, pending = 0;
	siginfo_t info;
	pthread_t t;
	printf("%d", (int)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, 8));
	printf(" %d\n", old >> (sig - 1) & 1 ? 1 : 0);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &old, 8);
	printf("%d\n", old >> (sig - 1) & 1 ? 1 : 0);
	int fd = (int)syscall(SYS_signalfd4, -1, &all, 8, SFD_NONBLOCK);
	pthread_create(&t, NULL, send_in_thread, NULL);
	for (int i = 0; i < 8; i++)
		burn();
	printf("%d\n", (int)syscall(SYS_rt_sigtimedwait, &all, &info, NULL, 8));
	pthread_join(t, NULL);
	struct signalfd_siginfo got;
	while (read(fd, &got, sizeof got) > 0)
		printf("read %d\n", (int)got.ssi_signo);
	syscall(SYS_rt_sigpending, &pending, 8);
	printf("pending %lx", (unsigned long)pending);
	kill(getpid(), sig);
	syscall(SYS_rt_sigpending, &pending, 8);
	printf(" %lx\n", (unsigned long)pending);
	handle(0);
	all = 0;
	errno = 0;
	printf("%d", (int)syscall(SYS_rt_sigsuspend, &all, 8));
	printf(" %d", errno);
	say("suspended");
	printf("%d", (int)syscall(SYS_rt_sigprocmask, 99, &all, NULL, 8));
	printf(" %d\n", errno);
}

/* ---- exec ---- */

static void *become(void *arguments)
{
	char **argv = arguments;
	const char *way = argv[3];
	typedef int exec_fn(const char *, char *const *, char *const *);
	void *libc = strstr(way, "handle") ? dlopen("libc.so.6", RTLD_NOW) : NULL;
	exec_fn *exec = libc ? (exec_fn *)dlsym(libc, "execve") : execve;
	if (!strncmp(way, "raw", 3))
		machine_call4(SYS_execve, (long)"/proc/self/exe", (long)argv, (long)environ, 0);
	else if (!strncmp(way, "number", 6))
		syscall(SYS_execve, "/proc/self/exe", argv, environ);
	else if (!strncmp(way, "fexecve", 7))
		fexecve(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), argv, environ);
	else if (exec)
		exec("/proc/self/exe", argv, environ);
	return NULL;
}

static double cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The library's variables are put back for the new program, where a hook would do that. */
static void become_again(char **argv)
{
	char left[12];
	const int n = atoi(argv[2]);
	const double end = cpu_ms() + atof(argv[4]);
	const char *preload = getenv("AGAIN_PRELOAD"), *config = getenv("AGAIN_CONFIG");
	if (n == 0) {
		puts("done");
		return;
	}
	if (preload && config) {
		setenv("LD_PRELOAD", preload, 1);
		setenv("HPCTOOLKIT_LITE", config, 1);
	}
	snprintf(left, sizeof left, "%d", n - 1);
	argv[2] = left;
	do
		for (volatile int i = 0; i < 20000; i++)
			;
	while (cpu_ms() < end);
	if (strstr(argv[3], "thread")) {
		pthread_t thread;
		pthread_create(&thread, NULL, become, argv);
		pthread_join(thread, NULL);
	} else if (strstr(argv[3], "vfork")) {
		pid_t child = vfork();
		if (child == 0) {
			const char *const arguments[] = {"true", NULL};
			machine_call4(SYS_execve, (long)"/bin/true", (long)arguments, 0, 0);
			_exit(1);
		}
		reap(child);
	}
	become(argv);
	puts("exec failed");
}

int main(int argc, char **argv)
{
	if (argc > 4 && !strcmp(argv[1], "exec")) {
		become_again(argv);
		return 0;
	}
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {{"sent", sent},
		     {"ignored", ignored},
		     {"interrupted", interrupted},
		     {"blocked", blocked},
		     {"masked", masked},
		     {"jumped", jumped},
		     {"descriptor", descriptor},
		     {"thread", thread},
		     {"other-thread", other_thread},
		     {"timer", timer},
		     {"descriptors", descriptors},
		     {"resized", resized},
		     {"raw-default", raw_default},
		     {"raw-handler", raw_handler},
		     {"raw-block", raw_block},
		     {"by-number", by_number},
		     {"inherited", inherited}};
	if (argc < 3)
		return 2;
	sig = atoi(argv[1]);
	sigemptyset(&one);
	sigemptyset(&none);
	sigaddset(&one, sig);
	burn();
	if (!strcmp(argv[2], "inherit"))
		inherit(argv[0]);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strcmp(argv[2], parts[i].name))
			parts[i].run();
	burn();
	return 0;
}
