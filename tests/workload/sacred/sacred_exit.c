/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends in the way that its argument names, with handlers that print. Run by
 * tests/cli/sacred/sacred_exit.sh. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void spin(void)
{
	volatile double x = 1;
	for (long i = 0; i < 5000000; i++)
		x = x * 1.0000001 + 1e-9;
}

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(99);
}
static void at_end(void) { spin(); say("atexit\n"); }
static void at_end_first(void) { say("atexit, registered last\n"); }
static void at_quick_end(void) { spin(); say("at_quick_exit\n"); }
static void at_quick_end_first(void) { say("at_quick_exit, registered last\n"); }
static void exit_in_handler(void) { say("exits again\n"); _exit(33); }
__attribute__((destructor)) static void destroy(void) { say("destructor\n"); }

static void *leave(void *arg)
{
	(void)arg;
	spin();
	exit(21);
}
static void *last(void *arg)
{
	usleep(50000);
	spin();
	say("last thread\n");
	return arg;
}
static void leave_by_signal(int sig)
{
	(void)sig;
	say("handler\n");
	_exit(40);
}

/* Set at run time, or the compiler would know. */
static volatile int *volatile nowhere;

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t t;
	atexit(at_end);
	atexit(at_end_first);
	at_quick_exit(at_quick_end);
	at_quick_exit(at_quick_end_first);
	spin();
	if (!strcmp(how, "return"))
		return 300;
	if (!strcmp(how, "exit"))
		exit(-1);
	if (!strcmp(how, "_exit"))
		_exit(12);
	if (!strcmp(how, "_Exit"))
		_Exit(13);
	if (!strcmp(how, "quick_exit"))
		quick_exit(14);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "terminate"))
		raise(SIGTERM);
	if (!strcmp(how, "segv"))
		*nowhere = 1;
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "pthread_exit")) {
		pthread_create(&t, NULL, last, NULL);
		pthread_exit(NULL);
	}
	if (!strcmp(how, "thread_exit")) {
		pthread_create(&t, NULL, leave, NULL);
		pthread_join(t, NULL);
	}
	if (!strcmp(how, "nested")) {
		signal(SIGALRM, leave_by_signal);
		ualarm(100000, 0);
		for (;;)
			spin();
	}
	if (!strcmp(how, "atexit"))
		atexit(exit_in_handler);
	return 15;
}
