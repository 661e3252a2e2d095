/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stack full of what libc left there, below code that shows where it was called from by a frame
 * pointer at most: built without unwind tables (and with -fomit-frame-pointer, or
 * -fno-omit-frame-pointer). Usage: unwind_stale SECONDS. tests/cli/unwind/unwind_languages.sh looks
 * at its paths.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile unsigned sink;

static int compare(const void *a, const void *b)
{
	return *(const int *)a < *(const int *)b ? -1 : 1;
}

/* Return addresses into libc come to lie where the frames of stale_burn() will be: of calls through
 * pointers, which could have led anywhere. */
__attribute__((noinline)) void stale_fill(void)
{
	static int numbers[64];
	static char text[256];
	for (int i = 0; i < 64; i++)
		numbers[i] = i * 37 % 64;
	qsort(numbers, 64, sizeof *numbers, compare);
	FILE *f = fmemopen(text, sizeof text, "w");
	setvbuf(f, NULL, _IONBF, 0);
	fprintf(f, "%d %s %f\n", numbers[3], "stale", 1.5);
	fclose(f);
}

__attribute__((noinline)) unsigned stale_burn(unsigned n)
{
	char room[600];
	__asm__ volatile("" : : "r"(room) : "memory"); /* never written */
	for (unsigned i = 0; i < 200000; i++)
		n = n * 1664525 + 1013904223;
	return n;
}

__attribute__((noinline)) void stale_outer(unsigned (*f)(unsigned))
{
	sink = f(sink) + 1;
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 0.5;
	while ((double)clock() / CLOCKS_PER_SEC < seconds) {
		stale_fill();
		stale_outer(stale_burn);
	}
	return 0;
}
