/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocates known amounts in functions of known names, by all functions of libc. Most is live after
 * the last of them but grow(). Prints for each function: name, calls, bytes, bytes live at the
 * peak, bytes never freed, bytes that were freed at once. argv[1] "kill": ends by SIGKILL at the
 * peak; "fork": a child allocates, too; "exec": runs itself again. Exits with status 7.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))
enum { HOLD = 300, PASS = 100, ZERO = 50, ALIGN = 20, DUPLICATE = 40, CHURN = 10000 };
#define MIB ((size_t)1 << 20)

static void *volatile held[HOLD], *volatile passed[PASS], *volatile zeroed[ZERO];
static void *volatile aligned[4 * ALIGN], *volatile copies[DUPLICATE], *mapped[3];

static APART void hold(void)
{
	for (int i = 0; i < HOLD; i++)
		held[i] = malloc(100000);
}

static APART void *pass(void *nothing)
{
	for (int i = 0; i < PASS; i++)
		passed[i] = malloc(2000);
	return nothing;
}

static APART void zero(void)
{
	for (int i = 0; i < ZERO; i++)
		zeroed[i] = calloc(10, 1000);
}

static APART void align(void)
{
	for (int i = 0; i < ALIGN; i++) {
		void *at;
		if (posix_memalign(&at, 128, 5000) != 0)
			abort();
		aligned[4 * i] = at;
		aligned[4 * i + 1] = aligned_alloc(256, 5120);
		aligned[4 * i + 2] = memalign(64, 3000);
		aligned[4 * i + 3] = valloc(7000);
	}
}

/* libc itself calls malloc; the path goes on to this function. */
static APART void duplicate(void)
{
	char text[3000];
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	for (int i = 0; i < DUPLICATE; i++)
		copies[i] = strdup(text);
}

static APART void map(void)
{
	for (int i = 0; i < 3; i++)
		mapped[i] =
			mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* no memory: a reservation */
	if (mmap(NULL, 64 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		abort();
}

static APART void grow(void)
{
	char *at = NULL;
	for (size_t n = 1000; n <= 512000; n *= 2)
		at = realloc(at, n);
	errno = 0;
	if (realloc(at, (size_t)-1 / 4) || errno != ENOMEM)
		abort();
	free(at);
}

static APART void churn(void)
{
	for (int i = 0; i < CHURN; i++) {
		void *volatile at = malloc(100);
		free(at);
	}
}

static APART void in_child(void)
{
	for (int i = 0; i < 50; i++)
		passed[i] = malloc(40000);
}

static void *release(void *nothing)
{
	for (int i = 0; i < HOLD; i++)
		free(held[i]);
	for (int i = 0; i < PASS; i++)
		free(passed[i]);
	for (int i = 0; i < DUPLICATE; i++)
		free(copies[i]);
	malloc_trim(0);
	mapped[1] = mremap(mapped[1], MIB, 2 * MIB, MREMAP_MAYMOVE);
	if (munmap(mapped[0], MIB) != 0 || munmap(mapped[1], 2 * MIB) != 0)
		abort();
	return nothing;
}

static void in_thread(void *(*what)(void *))
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, what, NULL) != 0 || pthread_join(thread, NULL) != 0)
		abort();
}

static void truth(const char *name, long calls, long bytes, long peak, long end, long temporary)
{
	printf("%s %ld %ld %ld %ld %ld\n", name, calls, bytes, peak, end, temporary);
}

static void tell(void)
{
	const long each = 5000 + 5120 + 3000 + 7000;
	truth("hold", HOLD, HOLD * 100000L, HOLD * 100000L, 0, 0);
	truth("pass", PASS, PASS * 2000L, PASS * 2000L, 0, 0);
	truth("zero", ZERO, ZERO * 10000L, ZERO * 10000L, ZERO * 10000L, 0);
	truth("align", 4 * ALIGN, ALIGN * each, ALIGN * each, ALIGN * each, 0);
	truth("duplicate", DUPLICATE, DUPLICATE * 3000L, DUPLICATE * 3000L, 0, 0);
	truth("map", 3, 3 * (long)MIB, 3 * (long)MIB, (long)MIB, 0);
	/* the last is not freed at once: a larger one was asked for in vain */
	truth("grow", 10, 1023000, 0, 0, 511000);
	truth("churn", CHURN, CHURN * 100L, 0, 0, CHURN * 100L);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	setvbuf(stdout, NULL, _IONBF, 0);
	tell();
	if (!strcmp(what, "exec"))
		execl(argv[0], argv[0], (char *)NULL);
	hold();
	in_thread(pass);
	zero();
	align();
	duplicate();
	map();
	if (!strcmp(what, "kill"))
		raise(SIGKILL);
	if (!strcmp(what, "fork") && fork() == 0) {
		in_child();
		in_thread(release);
		_exit(9);
	}
	in_thread(release);
	grow();
	churn();
	while (wait(NULL) > 0)
		continue;
	return 7;
}
