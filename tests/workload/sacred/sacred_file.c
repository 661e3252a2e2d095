/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose measurement file somebody shortens or overwrites while it runs, and its own
 * SIGBUS. sacred_file DIRECTORY HOW WHO: HOW is what is done to the files *.hpcrun in the
 * directory: a number of bytes to cut them to, "noise" to write over them behind the first page, or
 * "none". WHO: "default", "handler" (the program handles SIGBUS, and has faults of its own),
 * "reset" (with SA_RESETHAND), "blocked" (the threads block all signals), "pending" (so does the
 * process, and it was sent SIGBUS), "die" (a SIGBUS of its own in the end), "ignore". The output
 * with a profiler must be that without. Run by tests/cli/sacred/sacred_file.sh.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *volatile page; /* of a file that has none any more */
static volatile sig_atomic_t n_faults, n_other;
static int is_blocked;

static void on_bus(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_addr != page || info->si_code != BUS_ADRERR) {
		if (++n_other > 100)
			_exit(99);
		return;
	}
	n_faults++;
	mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void fault(void)
{
	FILE *f = tmpfile();
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
	*(volatile char *)page = 1;
	munmap(page, 4096);
	fclose(f);
}

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Paths of many depths, so that there is always something new to be written down. */
__attribute__((noinline)) static unsigned deep(unsigned n, unsigned x)
{
	volatile unsigned y = x;
	if (n)
		return (x & 1 ? deep(n - 1, x >> 1) : deep(n - 1, (x >> 1) * 3)) + y;
	for (int i = 0; i < 2000; i++)
		y = y * 7 + 1;
	return y;
}

static void *work(void *seconds)
{
	sigset_t all;
	sigfillset(&all);
	if (is_blocked)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	double end = cpu_s() + *(double *)seconds;
	for (unsigned x = 1; cpu_s() < end; x = x * 1664525u + 1013904223u)
		deep(x >> 16 & 31, x);
	return NULL;
}

static void work_in_threads(double seconds)
{
	pthread_t thread[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work, &seconds);
	work(&seconds);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

/* The SIGBUS that wait: where from? */
static void take_pending(const char *when)
{
	const struct timespec zero = {0, 0};
	sigset_t bus;
	siginfo_t info;
	sigemptyset(&bus);
	sigaddset(&bus, SIGBUS);
	while (sigtimedwait(&bus, &info, &zero) == SIGBUS)
		printf("%s: SIGBUS with code %d, pid %d\n", when, info.si_code,
		       info.si_pid == getpid());
}

static void *take_in_thread(void *when)
{
	take_pending(when);
	return NULL;
}

/* As much as a program can do while a SIGBUS waits that it has blocked. */
static void live_with_pending(void)
{
	pthread_t thread;
	sigset_t bus;
	sigemptyset(&bus);
	sigaddset(&bus, SIGBUS);
	sigprocmask(SIG_BLOCK, &bus, NULL);
	is_blocked = 1;
	kill(getpid(), SIGBUS);
	work_in_threads(0.02);
	pthread_create(&thread, NULL, take_in_thread, (void *)"another thread");
	pthread_join(thread, NULL);
	raise(SIGBUS);
	work_in_threads(0.02);
	pthread_create(&thread, NULL, take_in_thread, (void *)"another thread again");
	pthread_join(thread, NULL);
	take_pending("the thread");
	kill(getpid(), SIGBUS); /* waits until the end */
}

static void damage_file(const char *path, const char *how)
{
	static char noise[1 << 16];
	struct stat st;
	int fd = open(path, O_RDWR);
	if (fd < 0 || fstat(fd, &st) != 0)
		return;
	for (size_t i = 0; i < sizeof noise; i++)
		noise[i] = (char)(rand() >> 8);
	if (strcmp(how, "noise"))
		(void)!ftruncate(fd, atol(how));
	else
		for (off_t at = 4096; at < st.st_size; at += (off_t)sizeof noise)
			(void)!pwrite(fd, noise,
				      st.st_size - at < (off_t)sizeof noise
					      ? (size_t)(st.st_size - at)
					      : sizeof noise,
				      at);
	close(fd);
}

static void damage(const char *directory, const char *how)
{
	DIR *d = opendir(directory);
	char path[4096];
	for (struct dirent *e; d && (e = readdir(d));) {
		snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
		if (strstr(e->d_name, ".hpcrun") && strcmp(how, "none"))
			damage_file(path, how);
	}
	if (d)
		closedir(d);
}

static void look(const char *what)
{
	struct sigaction a;
	sigaction(SIGBUS, NULL, &a);
	printf("%s: %s, flags %x, SIGBUS masked %d\n", what,
	       a.sa_handler == SIG_DFL    ? "default"
	       : a.sa_handler == SIG_IGN  ? "ignored"
	       : a.sa_sigaction == on_bus ? "ours"
					  : "?",
	       (unsigned)a.sa_flags & ~0x04000000u, sigismember(&a.sa_mask, SIGBUS));
}

/* Forks a child that does some work; returns its status, as from wait. */
static int end_of_child(void)
{
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		work_in_threads(0.01);
		_exit(7);
	}
	int status = 0;
	waitpid(child, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	const char *who = argv[3];
	is_blocked = !strcmp(who, "blocked");
	look("at first");
	struct sigaction a = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_RESTART};
	if (!strcmp(who, "reset"))
		a.sa_flags |= (int)SA_RESETHAND;
	if (!strcmp(who, "handler") || !strcmp(who, "reset"))
		sigaction(SIGBUS, &a, NULL);
	if (!strcmp(who, "ignore"))
		signal(SIGBUS, SIG_IGN);
	look("then");
	if (!strcmp(who, "pending"))
		live_with_pending();
	work_in_threads(0.02);
	if (!strcmp(who, "handler"))
		fault();
	printf("child before %d\n", end_of_child());
	if (is_blocked) {
		sigset_t all;
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
	}
	damage(argv[1], argv[2]);
	work_in_threads(0.02);
	if (a.sa_handler && (!strcmp(who, "handler") || !strcmp(who, "reset")))
		fault();
	for (int i = 0; i < 2; i++)
		printf("child %d\n", end_of_child());
	look("at last");
	printf("%d faults, %d others\n", (int)n_faults, (int)n_other);
	fflush(stdout);
	if (!strcmp(who, "die"))
		fault();
	if (!strcmp(who, "handler"))
		raise(SIGBUS);
	printf("%d others\n", (int)n_other);
	return 3;
}
