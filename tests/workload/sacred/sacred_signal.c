/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Masks, handlers and deliveries as a program sees them, of every signal and above all of
 * SIGWINCH, by which a profiler samples: the output with one must be that without. Argument: the
 * name of a part. Run by tests/cli/sacred/sacred_signal.sh.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t n_caught, last_code, depth_seen;
static sigjmp_buf out;

static void spin(void)
{
	volatile double x = 1;
	for (long i = 0; i < 8000000; i++)
		x = x * 1.0000001 + 1e-9;
}

/* By the thread's own clock, so that shares are known on any machine. */
__attribute__((noinline)) static void spend(void)
{
	struct timespec t;
	double end, now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	now = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
	end = now + 0.1;
	while (now < end) {
		volatile double x = 1;
		for (long i = 0; i < 100000; i++)
			x = x * 1.0000001 + 1e-9;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
	}
}

static void catch(int sig)
{
	(void)sig;
	n_caught++;
}

static void catch_info(int sig, siginfo_t *info, void *context)
{
	sigset_t now;
	(void)context;
	n_caught++;
	last_code = info->si_code;
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	depth_seen = sigismember(&now, sig) * 2 + sigismember(&now, SIGUSR2);
	spin();
}

static void jump(int sig)
{
	siglongjmp(out, sig);
}

static void print_mask(const char *what)
{
	sigset_t set;
	sigprocmask(SIG_SETMASK, NULL, &set);
	printf("%-22s", what);
	for (int sig = 1; sig < 65; sig++)
		putchar(sigismember(&set, sig) > 0 ? '1' : '0');
	sigpending(&set);
	printf(" pending");
	for (int sig = 1; sig < 65; sig++)
		if (sigismember(&set, sig) > 0)
			printf(" %d", sig);
	putchar('\n');
}

static void *thread(void *arg)
{
	print_mask("a thread");
	return arg;
}

static void masks(void)
{
	sigset_t all, none, one, old;
	pthread_t t;
	sigfillset(&all);
	sigemptyset(&none);
	sigemptyset(&one);
	sigaddset(&one, SIGWINCH);
	print_mask("at start");
	printf("%d\n", sigprocmask(SIG_BLOCK, &all, &old));
	print_mask("all blocked");
	spin();
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	printf("%d\n", sigprocmask(SIG_UNBLOCK, &one, NULL));
	print_mask("one unblocked");
	printf("%d\n", pthread_sigmask(SIG_SETMASK, &one, NULL));
	print_mask("one blocked");
	spin();
	printf("%d\n", sigprocmask(SIG_SETMASK, &old, &none));
	print_mask("as before");
	printf("%d", sigprocmask(77, &one, NULL));
	printf(" %d\n", errno);
	printf("%d\n", pthread_sigmask(77, &one, NULL));
	printf("%#x %#x", (unsigned)sigblock(0x8010), (unsigned)sigblock(0));
	printf(" %#x %#x\n", (unsigned)sigsetmask(0x10), (unsigned)sigsetmask(0));
	print_mask("old style");
}

static void print_action(int sig)
{
	struct sigaction a;
	if (sigaction(sig, NULL, &a) != 0) {
		printf("%d: errno %d\n", sig, errno);
		return;
	}
	const char *who = a.sa_handler == SIG_DFL        ? "default"
			  : a.sa_handler == SIG_IGN      ? "ignore"
			  : a.sa_handler == catch        ? "catch"
			  : a.sa_sigaction == catch_info ? "catch_info"
							 : "other";
	printf("%d: %s flags %#x mask ", sig, who, (unsigned)a.sa_flags & ~0x04000000U);
	for (int s = 1; s < 65; s++)
		putchar(sigismember(&a.sa_mask, s) > 0 ? '1' : '0');
	putchar('\n');
}

static void actions(void)
{
	struct sigaction a = {.sa_handler = catch, .sa_flags = SA_RESTART | SA_NODEFER}, old;
	for (int sig = 1; sig < 65; sig++)
		print_action(sig);
	sigfillset(&a.sa_mask);
	for (int sig = 1; sig < 66; sig++) {
		errno = 0;
		int result = sigaction(sig, &a, &old);
		printf("%d: %d errno %d\n", sig, result, errno);
	}
	for (int sig = 1; sig < 65; sig++)
		print_action(sig);
	a.sa_sigaction = catch_info;
	a.sa_flags = SA_SIGINFO | (int)SA_RESETHAND;
	sigemptyset(&a.sa_mask);
	sigaddset(&a.sa_mask, SIGWINCH);
	sigaction(SIGUSR1, &a, &old);
	printf("was catch: %d\n", old.sa_handler == catch);
	print_action(SIGUSR1);
	raise(SIGUSR1);
	print_action(SIGUSR1);
	printf("caught %d, code %d, mask %d\n", n_caught, last_code, depth_seen);
	printf("signal: %d", signal(SIGUSR1, catch) == SIG_DFL);
	printf(" %d", signal(SIGUSR1, SIG_IGN) == catch);
	printf(" %d", signal(SIGUSR1, SIG_DFL) == SIG_IGN);
	printf(" %d", signal(SIGWINCH, SIG_DFL) == catch);
	printf(" %d", signal(SIGKILL, catch) == SIG_ERR);
	printf(" %d", sysv_signal(SIGUSR2, catch) == catch);
	printf(" %d", sigset(SIGUSR2, SIG_HOLD) == catch);
	printf(" %d\n", sigset(SIGUSR2, catch) == SIG_HOLD);
	print_action(SIGUSR2);
	print_action(SIGWINCH);
}

/* SIGWINCH is used by the program itself. */
static void own(void)
{
	struct sigaction a = {.sa_sigaction = catch_info, .sa_flags = SA_SIGINFO};
	sigset_t one, old;
	sigemptyset(&a.sa_mask);
	sigaddset(&a.sa_mask, SIGUSR2);
	sigaction(SIGWINCH, &a, NULL);
	for (int i = 0; i < 5; i++)
		raise(SIGWINCH);
	printf("raised: %d, code %d, mask %d\n", n_caught, last_code, depth_seen);
	/* one that is sent while a sample's is pending merges with it: the one exception,
	 * doc/transparency.md */
	for (n_caught = 0; n_caught == 0;)
		kill(getpid(), SIGWINCH);
	printf("killed: %d, code %d\n", n_caught, last_code);
	for (n_caught = 0; n_caught == 0;)
		sigqueue(getpid(), SIGWINCH, (union sigval){.sival_int = 5});
	printf("queued: %d, code %d\n", n_caught, last_code);
	sigemptyset(&one);
	sigaddset(&one, SIGWINCH);
	sigprocmask(SIG_BLOCK, &one, &old);
	raise(SIGWINCH);
	raise(SIGWINCH);
	spin();
	printf("blocked: %d\n", n_caught);
	print_mask("blocked");
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf("unblocked: %d\n", n_caught);
	signal(SIGWINCH, jump);
	for (int i = 0; i < 3; i++)
		if (sigsetjmp(out, 1) == 0) {
			spin();
			raise(SIGWINCH);
			printf("not reached\n");
		}
	spin();
	print_mask("after jumps");
	signal(SIGWINCH, SIG_IGN);
	raise(SIGWINCH);
	a.sa_flags |= (int)SA_RESETHAND;
	n_caught = 0;
	sigaction(SIGWINCH, &a, NULL);
	raise(SIGWINCH);
	printf("once: %d\n", n_caught);
	print_action(SIGWINCH);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		spin();
		raise(SIGWINCH);
		_exit(1);
	}
	int status;
	waitpid(child, &status, 0);
	printf("child: signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* What the next program inherits. */
static void inherit(const char *self)
{
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, SIGWINCH);
	sigaddset(&one, SIGUSR1);
	sigprocmask(SIG_BLOCK, &one, NULL);
	signal(SIGWINCH, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGHUP, catch);
	fflush(stdout);
	execl("/nonexistent/program", "x", (char *)NULL);
	printf("errno %d\n", errno);
	spin();
	fflush(stdout);
	execl(self, self, "show", (char *)NULL);
}

static void show(void)
{
	print_mask("inherited");
	print_action(SIGWINCH);
	print_action(SIGUSR2);
	print_action(SIGHUP);
	spin();
}

static void compute_in_handler(int sig)
{
	(void)sig;
	spend();
	spend();
	__asm__ volatile(""); /* or it jumps there, and is not in the path */
}

/* Computes with all signals blocked, by a mask and then by a handler's: it must be sampled all the
 * same. */
static void blocked(void)
{
	struct sigaction a = {.sa_handler = compute_in_handler};
	sigset_t all, old;
	sigfillset(&all);
	sigfillset(&a.sa_mask);
	sigaction(SIGUSR1, &a, NULL);
	sigprocmask(SIG_SETMASK, &all, &old);
	spend();
	spend();
	sigprocmask(SIG_SETMASK, &old, NULL);
	raise(SIGUSR1);
	puts("computed");
}

static void wait_for(void)
{
	sigset_t all;
	siginfo_t info;
	int sig = 0;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	raise(SIGUSR1);
	printf("sigwait %d", sigwait(&all, &sig));
	printf(" %d\n", sig);
	raise(SIGUSR2);
	printf("sigwaitinfo %d\n", sigwaitinfo(&all, &info));
	printf("sigtimedwait %d", sigtimedwait(&all, &info, &(struct timespec){0, 50000000}));
	printf(" %d\n", errno);
	int fd = signalfd(-1, &all, 0);
	raise(SIGUSR1);
	struct signalfd_siginfo got = {0};
	int n = (int)read(fd, &got, sizeof got);
	printf("signalfd %d %d\n", n, (int)got.ssi_signo);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	if (!strcmp(part, "blocked")) {
		spend();
		blocked();
		spend();
		return 0;
	}
	spin();
	if (!strcmp(part, "masks"))
		masks();
	else if (!strcmp(part, "actions"))
		actions();
	else if (!strcmp(part, "own"))
		own();
	else if (!strcmp(part, "inherit"))
		inherit(argv[0]);
	else if (!strcmp(part, "show"))
		show();
	else if (!strcmp(part, "wait"))
		wait_for();
	else if (!strcmp(part, "die"))
		raise(SIGWINCH);
	spin();
	return 0;
}
