/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of <string.h> that our libraries use inside the measured process, under their own
 * names but hidden. libc's functions can be replaced: the versions of ThreadSanitizer,
 * AddressSanitizer and some allocators take locks or look at memory of their own. A signal handler
 * must not do that. Only linked into libraries. Loops have a barrier; without it the compiler would
 * turn a loop into a call of the function that contains it. Test:
 * tests/unit/common/test_safe_string.c.
 */
#include "common/safe/sys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BARRIER() __asm__ volatile("" ::: "memory")

typedef uint64_t __attribute__((may_alias, aligned(1))) word8;
typedef uint32_t __attribute__((may_alias, aligned(1))) word4;
typedef uint16_t __attribute__((may_alias, aligned(1))) word2;
typedef long long __attribute__((vector_size(16), may_alias, aligned(1))) word16;

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
void *memmem(const void *s, size_t n, const void *what, size_t n_what);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t n);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *what);
size_t strspn(const char *s, const char *set);
size_t strcspn(const char *s, const char *set);
char *strcpy(char *restrict to, const char *restrict from);
char *stpcpy(char *restrict to, const char *restrict from);

/* ---- memory ---- */

/* Both halves are read before either is written, so the two may overlap. */
#define MOVE_ENDS(type)                                                     \
	do {                                                                \
		const type head = *(const type *)from,                      \
			   tail = *(const type *)(from + n - sizeof(type)); \
		*(type *)to = head;                                         \
		*(type *)(to + n - sizeof(type)) = tail;                    \
	} while (0)

static inline void move_few(uint8_t *to, const uint8_t *from, size_t n)
{
	if (n > 16)
		MOVE_ENDS(word16);
	else if (n >= 8)
		MOVE_ENDS(word8);
	else if (n >= 4)
		MOVE_ENDS(word4);
	else if (n >= 2)
		MOVE_ENDS(word2);
	else if (n)
		*to = *from;
}

/* Moves more than 32 bytes, upwards. Reads the tail first. */
static void move_up(uint8_t *to, const uint8_t *from, size_t n)
{
	const word16 tail = *(const word16 *)(from + n - 16);
	uint8_t *const last = to + n - 16;
	for (; to < last; to += 16, from += 16) {
		*(word16 *)to = *(const word16 *)from;
		BARRIER();
	}
	*(word16 *)last = tail;
}

static void move_down(uint8_t *to, const uint8_t *from, size_t n)
{
	const word16 head = *(const word16 *)from;
	for (; n > 16; n -= 16) {
		*(word16 *)(to + n - 16) = *(const word16 *)(from + n - 16);
		BARRIER();
	}
	*(word16 *)to = head;
}

void *memmove(void *to, const void *from, size_t n)
{
	if (n <= 32)
		move_few(to, from, n);
	else if ((uintptr_t)to - (uintptr_t)from >= n)
		move_up(to, from, n);
	else
		move_down(to, from, n);
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	if (n <= 32)
		move_few(to, from, n);
	else
		move_up(to, from, n);
	return to;
}

void *memset(void *to, int c, size_t n)
{
	machine_fill(to, c, n);
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *p = a, *q = b;
	for (; n >= 8 && *(const word8 *)p == *(const word8 *)q; p += 8, q += 8, n -= 8)
		BARRIER();
	for (; n && *p == *q; p++, q++, n--)
		BARRIER();
	return n ? *p - *q : 0;
}

void *memchr(const void *s, int c, size_t n)
{
	const uint8_t *p = s;
	for (; n; p++, n--) {
		if (*p == (uint8_t)c)
			return (void *)(uintptr_t)p;
		BARRIER();
	}
	return NULL;
}

void *memmem(const void *s, size_t n, const void *what, size_t n_what)
{
	const uint8_t *p = s;
	for (; n >= n_what; p++, n--)
		if (memcmp(p, what, n_what) == 0)
			return (void *)(uintptr_t)p;
	return NULL;
}

/* ---- strings ---- */

static bool has_zero(uint64_t word)
{
	return (word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080);
}

/* Reads aligned words, which are never on two pages: names of kernels have hundreds of bytes. */
size_t strnlen(const char *s, size_t n)
{
	size_t i = 0;
	for (; i < n && (uintptr_t)(s + i) % sizeof(word8); i++) {
		if (!s[i])
			return i;
		BARRIER();
	}
	while (n - i >= sizeof(word8) && !has_zero(*(const word8 *)(s + i)))
		i += sizeof(word8);
	for (; i < n && s[i]; i++)
		BARRIER();
	return i;
}

size_t strlen(const char *s)
{
	return strnlen(s, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n && *a == *b; a++, b++, n--) {
		if (!*a)
			return 0;
		BARRIER();
	}
	return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++) {
		if (!*s)
			return NULL;
		BARRIER();
	}
	return (char *)(uintptr_t)s;
}

char *strrchr(const char *s, int c)
{
	const char *found = NULL;
	for (;; s++) {
		if (*s == (char)c)
			found = s;
		if (!*s)
			return (char *)(uintptr_t)found;
		BARRIER();
	}
}

char *strstr(const char *s, const char *what)
{
	return memmem(s, strlen(s), what, strlen(what));
}

static size_t span(const char *s, const char *set, int wanted)
{
	size_t i = 0;
	for (; s[i] && (strchr(set, s[i]) != NULL) == wanted; i++)
		BARRIER();
	return i;
}

size_t strspn(const char *s, const char *set)
{
	return span(s, set, 1);
}

size_t strcspn(const char *s, const char *set)
{
	return span(s, set, 0);
}

char *stpcpy(char *restrict to, const char *restrict from)
{
	const size_t n = strlen(from);
	memcpy(to, from, n + 1);
	return to + n;
}

char *strcpy(char *restrict to, const char *restrict from)
{
	stpcpy(to, from);
	return to;
}
