/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops with their truth, for tests/cli/struct/struct_loops.sh. The line of each loop says, behind an at sign:
 *
 *	FUNCTION LOOP PARENT [vanishes] [body]
 *
 * the function it is written in, its name, the loop around it in the same function ("-": none); whether an optimiser may leave nothing of it; and whether an optimiser is known to give
 * its branch the line of the body, the next one. The line is that of the condition. Not a program: it is compiled and never run.
 */
#include <stdio.h>
#include <stdlib.h>

int cond(int);
void use(int);
void fatal(const char *) __attribute__((noreturn));

#include "at_end.h"

void plain(int n)
{
	for (int i = 0; i < n; i++) /* @ plain for - */
		use(i);
	int k = n;
	while (cond(k)) /* @ plain while - */
		k = k * 3 + 1;
	do {
		use(k);
		k--;
	} while (cond(k)); /* @ plain do - */
}

void nested(int n)
{
	for (int i = 0; i < n; i++) { /* @ nested outer - */
		for (int j = 0; j < i; j++) { /* @ nested middle outer */
			int k = j;
			while (cond(k)) /* @ nested inner middle */
				k += 2;
			use(k);
		}
		for (int j = i; j < n; j += 3) /* @ nested second outer */
			use(j);
	}
}

/* Ways out of the middle, and back to the top. */
int jumps(const int *a, int n)
{
	for (int i = 0; i < n; i++) { /* @ jumps outer - */
		if (a[i] == 7)
			continue;
		if (a[i] == 9)
			break;
		for (int j = 0; j < n; j++) { /* @ jumps inner outer */
			if (cond(j))
				goto out;
			if (a[j] == 3)
				continue;
			if (cond(a[j]))
				return j;
			use(j);
		}
		use(i);
	}
out:
	return n;
}

/* A switch statement big enough for a jump table, in a loop and behind one. */
int switches(const int *a, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) { /* @ switches loop - */
		switch (a[i]) {
		case 0: use(s); break;
		case 1: use(s + i); break;
		case 2: s ^= cond(1); break;
		case 3: s *= cond(s); break;
		case 4: use(i); continue;
		case 5: return s;
		case 6:
			while (cond(s)) /* @ switches case loop */
				s++;
			break;
		case 7: s /= cond(5); break;
		case 8: use(8); break;
		default: use(-1);
		}
		use(-2);
	}
	switch (n) {
	case 10: return cond(s);
	case 11: use(s); break;
	case 12: s ^= cond(2); break;
	case 13: use(13); use(s); break;
	case 14: s -= cond(14); break;
	case 15: use(15); break;
	case 16: use(16); return 0;
	default: s += cond(17);
	}
	return s;
}

/* The loop of the function that is inlined lies in the loop around the call. */
static inline __attribute__((always_inline)) int inlined(const int *a, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) /* @ inlined loop - */
		if (cond(a[i]))
			s++;
	return s;
}

static inline __attribute__((always_inline)) int pick(const int *a, int i)
{
	return cond(a[i]) ? a[i + 1] : a[i + 2];
}

int inlines(const int *a, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) /* @ inlines outer - */
		s += inlined(a + i, n - i);
	use(s);
	for (int i = 0; i < n; i++) /* @ inlines whole - */
		s ^= pick(a, i);
	s += inlined(a, s);
	return s;
}

/* The condition itself is inlined, from another file. */
void condition(const int *a)
{
	for (int i = 0; !at_end(a, i); i++) /* @ condition loop - */
		use(a[i]);
}

/* Calls that never come back, in the middle and at the end of the code of a loop. */
void checks(const int *a, int n)
{
	for (int i = 0; i < n; i++) { /* @ checks loop - */
		if (a[i] == 1)
			abort();
		if (a[i] == 2)
			exit(cond(1));
		if (a[i] == 3)
			fatal("three");
		use(i);
	}
	if (n == 4)
		fatal("four");
	for (int i = 0; i < n; i++) /* @ checks second - */
		use(a[i]);
}

void fatal(const char *text)
{
	fprintf(stderr, "%s\n", text);
	exit(1);
}

/* Loops without a loop statement. */
int gotos(int n)
{
again:
	use(n);
	if (cond(n--)) /* @ gotos back - */
		goto again;
	return n;
}

/* Two ways into one loop. */
void irreducible(int n)
{
	if (cond(n))
		goto inside;
	while (cond(n + 1)) { /* @ irreducible twice_entered - */
		use(n);
inside:
		use(n + 2);
		n++;
	}
}

/* What optimisers split, unroll, or do away with. */
void arrays(double *restrict a, const double *restrict b, int n)
{
	for (int i = 0; i < n; i++) /* @ arrays copies - */
		a[i] = b[i] * 2.5 + a[i];
	for (int i = 0; i < 4; i++) /* @ arrays unrolled - vanishes */
		a[i] += b[3 - i];
	for (int i = 0; i < n; i++) /* @ arrays set - vanishes */
		a[i] = 0;
}

void matrix(double *restrict c, const double *restrict a, const double *restrict b, int n)
{
	for (int i = 0; i < n; i++) /* @ matrix i - */
		for (int k = 0; k < n; k++) /* @ matrix k i */
			for (int j = 0; j < n; j++) /* @ matrix j k body */
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}

/* Recursion is no loop, a conditional no way back. */
int recursion(int n)
{
	if (n < 2)
		return cond(n);
	return recursion(n - 1) + recursion(n - 2) * cond(n);
}
