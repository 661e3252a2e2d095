/* SPDX-License-Identifier: BSD-3-Clause */
/* Source of golden structures: nested inlining, a cold part, clones, aliases, an IFUNC, PLT stubs, recursion, a nested block. No library is needed. */
extern void report(const char *text, int value);

static __attribute__((noinline, cold)) void complain(const char *text, int value)
{
	report(text, value);
}

static inline __attribute__((always_inline)) int square(int x)
{
	return x * x;
}

static inline __attribute__((always_inline)) int sum_of_squares(const int *v, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += square(v[i]);
	return sum;
}

/* -O2 moves the unlikely branch away: checked.cold */
__attribute__((noinline)) int checked(const int *v, int n)
{
	if (__builtin_expect(n > 1000, 0)) {
		complain("too many", n);
		__builtin_trap();
	}
	int s = sum_of_squares(v, n);
	return s + square(s);
}

/* one argument is always the same, and unused ones go: clones */
static __attribute__((noinline)) int scale(const int *v, int n, int factor, int unused)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += v[i] * factor;
	report("scaled", s);
	(void)unused;
	return s;
}

int twice(const int *v, int n)
{
	return scale(v, n, 2, 1) + scale(v + 1, n - 1, 2, 3);
}

int fold(int n)
{
	return n < 2 ? n : fold(n - 1) + fold(n - 2);
}
int folded(int) __attribute__((alias("fold")));
int weak_fold(int) __attribute__((weak, alias("fold")));

static int add_one(int x)
{
	return x + 1;
}
static int (*choose(void))(int)
{
	return add_one;
}
int increment(int) __attribute__((ifunc("choose")));

int all(const int *v, int n)
{
	int r = checked(v, n) + twice(v, n);
	for (int i = 0; i < n; i++) {
		int local = square(i);
		r += increment(local) + folded(local & 7);
	}
	return r;
}
