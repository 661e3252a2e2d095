/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a walk costs: nanoseconds a walk and a frame at 25 and 170 frames in a signal handler, warm;
 * with the previous path reused, after a change of the 8 innermost frames, and without reuse;
 * beside libunwind's unw_backtrace and unw_step in the same run. Each figure is the median of many
 * rounds. The next lines are the cost of a whole signal with an empty handler and with a walk in
 * it. The last line is what it costs to find the object of a pc: by glibc's function, and by our
 * table.
 */
#include "config.h"
#define UNW_LOCAL_ONLY
#include "hpcrun-lite/unwind/internal.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_UNWIND
#include <libunwind.h>
static int (*lib_backtrace)(void **, int);
static int (*lib_init)(unw_cursor_t *, unw_context_t *, int);
static int (*lib_step)(unw_cursor_t *);
#endif

enum { ROUNDS = 301, WALKS = 20, MAX_DEPTH = 1024, STACK_BYTES = 8 << 20 };

static struct unwind_thread *thread;
static struct unwind_stack stack;
static struct unwind_path path;
static const char *what;
static volatile unsigned sink;
static double figures[ROUNDS];
static unsigned n_figures;

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* One walk of the kind that is measured. */
static void walk_once(ucontext_t *context)
{
	if (strcmp(what, "unwind") == 0 || strcmp(what, "unwind, no reuse") == 0)
		unwind_walk(thread, context, &path);
#ifdef HAVE_UNWIND
	else if (strcmp(what, "unw_backtrace") == 0) {
		void *pcs[MAX_DEPTH];
		sink = (unsigned)lib_backtrace(pcs, MAX_DEPTH);
	} else if (strcmp(what, "unw_step") == 0) {
		unw_cursor_t cursor;
		unsigned n = 1;
		lib_init(&cursor, context, UNW_INIT_SIGNAL_FRAME);
		while (lib_step(&cursor) > 0)
			n++;
		sink = n;
	}
#endif
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	const int fresh = strcmp(what, "unwind, no reuse") == 0;
	walk_once(context);
	double sum = 0;
	for (unsigned i = 0; i < WALKS; i++) {
		if (fresh)
			thread->n_records = 0; /* no previous path; the recipes stay */
		const double start = now_ns();
		walk_once(context);
		sum += now_ns() - start;
	}
	figures[n_figures++] = sum / WALKS;
}

/* Many different call sites, so that a path is not one recipe over and over. */
#define CALL(k) \
	case k: sink = recurse(n - 1, seed * 5 + k) + k; break;
__attribute__((noinline)) static unsigned recurse(unsigned n, unsigned seed)
{
	unsigned v[4] = {seed, n, seed ^ n, 1};
	sink = v[seed % 4];
	if (n == 0) {
		raise(SIGUSR1);
		return 1;
	}
	switch (seed % 8) {
		CALL(0)
		CALL(1) CALL(2) CALL(3) CALL(4) CALL(5) CALL(6) default
		    : sink = recurse(n - 1, seed + 3) ^ sink;
	}
	return v[sink % 4];
}

static double clock_cost(void)
{
	double best = 1e9;
	for (unsigned i = 0; i < 1000; i++) {
		const double start = now_ns(), d = now_ns() - start;
		best = d < best ? d : best;
	}
	return best;
}

static double median(void)
{
	qsort(figures, n_figures, sizeof *figures, compare);
	return figures[n_figures / 2];
}

static void measure(const char *kind, unsigned depth)
{
	what = kind;
	n_figures = 0;
	for (unsigned i = 0; i < ROUNDS; i++)
		recurse(depth, 1);
	const double clock = clock_cost(), ns = median() - clock;
	printf("%-20s %4u frames: %8.0f ns a walk, %6.2f ns a frame (spread %.0f..%.0f)\n", kind,
	       path.n, ns, ns / path.n, figures[n_figures / 10] - clock,
	       figures[n_figures * 9 / 10] - clock);
}

/* The 8 innermost frames differ from walk to walk. */
static void on_signal_once(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	if (*what) {
		const double start = now_ns();
		unwind_walk(thread, context, &path);
		figures[n_figures++] = now_ns() - start;
	}
}

__attribute__((noinline)) static unsigned outer(unsigned n)
{
	if (n > 0) {
		sink = outer(n - 1) + 1;
		return sink;
	}
	for (unsigned i = 0; i < ROUNDS; i++)
		sink = recurse(8, i);
	return 1;
}

static double signal_ns(const char *kind, unsigned depth)
{
	what = kind;
	n_figures = 0;
	const double start = now_ns();
	outer(depth);
	return (now_ns() - start) / ROUNDS;
}

static uintptr_t stack_top(void)
{
	char line[512];
	unsigned long lo, hi = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof line, maps))
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &lo, &hi) == 2)
			break;
	if (maps)
		fclose(maps);
	return hi;
}

static void compare_depth(unsigned depth)
{
	sigaction(SIGUSR1, &(struct sigaction){.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO},
		  NULL);
	measure("unwind", depth);
	measure("unwind, no reuse", depth);
#ifdef HAVE_UNWIND
	if (lib_step) {
		measure("unw_backtrace", depth);
		measure("unw_step", depth);
	}
#endif
	sigaction(SIGUSR1,
		  &(struct sigaction){.sa_sigaction = on_signal_once, .sa_flags = SA_SIGINFO},
		  NULL);
	signal_ns("walk", depth);
	const double empty = signal_ns("", depth), with = signal_ns("walk", depth);
	printf("%-20s %4u frames: %8.0f ns a walk; signal with an empty handler %.0f ns, with a "
	       "walk %.0f ns\n",
	       "8 new frames", path.n, median() - clock_cost(), empty, with);
}

/* ---- the object of a pc ---- */

typedef int find_fn(void *, struct dl_find_object *);
enum { PLACES_MOST = 256 };
static void *place[PLACES_MOST];
static unsigned n_places;

static int add_place(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	if (n_places < PLACES_MOST && info->dlpi_addr)
		place[n_places++] = (void *)info->dlpi_phdr;
	return 0;
}

static double find_ns(find_fn *find)
{
	enum { FINDS = 1000 };
	n_figures = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct dl_find_object found;
		const double start = now_ns();
		for (unsigned k = 0; k < FINDS; k++)
			sink += (unsigned)find(place[k * 7 % n_places], &found);
		figures[n_figures++] = (now_ns() - start) / FINDS;
	}
	return median();
}

static void compare_finds(void)
{
	find_fn *of_libc;
	*(void **)&of_libc = dlsym(RTLD_DEFAULT, "_dl_find_object");
	dl_iterate_phdr(add_place, NULL);
	const double ours = find_ns(find_object_in_table);
	printf("object of a pc       %4u objects: %6.1f ns by our table", n_places, ours);
	if (of_libc) {
		const double theirs = find_ns(of_libc);
		printf(", %.1f ns by glibc's function: %.1f times", theirs, ours / theirs);
	}
	printf("\n");
}

int main(void)
{
	stack.hi = stack_top();
	stack.lo = stack.hi - STACK_BYTES;
	stack.grows = true;
	unwind_init(&(struct unwind_config){0});
	thread = unwind_thread_init(calloc(1, unwind_thread_bytes(MAX_DEPTH)), MAX_DEPTH, &stack);
#ifdef HAVE_UNWIND
	void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	if (library) {
		*(void **)&lib_backtrace = dlsym(library, "unw_backtrace");
		*(void **)&lib_init = dlsym(library, "_ULx86_64_init_local2");
		*(void **)&lib_step = dlsym(library, "_ULx86_64_step");
	}
#endif
	compare_depth(14);
	compare_depth(159);
	compare_finds();
	return 0;
}
