/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parents, children and how they end, for tests/cli/run/run_children.sh and
 * tests/cli/run/run_ends.sh. Usage: run_family MODE [ARGUMENTS]. run_family_go has the note of Go's
 * linker.
 */
#include "common/machine/machine.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HAS_GO_NOTE
__asm__(".pushsection .note.go.buildid,\"a\",@note\n"
	".balign 4\n"
	".long 4, 4, 4\n"
	".asciz \"Go\\0\"\n"
	".ascii \"test\"\n"
	".popsection\n");
#endif

static void must(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(99);
}

/* ---- waits ---- */

static void say(const char *how, int status)
{
	if (WIFSIGNALED(status))
		printf("%s: signal %d\n", how, WTERMSIG(status));
	else
		printf("%s: status %d\n", how, WEXITSTATUS(status));
}

static pid_t start(char **argv, int fast)
{
	extern char **environ;
	pid_t pid;
	if (fast) {
		must(posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) == 0, "posix_spawn");
		return pid;
	}
	pid = fork();
	if (pid == 0) {
		execv(argv[0], argv);
		_exit(98);
	}
	must(pid > 0, "fork");
	return pid;
}

/* One child for each way to wait; every other one by posix_spawn. */
static int wait_for(char **argv)
{
	int status;
	struct rusage use;
	siginfo_t info;
	start(argv, 0);
	must(wait(&status) > 0, "wait");
	say("wait", status);
	pid_t pid = start(argv, 1);
	must(waitpid(pid, &status, 0) == pid, "waitpid");
	say("waitpid", status);
	start(argv, 0);
	must(wait3(&status, 0, &use) > 0, "wait3");
	say("wait3", status);
	pid = start(argv, 1);
	must(wait4(pid, &status, 0, NULL) == pid, "wait4");
	say("wait4", status);
	pid = start(argv, 0);
	memset(&info, 0x55, sizeof info);
	must(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG) == 0, "waitid");
	while (info.si_pid == 0)
		must(waitid(P_ALL, 0, &info, WEXITED) == 0, "waitid");
	printf("waitid: %d %d %d\n", info.si_pid == pid, info.si_code, info.si_status);
	pid = start(argv, 1);
	must(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0, "waitid");
	must(wait(NULL) == pid, "wait");
	printf("none left: %d %d\n", wait(&status), errno == ECHILD);
	printf("none left: %d %d\n", waitid(P_ALL, 0, NULL, WEXITED), errno == ECHILD);
	return 0;
}

/* Its child's status as it is, the flag of the core file included. */
static int watch(char **argv)
{
	int status = 0;
	pid_t pid = start(argv, 0);
	must(waitpid(pid, &status, 0) == pid, "waitpid");
	printf("child: %x\n", status);
	return 0;
}

static int call_system(char **argv)
{
	say("system", system(argv[0]));
	return 0;
}

/* A thread that waits is cancelled; its child is still there. */
static void *wait_long(void *pid)
{
	int status;
	waitpid(*(pid_t *)pid, &status, 0);
	return NULL;
}

static int cancel(char **argv)
{
	(void)argv;
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			pause();
			_exit(0);
		}
		pthread_t thread;
		void *result = NULL;
		must(pthread_create(&thread, NULL, wait_long, &pid) == 0, "pthread_create");
		if (i % 2)
			usleep(500);
		must(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0,
			"pthread_cancel");
		if (result != PTHREAD_CANCELED)
			return 1;
		must(kill(pid, SIGTERM) == 0 && waitpid(pid, NULL, 0) == pid, "kill");
	}
	puts("cancelled");
	return 0;
}

/* ---- ends ---- */

static int fall(int n)
{
	volatile char room[65536];
	room[0] = (char)n;
	return n ? fall(n + 1) + room[0] : 0;
}

static volatile int zero;
static volatile int *volatile nowhere = (volatile int *)8;

static void note(int sig)
{
	struct sigaction now;
	sigaction(sig, NULL, &now);
	printf("noted %d, %d %x\n", sig, now.sa_handler == SIG_DFL, now.sa_flags);
}

static int end_by(char **argv)
{
	const char *how = argv[0];
	int sig = argv[1] ? atoi(argv[1]) : 0;
	if (!strcmp(how, "raw"))
		machine_call3(SYS_exit_group, sig, 0, 0);
	else if (!strcmp(how, "segv"))
		*nowhere = 1;
	else if (!strcmp(how, "divide"))
		return 7 / zero;
	else if (!strcmp(how, "overflow"))
		return fall(1);
	else if (!strcmp(how, "abort"))
		abort();
	else if (!strcmp(how, "kill"))
		kill(getpid(), sig);
	else if (!strcmp(how, "again")) { /* as handlers of crashes do at their end */
		signal(sig, SIG_IGN);
		signal(sig, SIG_DFL);
		raise(sig);
	} else if (!strcmp(how, "once")) { /* a handler for one signal alone: the second one ends
					      the process */
		sysv_signal(sig, note);
		raise(sig);
		kill(getpid(), sig);
	} else if (!strcmp(how, "refault")) {
		struct sigaction act = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND};
		sigaction(SIGSEGV, &act, NULL);
		*nowhere = 1;
	} else if (!strcmp(how, "wait"))
		pause();
	return 77;
}

static void handle(int sig)
{
	printf("handled %d\n", sig);
}

/* What the program sees of its signals' dispositions: as it has set them, whatever the kernel
 * holds. */
static int ask(char **argv)
{
	struct sigaction act, old;
	(void)argv;
	for (int sig = 1; sig < 32; sig++) {
		if (sig == SIGKILL || sig == SIGSTOP || sig == SIGWINCH)
			continue;
		memset(&act, 0x55, sizeof act);
		sigaction(sig, NULL, &act);
		printf("%d: %d %x %d", sig, act.sa_handler == SIG_DFL, act.sa_flags,
			sigismember(&act.sa_mask, SIGHUP));
		memset(&act, 0, sizeof act);
		act.sa_handler = SIG_DFL;
		act.sa_flags = SA_NODEFER | SA_NOCLDSTOP;
		sigaddset(&act.sa_mask, SIGHUP);
		sigaction(sig, &act, NULL);
		sigaction(sig, NULL, &old);
		printf(", %d %x %d", old.sa_handler == SIG_DFL, old.sa_flags,
			sigismember(&old.sa_mask, SIGHUP));
		printf(", %d", signal(sig, handle) == SIG_DFL);
		printf(", %d", signal(sig, SIG_DFL) == handle);
		sigaction(sig, NULL, &old);
		printf(", %d %x", old.sa_handler == SIG_DFL, old.sa_flags);
		printf(", %d\n", signal(sig, handle) == SIG_DFL);
		raise(sig);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(char **argv);
	} modes[] = {{"wait", wait_for}, {"watch", watch}, {"system", call_system},
		{"cancel", cancel}, {"end", end_by}, {"ask", ask}};
	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(argv[1], modes[i].name)) {
			setvbuf(stdout, NULL, _IONBF, 0);
			return modes[i].run(argv + 2);
		}
	return 98;
}
