/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does with descriptors what daemons, shells and test suites do, and prints what came of it: the
 * output with a profiler must be that without. Argument: the name of a part. Run by
 * tests/cli/sacred/sacred_fd.sh.
 */
#include "tests/workload/older.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOP 4096 /* beyond every descriptor of a profiler's, as the limit is set below */

static void spin(void)
{
	volatile double x = 1;
	for (long i = 0; i < 8000000; i++)
		x = x * 1.0000001 + 1e-9;
}

/* How many of [3, TOP) could be closed, and how many were not open. */
static void close_all(void)
{
	int closed = 0, not_open = 0, other = 0;
	for (int fd = 3; fd < TOP; fd++) {
		errno = 0;
		if (close(fd) == 0)
			closed++;
		else if (errno == EBADF)
			not_open++;
		else
			other++;
	}
	printf("close: %d closed, %d not open, %d other\n", closed, not_open, other);
}

static void lowest_free(const char *when)
{
	int a = open("/dev/null", O_RDONLY), b = dup(a), c = fcntl(a, F_DUPFD, 100);
	int pair[2] = {-1, -1};
	int made = pipe(pair);
	printf("%s: %d %d %d %d %d %d\n", when, a, b, c, made, pair[0], pair[1]);
	close(a);
	close(b);
	close(c);
	close(pair[0]);
	close(pair[1]);
}

static void overwrite(void)
{
	int a = open("/dev/null", O_WRONLY), wrong = 0;
	for (int fd = 10; fd < TOP; fd++)
		if (dup2(a, fd) != fd || write(fd, "x", 1) != 1)
			wrong++;
	printf("dup2: %d wrong\n", wrong);
	for (int fd = 10; fd < TOP; fd++)
		if (dup3(a, fd, O_CLOEXEC) != fd || fcntl(fd, F_GETFD) != FD_CLOEXEC ||
		    close(fd) != 0)
			wrong++;
	printf("dup3: %d wrong\n", wrong);
	int refused = 0;
	for (int fd = 10; fd < TOP; fd++)
		refused += dup(fd) < 0 && errno == EBADF;
	printf("dup: %d not open\n", refused);
	refused = 0;
	for (int fd = 10; fd < TOP; fd++)
		refused += dup2(fd, 5) < 0 && errno == EBADF;
	printf("dup2 from: %d not open\n", refused);
	close(a);
}

static void ranges(void)
{
	for (int fd = 100; fd < 200; fd++)
		dup2(1, fd);
	int result = close_range(50, ~0U, 0), left = 0;
	for (int fd = 100; fd < 200; fd++)
		left += fcntl(fd, F_GETFD) >= 0;
	printf("close_range: %d, %d left\n", result, left);
	for (int fd = 100; fd < 200; fd++)
		dup2(1, fd);
	printf("close_range backwards: %d", close_range(9, 8, 0));
	printf(" errno %d\n", errno);
	result = close_range(3, ~0U, CLOSE_RANGE_UNSHARE);
	left = 0;
	for (int fd = 100; fd < 200; fd++)
		left += fcntl(fd, F_GETFD) >= 0;
	printf("close_range, own table: %d, %d left\n", result, left);
	for (int fd = 100; fd < 200; fd++)
		dup2(1, fd);
	closefrom(3);
	left = 0;
	for (int fd = 100; fd < 200; fd++)
		left += fcntl(fd, F_GETFD) >= 0;
	printf("closefrom: %d left\n", left);
	for (int fd = 100; fd < 200; fd++)
		dup2(1, fd);
	fflush(stdout);
	closefrom(-1); /* everything: what follows goes nowhere, but must not fail */
}

static void in_child(void (*work)(void))
{
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		spin();
		work();
		fflush(stdout);
		spin();
		lowest_free("child");
		fflush(stdout);
		_exit(3);
	}
	int status = 0;
	waitpid(child, &status, 0);
	printf("child: %d\n", status);
}

int main(int argc, char **argv)
{
	struct rlimit limit = {TOP, TOP};
	const char *part = argc > 1 ? argv[1] : "";
	lowest_free("start");
	setrlimit(RLIMIT_NOFILE, &limit);
	spin();
	if (!strcmp(part, "close"))
		close_all();
	else if (!strcmp(part, "overwrite"))
		overwrite();
	else if (!strcmp(part, "fork")) {
		in_child(close_all);
		in_child(overwrite);
		in_child(ranges);
	} else if (!strcmp(part, "ranges"))
		ranges();
	spin();
	lowest_free("end");
	close_all();
	spin();
	return 7;
}
