/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs and libraries whose files go while they run. Built by the test, with PLUGIN as a library
 * too, because builds with and without a build id are needed. Prints "quiet" if it could not notice
 * that a copy was made. Test: tests/cli/run/run_gone.sh.
 *
 *	run_gone spin			work in hot_main
 *	run_gone memfd MODE...		the same program from a file in memory, in another mode
 *	run_gone term			work, then end by SIGTERM
 *	run_gone HOW LIBRARY		load it, let its file go (unlink, unlinkat, remove, replace,
 *					memory), work in hot_plugin
 *	run_gone closed LIBRARY		work in hot_plugin, unload, remove
 *	run_gone many LIBRARY		three children of fork, each as unlink with its own copy
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static volatile unsigned long sink;

/* Some CPU time, for samples. */
#define HOT(name)                                                                                  \
	__attribute__((noinline)) void name(void)                                                  \
	{                                                                                          \
		for (const clock_t end = clock() + CLOCKS_PER_SEC / 8; clock() < end;)             \
			for (unsigned long i = 0; i < 1000000; i++)                                \
				sink += i * i;                                                     \
	}

#ifdef PLUGIN
HOT(hot_plugin)
#else
HOT(hot_main)

static volatile sig_atomic_t n_signals;

static void on_signal(int sig)
{
	(void)sig;
	n_signals++;
}

static int n_descriptors(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	while (d && readdir(d))
		n++;
	closedir(d);
	return n;
}

static int copy(const char *from, int to)
{
	static char bytes[65536];
	const int in = open(from, O_RDONLY);
	for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;)
		if (write(to, bytes, (size_t)n) != n)
			return -1;
	close(in);
	return to;
}

static void run_in_memory(char **arguments)
{
	const int fd = copy("/proc/self/exe", memfd_create("payload", MFD_CLOEXEC));
	fexecve(fd, arguments, environ);
	perror("fexecve");
	exit(2);
}

static void *load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return library;
}

static void work(void *library)
{
	void *const symbol = dlsym(library, "hot_plugin");
	void (*function)(void);
	memcpy(&function, &symbol, sizeof function);
	function();
}

static void *load_from_memory(const char *path)
{
	char name[64];
	const int fd = copy(path, memfd_create("library", MFD_CLOEXEC));
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	void *library = load(name);
	close(fd);
	return library;
}

static void let_go(const char *how, const char *path)
{
	char other[4096];
	snprintf(other, sizeof other, "%s.other", path);
	int failed = -1;
	if (!strcmp(how, "unlink"))
		failed = unlink(path);
	else if (!strcmp(how, "unlinkat"))
		failed = unlinkat(AT_FDCWD, path, 0);
	else if (!strcmp(how, "remove"))
		failed = remove(path);
	else if (!strcmp(how, "replace"))
		failed = close(open(other, O_WRONLY | O_CREAT, 0600)) || rename(other, path);
	if (failed) {
		perror(path);
		exit(2);
	}
}

static void run_plugin(const char *how, const char *path)
{
	const struct sigaction act = {.sa_handler = on_signal};
	sigaction(SIGCHLD, &act, NULL);
	const int before = n_descriptors();
	const int in_memory = !strcmp(how, "memory");
	void *library = in_memory ? load_from_memory(path) : load(path);
	if (!in_memory)
		let_go(how, path);
	const int same = n_descriptors() == before && n_signals == 0 &&
			 waitpid(-1, NULL, 0) == -1 && errno == ECHILD;
	puts(same ? "quiet" : "noticed");
	work(library);
}

static void run_many(const char *path)
{
	char name[4096];
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			snprintf(name, sizeof name, "%s.%d", path, i);
			close(copy(path, open(name, O_WRONLY | O_CREAT, 0700)));
			run_plugin("unlink", name);
			exit(0);
		}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "spin";
	if (!strcmp(mode, "memfd"))
		run_in_memory(argv + 1); /* argv[0] is "memfd" there */
	else if (!strcmp(mode, "spin"))
		hot_main();
	else if (!strcmp(mode, "term")) {
		hot_main();
		raise(SIGTERM);
	} else if (!strcmp(mode, "many"))
		run_many(argv[2]);
	else if (!strcmp(mode, "closed")) {
		void *library = load(argv[2]);
		work(library);
		dlclose(library);
		unlink(argv[2]);
	} else
		run_plugin(mode, argv[2]);
	return 0;
}
#endif
