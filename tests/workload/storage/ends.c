/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends of processes for tests/cli/storage/storage_proof.sh. Usage:
 *
 *	ends adopt            adopts orphans; prints what wait() returns after one child
 *	ends ignore           ignores SIGCHLD
 *	ends fault FILE GO    a thread writes to FILE all the time; when GO is there, another one
 *	                      prints how much it has written, and ends with SIGSEGV
 *	ends exec SECONDS     a child that outlives its parent works, fails to execute, works on;
 *	                      prints its CPU time in ns
 *	ends become SECONDS   a child that outlives its parent works, then executes true
 *	ends thread SECONDS   a child that outlives its parent works, then starts a thread
 *	ends late SECONDS     the same without a thread; the tool sees the child late
 *	ends full             ends without a free descriptor
 *	ends alone            a fork fails
 *	ends unwaited         kills its child and does not wait for it
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int adopt(void)
{
	int status;
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (fork() == 0) {
		execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
		_exit(127);
	}
	while (wait(&status) > 0)
		printf("status %d\n", WEXITSTATUS(status));
	return 0;
}

static void *write_on(void *path)
{
	FILE *f = fopen(path, "w");
	while (f && fputc('x', f) != EOF && fflush(f) == 0)
		usleep(1000);
	return NULL;
}

static int fault(char *path, const char *go)
{
	pthread_t t;
	pthread_create(&t, NULL, write_on, path);
	while (access(go, F_OK) != 0)
		usleep(10000);
	FILE *f = fopen(path, "r");
	long n = 0;
	while (f && fgetc(f) != EOF)
		n++;
	printf("%ld\n", n);
	fflush(stdout);
	raise(SIGSEGV);
	return 0;
}

/* ---- a child whose parent has ended before the tool sees it ---- */

static bool is_late;

static void be_late(void)
{
	if (is_late)
		usleep(500000);
}

static void register_first(void)
{
	pthread_atfork(NULL, NULL, be_late);
}
/* Before the constructors of libraries, and handlers run in the order of their registration. */
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) =
	register_first;

static void work(double s)
{
	const int64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + (int64_t)(s * 1e9);
	while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		;
}

/* In the parent, does not return. */
static void outlive_parent(void)
{
	const pid_t parent = getpid();
	if (fork() != 0)
		exit(0);
	while (getppid() == parent)
		usleep(10000);
	usleep(200000); /* the parent's file is copied */
}

static int fail_to_execute(double s)
{
	outlive_parent();
	work(s / 4);
	execl("/no/such/program", "program", (char *)NULL);
	work(s);
	printf("%lld\n", (long long)now_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}

static int become_true(double s)
{
	outlive_parent();
	work(s);
	execlp("true", "true", (char *)NULL);
	return 1;
}

static void *do_nothing(void *unused)
{
	return unused;
}

static int start_thread(double s)
{
	pthread_t t;
	outlive_parent();
	work(s);
	pthread_create(&t, NULL, do_nothing, NULL);
	pthread_join(t, NULL);
	work(s);
	return 0;
}

static int work_late(double s)
{
	is_late = true;
	outlive_parent();
	work(s);
	return 0;
}

static int use_all_descriptors(void)
{
	while (open("/dev/null", O_RDONLY) >= 0)
		;
	return errno != EMFILE;
}

/* For root there is no limit. */
static int fail_to_fork(void)
{
	struct rlimit before, none;
	if (getrlimit(RLIMIT_NPROC, &before) != 0)
		return 1;
	none = (struct rlimit){0, before.rlim_max};
	setrlimit(RLIMIT_NPROC, &none);
	const pid_t child = fork();
	setrlimit(RLIMIT_NPROC, &before);
	if (child == 0)
		_exit(0);
	return child > 0 ? 3 : 0;
}

static int kill_child(void)
{
	siginfo_t info;
	int ends[2];
	char byte = 0;
	if (pipe(ends) != 0)
		return 1;
	const pid_t child = fork();
	while (child == 0)
		if (write(ends[1], &byte, 1) == 1)
			pause();
	if (read(ends[0], &byte, 1) != 1)
		return 1;
	kill(child, SIGKILL);
	return waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "unwaited"))
		return kill_child();
	if (argc == 2 && !strcmp(argv[1], "full"))
		return use_all_descriptors();
	if (argc == 2 && !strcmp(argv[1], "alone"))
		return fail_to_fork();
	if (argc == 2 && !strcmp(argv[1], "adopt"))
		return adopt();
	if (argc == 2 && !strcmp(argv[1], "ignore"))
		return signal(SIGCHLD, SIG_IGN) == SIG_ERR;
	if (argc == 4 && !strcmp(argv[1], "fault"))
		return fault(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "exec"))
		return fail_to_execute(atof(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "become"))
		return become_true(atof(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "thread"))
		return start_thread(atof(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "late"))
		return work_late(atof(argv[2]));
	return 2;
}
