/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every way of starting a program, with environments of its own making, and what the program so
 * started sees; also ways that fail. The output with a profiler must be that without. Run by
 * tests/cli/sacred/sacred_exec.sh.
 */
#include "tests/workload/older.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *self;
static char a[] = "A=1", b[] = "LD_PRELOAD=", c[] = "B=2";
static char *const few[] = {a, b, c, NULL};
static char *const none[] = {NULL};

static void spin(void)
{
	volatile double x = 1;
	for (long i = 0; i < 1500000; i++)
		x = x * 1.0000001 + 1e-9;
}

/* What was started: says what it was given. */
static int shown(int argc, char **argv)
{
	unsigned long sum = 0;
	spin();
	for (char **e = environ; *e; e++)
		for (char *at = *e; *at; at++)
			sum = sum * 31 + (unsigned char)*at;
	int n = 0;
	while (environ[n])
		n++;
	printf("  %d arguments, last %s; %d variables, sum %lx; A=%s B=%s preload %s\n", argc,
	       argv[argc - 1], n, sum, getenv("A"), getenv("B"),
	       getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "unset");
	return argc;
}

static void wait_for(pid_t child)
{
	int status = 0;
	waitpid(child, &status, 0);
	printf("  status %#x\n", (unsigned)status);
}

/* Arguments are not const, for no good reason. */
#define A(text) ((char *)(uintptr_t)(text))

static void many(char **argv, int n)
{
	argv[0] = self;
	argv[1] = A("show");
	for (int i = 2; i < n; i++)
		argv[i] = A("x");
	argv[n] = NULL;
}

enum {
	EXECVE,
	EXECV,
	EXECVP,
	EXECVPE,
	EXECL,
	EXECLP,
	EXECLE,
	FEXECVE,
	EXECVEAT,
	EXECLONG,
	EMPTY,
	MISSING,
	DENIED,
	N_WAYS
};

static void become(int way)
{
	char *argv[] = {self, A("show"), A("one"), NULL};
	switch (way) {
	case EXECVE: execve(self, argv, few); break;
	case EXECV: execv(self, argv); break;
	case EXECVP: execvp(self, argv); break;
	case EXECVPE: execvpe("env", (char *[]){A("env"), NULL}, few); break;
	case EXECL: execl(self, self, "show", "two", (char *)NULL); break;
	case EXECLP:
		execlp("sh", "sh", "-c", "echo \"  $0 $1 $A\"; exit 9", "zero", "first",
		       (char *)NULL);
		break;
	case EXECLE: execle(self, self, "show", "three", (char *)NULL, few); break;
	case FEXECVE: fexecve(open(self, O_RDONLY | O_CLOEXEC), argv, few); break;
	case EXECVEAT:
		execveat(open(self, O_PATH | O_CLOEXEC), "", argv, few, AT_EMPTY_PATH);
		break;
	case EXECLONG: {
		char *long_list[600];
		many(long_list, 599);
		execve(self, long_list, environ);
		break;
	}
	case EMPTY: execve(self, argv, none); break;
	case MISSING: execve("/nonexistent", argv, few); break;
	case DENIED: execv("/etc/passwd", argv); break;
	}
	printf("  errno %d\n", errno);
	fflush(stdout);
	spin();
	_exit(77);
}

static void by_fork(void)
{
	for (int way = 0; way < N_WAYS; way++) {
		printf("fork %d\n", way);
		fflush(stdout);
		pid_t child = fork();
		if (child == 0) {
			spin();
			become(way);
		}
		wait_for(child);
	}
}

/* The child of vfork shares our memory until it has become something else. */
static void by_vfork(void)
{
	for (volatile int i = 0; i < 30; i++) {
		char *argv[] = {self, A("show"), A("vfork"), NULL};
		fflush(stdout);
		pid_t child = vfork();
		if (child == 0) {
			if (i % 3 == 2)
				execve("/nonexistent", argv, few);
			else
				execve(self, argv, i % 3 ? few : environ);
			_exit(i);
		}
		wait_for(child);
	}
}

static void by_spawn(void)
{
	char *argv[] = {self, A("show"), A("spawn"), NULL};
	pid_t child;
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	for (int fd = 3; fd < 1024; fd++)
		posix_spawn_file_actions_addclose(&actions, fd);
	fflush(stdout);
	printf("posix_spawn %d\n", posix_spawn(&child, self, &actions, NULL, argv, few));
	wait_for(child);
	fflush(stdout);
	printf("posix_spawnp %d\n",
	       posix_spawnp(&child, "sh", NULL, NULL,
			    (char *[]){A("sh"), A("-c"), A("exit 5"), NULL}, environ));
	wait_for(child);
	printf("missing %d\n", posix_spawn(&child, "/nonexistent", NULL, NULL, argv, few));
}

static void by_shell(void)
{
	char line[200];
	fflush(stdout);
	printf("system %#x\n",
	       (unsigned)system(
		       "echo \"  $0 it's 'quoted' \\\"twice\\\" `echo x` $((1 + 2))\"; exit 3"));
	fflush(stdout);
	printf("system %#x\n", (unsigned)system("kill -9 $$"));
	fflush(stdout);
	printf("system %#x\n", (unsigned)system("nonexistent-command 2>/dev/null"));
	printf("system %d\n", system(NULL));
	FILE *f = popen("env | LC_ALL=C sort | cksum; echo $0; cat /dev/null", "r");
	while (f && fgets(line, sizeof line, f))
		printf("  read %s", line);
	printf("pclose %#x\n", (unsigned)pclose(f));
	f = popen("cat; exit 4", "w");
	fputs("  written\n", f);
	printf("pclose %#x\n", (unsigned)pclose(f));
	printf("popen %d\n", popen("true", "q") != NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "show"))
		return shown(argc, argv);
	self = argv[0];
	setvbuf(stdout, NULL, _IOLBF, 0);
	spin();
	by_fork();
	by_vfork();
	by_spawn();
	by_shell();
	return 6;
}
