/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands in front of malloc and of what takes locks, in the program itself, and ends it with a
 * message when one is called inside the profiler's handler. The handler is known by its signal
 * mask: it blocks everything, and this program blocks nothing. The program allocates, locks and
 * throws itself about all the time, so that many samples hit it inside these functions.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

static volatile unsigned long n_calls;

static void check(const char *what)
{
	uint64_t mask = 0;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
	n_calls++;
	/* SIGWINCH and SIGUSR2 blocked at once: only a handler with a full mask does that here */
	if (mask >> (SIGWINCH - 1) & mask >> (SIGUSR2 - 1) & 1) {
		char line[64] = "in handler: ";
		strcat(line, what);
		strcat(line, "\n");
		if (write(2, line, strlen(line)) < 0)
			_exit(4);
		_exit(3);
	}
}

void *malloc(size_t n)
{
	check("malloc");
	return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	check("calloc");
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	check("realloc");
	return __libc_realloc(p, n);
}

void free(void *p)
{
	check("free");
	__libc_free(p);
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	static int (*next)(pthread_mutex_t *);
	check("pthread_mutex_lock");
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	return next(m);
}

int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	static int (*next)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	check("dl_iterate_phdr");
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	return next(callback, data);
}

static int count(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	++*(int *)data;
	return 0;
}

static void *work(void *library)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	struct timespec t;
	double start = -1, now;
	unsigned i = 0;
	do {
		char *p = malloc(100 + i % 1000);
		p = realloc(p, 5000);
		pthread_mutex_lock(&mutex);
		free(p);
		pthread_mutex_unlock(&mutex);
		if (i++ % 64 == 0) {
			int n = 0;
			void *handle = dlopen(library, RTLD_NOW);
			dl_iterate_phdr(count, &n);
			if (handle)
				dlclose(handle);
		}
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
		start = start < 0 ? now : start;
	} while (now < start + 0.7);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char *library = argc > 1 ? argv[1] : (char *)(uintptr_t)"libm.so.6";
	/* prove that the check can fail: a handler that blocks everything and allocates */
	if (argc > 2) {
		check("nothing");
		sigset_t all;
		sigfillset(&all);
		uint64_t bits = ~UINT64_C(0);
		syscall(SYS_rt_sigprocmask, SIG_BLOCK, &bits, NULL, sizeof bits);
		void *volatile p = malloc(10); /* volatile: or the compiler leaves both out */
		free(p);
		return 0;
	}
	if (pthread_create(&thread, NULL, work, library) != 0)
		return 1;
	work(library);
	pthread_join(thread, NULL);
	printf("%s\n", n_calls > 1000 ? "many calls" : "few calls");
	return 0;
}
